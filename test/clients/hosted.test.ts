// CopilotKit's React chat with an agent that is a coding agent's own program. The person at the page is its operator.

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type HostedApp, openGate, openHostedApp, type Run } from '../e2e/hosted-app.ts'
import { type BuiltExample, buildExample } from './built-example.ts'
import { type ChatPage, connectBrowser, openCopilotKit } from './chat-page.ts'

/** Generous: a busy machine must not fail a test. */
const soon = { timeout: 60_000 }

let browser: Browser
let built: BuiltExample

beforeAll(async () => {
  browser = await connectBrowser()
  built = await buildExample('copilotkit')
}, 120_000)

afterAll(async () => {
  await browser.close()
  await built[Symbol.asyncDispose]()
})

async function openChat(query: Record<string, string>): Promise<{ house: HostedApp; chat: ChatPage }> {
  const house = await openHostedApp()
  onTestFinished(() => house[Symbol.asyncDispose]())
  const token = house.asOperator.Authorization.replace('Bearer ', '')
  const chat = await openCopilotKit(browser, { at: built.url, server: house.url, token, query })
  onTestFinished(() => chat.page.context().close())
  return { house, chat }
}

const approve = async ({ approval }: ChatPage, words: RegExp): Promise<void> => {
  await approval.filter({ hasText: words }).getByRole('button', { name: 'Approve' }).click()
}

const ways: [string, Record<string, string>][] = [
  ['/copilotkit as its runtime', {}],
  ['an HttpAgent', { direct: '' }],
]

describe.each(ways)('CopilotKit with %s', (_, query) => {
  test('shows what a hosted agent says while it works, and all of it once after a reload in the middle', async () => {
    await using gate = await openGate()
    const { chat } = await openChat(query)
    const message = `say Let me see. \n${gate.line}\nsay  Done.`

    await chat.say(message)
    await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'Let me see.'])
    await chat.page.reload()
    await expect
      .poll(() => chat.said(), soon)
      .toEqual([
        ['user', message],
        ['assistant', 'Let me see.'],
      ])
    await gate.open('a ship')

    const now = [
      ['user', message],
      ['assistant', 'Let me see. exit 0: a ship Done.'],
    ]
    await expect.poll(() => chat.said(), soon).toEqual(now)
    await chat.page.reload()
    await expect.poll(() => chat.said(), soon).toEqual(now)
  })

  test('lets its operator approve a call and then the changes, which are on the disk', async () => {
    const { house, chat } = await openChat(query)

    await chat.say('say I ask.\nask-run echo once >> made.txt\nsay I did.')
    await approve(chat, /echo once >> made\.txt/)
    await approve(chat, /made\.txt \+1/)

    await expect.poll(() => house.read('made.txt'), soon).toBe('once\n')
    await expect.poll(() => chat.approval.count(), soon).toBe(0)
    const texts = async () => (await chat.said()).flatMap(([role, text]) => (role === 'assistant' ? [text] : []))
    await expect.poll(texts, soon).toEqual(['I ask.', 'I did.'])
    expect((await house.rested('talk')).status).toBe('completed')
  })
})

// With an HttpAgent the page only closes its connection, and the work of a hosted agent goes on.
test('the stop button of CopilotKit stops a hosted agent, and the next message is answered', async () => {
  const { house, chat } = await openChat({})
  await chat.say('say Once upon a time\nhang')
  await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'Once upon a time'])

  await chat.stop()
  await chat.say('say Good day.')

  await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'Good day.'])
  expect((await house.rested('talk')).status).toBe('completed')
  const { runs } = await house.request<{ runs: Run[] }>('GET', '/sessions/talk/runs')
  expect(runs.map(({ status }) => status).sort()).toEqual(['cancelled', 'completed'])
})
