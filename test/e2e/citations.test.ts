// An answer that cites, at every door. The real clients decide whether they can read it.

import { HttpAgent as HttpAgent1 } from '@ag-ui/client'
import { HttpAgent as HttpAgent0 } from '@ag-ui/client-0'
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { createFakeHandbook, handbookPassage } from '../../src/tools/testing/fake-handbook.ts'
import { type AnyDoor, agUiInput, allDoors, framesOf } from './doors.ts'
import { startScriptedApp } from './scripted-app.ts'

const weeks = handbookPassage('weeks', 'Fourteen weeks.')
const answers = [
  { when: { tool: 'handbook' }, parts: [{ text: 'Fourteen weeks ' }, { text: '[1], not [7].' }] },
  { when: { user: 'leave' }, parts: [{ tool_call: { name: 'handbook', arguments: { query: 'weeks' } } }] },
  { when: { user: 'hello' }, parts: [{ text: 'Good day.' }] },
]
const source = {
  ...{ id: 'weeks', number: 1, file: 'leave.md', line: 3, heading: 'Leave > Parental leave', text: 'Fourteen weeks.' },
}
const wire = { sources: [source], citations_not_found: [7] }

async function open() {
  const app = await startScriptedApp(answers, createFakeHandbook([weeks]).tools)
  const json = { 'Content-Type': 'application/json' }
  const post = (path: string, body: unknown, headers = {}) =>
    fetch(`${app.url}${path}`, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) })
  const get = (path: string, headers = {}) => fetch(`${app.url}${path}`, { headers })
  return { ...app, post, get }
}

type App = Awaited<ReturnType<typeof open>>

/** All that a door sends for an answer. */
async function sent(app: App, door: AnyDoor, message: string): Promise<string> {
  const response = await door.send(app, { session: null, message })
  if (!('endOf' in door)) return response.text()
  const frames: string[] = []
  for await (const { event, data } of framesOf(response)) frames.push(`${event} ${data}`)
  return frames.join('\n')
}

class BinaryAgent1 extends HttpAgent1 {
  override requestInit(input: Parameters<HttpAgent1['requestInit']>[0]): RequestInit {
    const init = super.requestInit(input)
    return { ...init, headers: { ...init.headers, Accept: 'application/vnd.ag-ui.event+proto' } }
  }
}

interface Body {
  session_id?: string
  thread_id?: string
  message?: { metadata: object }
  messages?: object[]
  message_history?: { metadata: object }[]
  runs?: { run_id: string }[]
}

const read = async (response: Response): Promise<Body> => Object(await response.json())

describe('at each door', () => {
  test('an answer shows what it cites, and another one is as it always was', async () => {
    await using app = await open()
    for (const door of allDoors) {
      const text = await sent(app, door, 'leave')
      // The responses of OpenAI have room for the file, but not for its text.
      const isResponse = door.name.startsWith('POST /v1/responses')
      const shows = text.includes(isResponse ? '"type":"file_citation"' : JSON.stringify(source))
      const plain = await sent(app, door, 'hello')
      expect([door.name, shows, /source|citation/i.test(plain)]).toEqual([door.name, true, false])
    }
  })

  test('the routes of agents, chats and threads have it where the answer is', async () => {
    await using app = await open()
    const ask = async (path: string, body: object) => read(await app.post(path, body))
    const seen = async (path: string) => read(await app.get(path))
    expect(await ask('/agent/tester/chat', { message: 'leave' })).toMatchObject(wire)
    const chat = await ask('/chat', { message: 'leave', user_id: 'local_user' })
    expect(chat).toMatchObject(wire)
    const thread = await ask('/chat', { message: 'leave', stream: false })
    expect(thread.message?.metadata).toEqual(wire)

    const session = `/sessions/${chat.session_id}`
    expect((await seen(session)).messages?.at(-1)).toMatchObject(wire)
    const history = await seen(`/threads/${thread.thread_id}`)
    expect(history.message_history?.at(-1)?.metadata).toEqual(wire)
    const [run] = (await seen(`${session}/runs`)).runs ?? []
    expect(await seen(`/runs/${run?.run_id}`)).toMatchObject(wire)
    const markdown = await (await app.get(`${session}/export?format=markdown`)).text()
    expect(markdown).toContain('- \\[1\\] leave.md, Leave &gt; Parental leave')
  })

  test('a replay is what was sent live, byte for byte', async () => {
    await using app = await open()
    const live = await (await app.post('/', agUiInput({ session: 'talk', message: 'leave', id: 'r' }))).text()
    const [run] = (await read(await app.get('/sessions/talk/runs'))).runs ?? []
    expect(await (await app.get(`/runs/${run?.run_id}/events`)).text()).toBe(live)
    expect(live).toContain('"activityType":"SOURCES"')
  })
})

describe('the client of', () => {
  const connect = ({ url }: App) =>
    new OpenAI({
      ...{ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 },
      fetch: (to, init) => {
        const headers = new Headers(init?.headers)
        headers.delete('Authorization')
        return fetch(to, { ...init, headers })
      },
    })
  const annotation = { type: 'file_citation', file_id: 'weeks', filename: 'leave.md', index: 15 }

  test('OpenAI reads annotations of responses, whole, streamed and later', async () => {
    await using app = await open()
    const client = connect(app)
    const asked = { model: 'tester', input: 'leave' }
    const whole = await client.responses.create(asked)
    const stream = client.responses.stream(asked)
    const added: unknown[] = []
    stream.on('event', (event) => {
      if (event.type === 'response.output_text.annotation.added') added.push(event.annotation)
    })
    const streamed = await stream.finalResponse()
    const later = await client.responses.retrieve(whole.id)
    const annotations = [whole, streamed, later].map(({ output }) =>
      output.flatMap((item) =>
        item.type === 'message'
          ? item.content.flatMap((part) => (part.type === 'output_text' ? part.annotations : []))
          : [],
      ),
    )
    expect(annotations).toEqual([[annotation], [annotation], [annotation]])
    expect(added).toEqual([annotation])
    expect(streamed.output_text.slice(annotation.index)).toBe('[1], not [7].')
  })

  test('OpenAI keeps the sources of a completion', async () => {
    await using app = await open()
    const client = connect(app)
    const asked = { model: 'tester', messages: [{ role: 'user' as const, content: 'leave' }] }
    expect(await client.chat.completions.create(asked)).toMatchObject(wire)
    expect(await client.chat.completions.stream(asked).finalChatCompletion()).toMatchObject(wire)
  })

  test('the AI SDK makes parts of the sources', async () => {
    await using app = await open()
    const transport = new DefaultChatTransport<UIMessage>({ api: `${app.url}/ai/chat` })
    const message: UIMessage = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'leave' }] }
    const stream = await transport.sendMessages({
      ...{ chatId: 'c', messages: [message], trigger: 'submit-message', messageId: undefined, abortSignal: undefined },
    })
    let last: UIMessage | undefined
    for await (const one of readUIMessageStream({ stream })) last = one
    expect(last?.parts.filter(({ type }) => type === 'source-document')).toEqual([
      {
        type: 'source-document',
        sourceId: 'weeks',
        mediaType: 'text/markdown',
        title: 'Leave > Parental leave',
        filename: 'leave.md',
        providerMetadata: { quarterdeck: source },
      },
    ])
    expect(last?.metadata).toMatchObject({ citationsNotFound: [7] })
  })

  test.each([
    ['text', HttpAgent1],
    ['protobuf', BinaryAgent1],
  ])('AG-UI reads the activity and the metadata, live and when it comes back (%s)', async (_name, Agent) => {
    await using app = await open()
    const citations = {
      sources: [expect.objectContaining({ number: 1, id: 'weeks', text: 'Fourteen weeks.', isChanged: false })],
      notFound: [7],
    }
    const content = { sources: [source], not_found: [7] }
    const agent = new Agent({ url: app.url, threadId: 't' })
    agent.addMessage({ id: 'm', role: 'user', content: 'leave' })
    const ends: unknown[] = []
    await agent.runAgent({}, { onTextMessageEndEvent: ({ event }) => void ends.push(event.metadata) })
    expect(ends).toEqual([{ quarterdeck: { citations } }])
    expect(agent.messages.at(-1)).toMatchObject({ role: 'activity', activityType: 'SOURCES', content })

    const back = new Agent({ url: app.url, threadId: 't' })
    await back.runAgent()
    expect(back.messages.find(({ role }) => role === 'activity')).toMatchObject({ content })
    const answer = back.messages.findLast(({ role }) => role === 'assistant')
    expect(answer).toMatchObject({ content: 'Fourteen weeks [1], not [7].', metadata: { quarterdeck: { citations } } })
  })

  test('AG-UI 0.x reads the answer', async () => {
    await using app = await open()
    for (let turn = 0; turn < 2; turn += 1) {
      const agent = new HttpAgent0({ url: app.url, threadId: 't' })
      if (turn === 0) agent.addMessage({ id: 'm', role: 'user', content: 'leave' })
      await agent.runAgent()
      expect(agent.messages.findLast(({ role }) => role === 'assistant')?.content).toBe('Fourteen weeks [1], not [7].')
    }
  })
})
