// The React clients that people have, with the chats of the examples, in a real browser, against the real server. Every test does
// what a person does and looks at what stands on the page.

import { connect, createServer, type Socket } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type BuiltExample, buildExample } from './built-example.ts'
import {
  type ChatPage,
  type ChatPageOptions,
  connectBrowser,
  openAssistantUi,
  openCopilotKit,
  redDot,
} from './chat-page.ts'
import { startChatServer } from './chat-server.ts'

/** Generous: a busy machine must not fail a test. */
const soon = { timeout: 20_000 }

const WRONG_TOKEN = 'Send a token of this server, or no Authorization header.'

interface Client {
  name: string
  example: 'assistant-ui' | 'copilotkit'
  open: (browser: Browser, options: ChatPageOptions) => Promise<ChatPage>
  /** The page's own way to the server, in its address. */
  query: Record<string, string>
  /** It shows what tools say while they work. */
  showsActivities: boolean
  /** What it says of a token that is not valid. */
  refusal: string
}

const assistantUi: Client = {
  name: 'assistant-ui',
  example: 'assistant-ui',
  open: openAssistantUi,
  query: {},
  showsActivities: false,
  refusal: WRONG_TOKEN,
}
const copilotKit: Client = {
  name: 'CopilotKit with /copilotkit as its runtime',
  example: 'copilotkit',
  open: openCopilotKit,
  query: {},
  showsActivities: true,
  // It does not read what the server says at this place.
  refusal: 'Runtime info request failed with status 401',
}
const copilotKitDirect: Client = {
  ...copilotKit,
  name: 'CopilotKit with an HttpAgent',
  query: { direct: '' },
  refusal: WRONG_TOKEN,
}

let browser: Browser
const pages = new Map<Client['example'], BuiltExample>()

beforeAll(async () => {
  browser = await connectBrowser()
  for (const name of ['assistant-ui', 'copilotkit'] as const) pages.set(name, await buildExample(name))
}, 120_000)

afterAll(async () => {
  await browser.close()
  for (const page of pages.values()) await page[Symbol.asyncDispose]()
})

type Server = Awaited<ReturnType<typeof startChatServer>>

async function startServer(flags: Record<string, string> = {}): Promise<Server> {
  const server = await startChatServer(flags)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

/** A way to the server on which all connections can be cut. */
async function startWay(): Promise<{ host: string; leadTo(url: string): void; cut(): void }> {
  const sockets = new Set<Socket>()
  let port = 0
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const way = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    client.pipe(upstream).pipe(client)
  })
  await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    cut()
    way.close()
  })
  const address = way.address()
  return {
    host: `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    leadTo(url) {
      port = Number(new URL(url).port)
    },
    cut,
  }
}

async function openPage(client: Client, server: Server, options: Partial<ChatPageOptions> = {}): Promise<ChatPage> {
  const at = pages.get(client.example)?.url ?? ''
  const chat = await client.open(browser, {
    at,
    server: server.url,
    token: server.userToken,
    query: client.query,
    ...options,
  })
  onTestFinished(() => chat.page.context().close())
  return chat
}

describe.each([assistantUi, copilotKit, copilotKitDirect])('$name', (client) => {
  test('shows an answer while it is written, and the next one', async () => {
    const server = await startServer()
    const chat = await openPage(client, server)

    await chat.say('look out')
    await expect
      .poll(() => chat.said(), soon)
      .toEqual([
        ['user', 'look out'],
        ['assistant', 'Let me see.'],
      ])
    server.showShip()
    await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'I see a ship.'])
    await chat.say('hello')

    await expect
      .poll(() => chat.said(), soon)
      .toEqual([
        ['user', 'look out'],
        ['assistant', 'Let me see.'],
        ['assistant', 'I see a ship.'],
        ['user', 'hello'],
        ['assistant', 'Good day.'],
      ])
  })

  test('runs a tool of the page, and the agent goes on with its result', async () => {
    const server = await startServer()
    const chat = await openPage(client, server)

    await chat.say('paint')

    await expect
      .poll(() => chat.said(), soon)
      .toEqual([
        ['user', 'paint'],
        ['assistant', 'I have painted it.'],
      ])
    expect(await chat.page.evaluate('document.body.style.background')).toBe('teal')
    const session = await server.engine.sessions.get('local_user', 'talk')
    const stored = await server.engine.messages.page(session.id, 100)
    expect(stored.find(({ role }) => role === 'tool')).toMatchObject({ content: 'The page is teal now.' })
  })

  test('lets its user approve a call, which then runs once', async () => {
    const server = await startServer()
    const chat = await openPage(client, server)
    await chat.say('note it')
    await chat.approval.waitFor()
    expect(server.noted).toEqual([])

    await chat.approval.getByRole('button', { name: 'Approve' }).click()

    await expect
      .poll(() => chat.said(), soon)
      .toEqual([
        ['user', 'note it'],
        ['assistant', 'That is settled.'],
      ])
    expect(await chat.approval.count()).toBe(0)
    expect(server.noted).toEqual(['bob'])
  })

  test('lets its user reject a call, which then never runs', async () => {
    const server = await startServer()
    const chat = await openPage(client, server)
    await chat.say('note it')

    await chat.approval.getByRole('button', { name: 'Reject' }).click()

    await expect
      .poll(() => chat.said(), soon)
      .toEqual([
        ['user', 'note it'],
        ['assistant', 'That is settled.'],
      ])
    expect(await chat.approval.count()).toBe(0)
    expect(server.noted).toEqual([])
  })

  test('says how to decide when an answer without a token is refused, and shows the call as waiting', async () => {
    const server = await startServer()
    const chat = await openPage(client, server, { token: '' })
    await chat.say('note it')
    await chat.approval.getByRole('button', { name: 'Approve' }).click()

    await expect
      .poll(async () => (await chat.failure.allInnerTexts()).at(-1), soon)
      .toMatch(
        /Only the session's owner .*`headers` of HttpAgent or CopilotKitProvider\. `quarterdeck tokens create --role user`/,
      )
    await chat.approval.waitFor()
    expect(await chat.page.getByText('Done', { exact: true }).count()).toBe(0)
    expect(server.noted).toEqual([])

    await chat.page.getByLabel('Token').fill(server.userToken)
    await chat.page.getByRole('button', { name: 'Use this token' }).click()
    await chat.approval.getByRole('button', { name: 'Approve' }).click()
    await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'That is settled.'])
    expect(server.noted).toEqual(['bob'])
  })

  test('shows after a reload what waits to be approved, and approves it then', async () => {
    const server = await startServer()
    const chat = await openPage(client, server)
    await chat.say('hello')
    await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'Good day.'])
    await chat.say('note it')
    await chat.approval.waitFor()

    await chat.page.reload()
    await chat.approval.getByRole('button', { name: 'Approve' }).click()

    await expect
      .poll(() => chat.said(), soon)
      .toEqual([
        ['user', 'hello'],
        ['assistant', 'Good day.'],
        ['user', 'note it'],
        ['assistant', 'That is settled.'],
      ])
    expect(await chat.approval.count()).toBe(0)
    expect(server.noted).toEqual(['bob'])
  })

  test('stops an answer, and the next message is answered at once', async () => {
    const server = await startServer({ 'limits.disconnect_grace': 'never' })
    const chat = await openPage(client, server)
    await chat.say('talk on')
    await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'Once upon a time'])

    await chat.stop()
    await chat.say('hello')

    await expect
      .poll(() => chat.said(), soon)
      .toEqual([
        ['user', 'talk on'],
        ['assistant', 'Once upon a time'],
        ['user', 'hello'],
        ['assistant', 'Good day.'],
      ])
  })

  test('goes on with an answer after a reload in the middle of it', async () => {
    const server = await startServer()
    const chat = await openPage(client, server)
    await chat.say('look out')
    await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'Let me see.'])

    await chat.page.reload()
    await expect
      .poll(() => chat.said(), soon)
      .toEqual([
        ['user', 'look out'],
        ['assistant', 'Let me see.'],
      ])
    server.showShip()

    await expect
      .poll(() => chat.said(), soon)
      .toEqual([
        ['user', 'look out'],
        ['assistant', 'Let me see.'],
        ['assistant', 'I see a ship.'],
      ])
  })

  test('goes on with an answer after the connection was lost in the middle of it', async () => {
    const way = await startWay()
    const server = await startServer({ 'limits.disconnect_grace': 'never', allowed_hosts: way.host })
    way.leadTo(server.url)
    const chat = await openPage(client, server, { server: `http://${way.host}` })
    await chat.say('look out')
    await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'Let me see.'])

    way.cut()
    server.showShip()

    await expect
      .poll(() => chat.said(), soon)
      .toEqual([
        ['user', 'look out'],
        ['assistant', 'Let me see.'],
        ['assistant', 'I see a ship.'],
      ])
    await chat.say('hello')
    await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'Good day.'])
  })

  test('shows the conversation after a reload, and goes on with it', async () => {
    const server = await startServer()
    const chat = await openPage(client, server)
    server.showShip()
    await chat.say('look out')
    await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'I see a ship.'])

    await chat.page.reload()
    await expect
      .poll(() => chat.said(), soon)
      .toEqual([
        ['user', 'look out'],
        ['assistant', 'Let me see.'],
        ['assistant', 'I see a ship.'],
      ])
    await chat.say('hello')

    await expect
      .poll(async () => (await chat.said()).slice(-2), soon)
      .toEqual([
        ['user', 'hello'],
        ['assistant', 'Good day.'],
      ])
  })

  if (client.showsActivities)
    test('shows after a reload what a tool said while it worked', async () => {
      const server = await startServer()
      const chat = await openPage(client, server)
      server.showShip()
      await chat.say('look out')
      await expect.poll(() => chat.activities.allInnerTexts(), soon).toEqual(['{"side":"starboard"}'])
      await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'I see a ship.'])

      await chat.page.reload()

      await expect.poll(() => chat.activities.allInnerTexts(), soon).toEqual(['{"side":"starboard"}'])
    })

  test('shows a picture that its user sent, after a reload too', async () => {
    const server = await startServer()
    const chat = await openPage(client, server)
    await chat.attach(redDot)
    await chat.say('what is this')
    await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'A dot.'])
    expect(await chat.pictureWidth()).toBe(40)

    await chat.page.reload()

    await chat.picture.waitFor()
    await expect.poll(() => chat.pictureWidth(), soon).toBe(40)
  })

  test('says in words that the model failed, and can talk on', async () => {
    const server = await startServer()
    const chat = await openPage(client, server)

    await chat.say('fail')
    await expect.poll(() => chat.failure.allInnerTexts(), soon).toEqual(['The provider is out of order.'])
    await chat.say('hello')

    await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'Good day.'])
  })

  test('says in words why the server refused', async () => {
    const server = await startServer()
    const chat = await openPage(client, server, { token: 'wrong' })

    await expect.poll(async () => (await chat.failure.allInnerTexts()).at(-1), soon).toContain(client.refusal)
  })

  test('may send headers of its own from another origin', async () => {
    const server = await startServer()
    const addedHeaders = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'X-Tenant': 'acme' }
    const chat = await openPage(client, server, { addedHeaders })

    await chat.say('hello')

    await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'Good day.'])
  })
})

describe('assistant-ui', () => {
  test('asks anew with a message that its user has edited', async () => {
    const server = await startServer()
    const chat = await openPage(assistantUi, server)
    await chat.say('first question')
    await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'First answer.'])
    await chat.say('second question')
    await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'Second answer.'])

    await chat.page.getByRole('button', { name: 'Edit' }).last().click()
    await chat.page.getByLabel('Edited message').fill('better question')
    await chat.page.getByRole('button', { name: 'Save' }).click()

    const now = [
      ['user', 'first question'],
      ['assistant', 'First answer.'],
      ['user', 'better question'],
      ['assistant', 'Better answer.'],
    ]
    await expect.poll(() => chat.said(), soon).toEqual(now)
    const session = await server.engine.sessions.get('local_user', 'talk')
    const stored = await server.engine.messages.page(session.id, 100)
    expect(stored.map(({ role, content }) => [role, content])).toEqual(now)
    await chat.page.reload()
    await expect.poll(() => chat.said(), soon).toEqual(now)
  })

  test.each(['at once', 'after a reload'])(
    'begins anew with a first message that its user has edited %s',
    async (when) => {
      const server = await startServer()
      const chat = await openPage(assistantUi, server)
      await chat.say('first question')
      await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'First answer.'])
      await chat.say('second question')
      await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'Second answer.'])
      if (when === 'after a reload') {
        await chat.page.reload()
        await expect.poll(async () => (await chat.said()).length, soon).toBe(4)
      }

      await chat.page.getByRole('button', { name: 'Edit' }).first().click()
      await chat.page.getByLabel('Edited message').fill('better question')
      await chat.page.getByRole('button', { name: 'Save' }).click()

      const now = [
        ['user', 'better question'],
        ['assistant', 'Better answer.'],
      ]
      await expect.poll(() => chat.said(), soon).toEqual(now)
      await chat.page.reload()
      await expect.poll(() => chat.said(), soon).toEqual(now)
      await chat.say('hello')
      await expect.poll(() => chat.said(), soon).toEqual([...now, ['user', 'hello'], ['assistant', 'Good day.']])
      // What was there before the edit is not lost.
      const before = await server.engine.sessions.get('local_user', 'talk')
      expect(await server.engine.messages.page(before.id, 100)).toHaveLength(4)
    },
  )

  test('says something else instead of an answer to what waits', async () => {
    const server = await startServer()
    const chat = await openPage(assistantUi, server)
    await chat.say('note it')
    await chat.approval.waitFor()

    await chat.page.getByLabel('Something else').fill('hello')
    await chat.page.getByRole('button', { name: 'Reject, and say this instead' }).click()

    await expect
      .poll(async () => (await chat.said()).slice(-2), soon)
      .toEqual([
        ['user', 'hello'],
        ['assistant', 'Good day.'],
      ])
    expect(await chat.approval.count()).toBe(0)
    expect(server.noted).toEqual([])
  })
})
