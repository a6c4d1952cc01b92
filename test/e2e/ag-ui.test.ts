// The real AG-UI clients are the referees: 1.0.0, and 0.0.59, which today's CopilotKit and assistant-ui still use.

import { HttpAgent as HttpAgent1 } from '@ag-ui/client'
import { HttpAgent as HttpAgent0 } from '@ag-ui/client-0'
import { describe, expect, test } from 'vitest'
import { serverTool } from '../../src/tools/testing/server-tool.ts'
import { createResumingFetch } from './resuming-fetch.ts'
import { startScriptedApp } from './scripted-app.ts'

const PROTOBUF = 'application/vnd.ag-ui.event+proto'

class BinaryAgent1 extends HttpAgent1 {
  override requestInit(input: Parameters<HttpAgent1['requestInit']>[0]): RequestInit {
    const init = super.requestInit(input)
    return { ...init, headers: { ...init.headers, Accept: PROTOBUF } }
  }
}

class BinaryAgent0 extends HttpAgent0 {
  override requestInit(input: Parameters<HttpAgent0['requestInit']>[0]): RequestInit {
    const init = super.requestInit(input)
    return { ...init, headers: { ...init.headers, Accept: PROTOBUF } }
  }
}

interface Options {
  url: string
  threadId?: string
  initialState?: unknown
  fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** The common part of the two clients that these tests use. */
interface Agent {
  messages: { id: string; role: string; content?: unknown }[]
  state: unknown
  setMessages(messages: Agent['messages']): void
  addMessage(message: { id: string; role: 'user'; content: string }): void
  abortRun(): void
  runAgent(parameters: { runId?: string }, subscriber: object): Promise<{ newMessages: unknown[] }>
}

const clients: [string, (options: Options) => Agent, (options: Options) => Agent][] = [
  ['1.0.0', (options) => new HttpAgent1(options) as Agent, (options) => new BinaryAgent1(options) as Agent],
  ['0.0.59', (options) => new HttpAgent0(options) as Agent, (options) => new BinaryAgent0(options) as Agent],
]

const look = serverTool({
  name: 'look',
  description: 'Looks out.',
  parameters: { type: 'object', properties: { where: { type: 'string' } } },
  effect: 'read',
  timeoutMs: 1_000,
  call: async ({ arguments: { where } }) => ({ content: `a ship to ${where}`, isError: false }),
})

const answers = [
  { when: { user: 'hello' }, parts: [{ text: 'Good ' }, { text: 'day.' }, { usage: { input: 5, output: 2 } }] },
  { when: { user: 'think' }, parts: [{ reasoning: 'Hm. ' }, { reasoning: 'Yes.' }, { text: 'Done.' }] },
  { when: { tool: 'look' }, parts: [{ text: 'I see a ship.' }] },
  {
    when: { user: 'look' },
    parts: [{ text: 'Let me see.' }, { tool_call: { name: 'look', arguments: { where: 'port' } } }],
  },
  { when: { user: 'fail' }, parts: [{ text: 'Well' }, { error: { code: 'model_rate_limited' as const } }] },
  { when: { user: 'wait' }, parts: [{ text: 'Waiting' }, { hang: true as const }] },
  { when: { user: 'again' }, times: 1, parts: [{ text: 'First answer.' }] },
  { when: { user: 'again' }, parts: [{ text: 'Second answer.' }] },
]

/** Runs the agent and returns what the client learned about the end. */
async function ask(agent: Agent, text: string | null, runId?: string) {
  const heard: unknown[] = []
  if (text !== null) agent.addMessage({ id: `user-${agent.messages.length}`, role: 'user', content: text })
  await agent.runAgent(runId === undefined ? {} : { runId }, {
    onRunFinishedEvent: ({ event }: { event: { outcome?: { type: string } } }) => void heard.push(event.outcome?.type),
    onRunErrorEvent: ({ event }: { event: { code?: string } }) => void heard.push(`error ${event.code}`),
    onRunFailed: ({ error }: { error: Error }) => void heard.push(`failed: ${error.message}`),
  })
  return heard
}

const said = (agent: Agent) => agent.messages.map(({ role, content }) => [role, content])

describe.each(clients)('@ag-ui/client %s', (_version, connect, connectBinary) => {
  test('reads a text', async () => {
    await using app = await startScriptedApp(answers)
    const agent = connect({ url: app.url })

    expect(await ask(agent, 'hello')).toEqual(['success'])

    expect(said(agent)).toEqual([
      ['user', 'hello'],
      ['assistant', 'Good day.'],
    ])
  })

  test('reads reasoning', async () => {
    await using app = await startScriptedApp(answers)
    const agent = connect({ url: app.url })

    expect(await ask(agent, 'think')).toEqual(['success'])

    expect(said(agent)).toEqual([
      ['user', 'think'],
      ['reasoning', 'Hm. Yes.'],
      ['assistant', 'Done.'],
    ])
  })

  test('sees a tool call and its result', async () => {
    await using app = await startScriptedApp(answers, [look])
    const agent = connect({ url: app.url })

    expect(await ask(agent, 'look')).toEqual(['success'])

    expect(agent.messages).toEqual([
      { id: 'user-0', role: 'user', content: 'look' },
      expect.objectContaining({
        role: 'assistant',
        content: 'Let me see.',
        toolCalls: [
          { id: expect.any(String), type: 'function', function: { name: 'look', arguments: '{"where":"port"}' } },
        ],
      }),
      expect.objectContaining({ role: 'tool', content: 'a ship to port' }),
      expect.objectContaining({ role: 'assistant', content: 'I see a ship.' }),
    ])
  })

  test('has fifty exchanges without a lost or duplicate message', async () => {
    await using app = await startScriptedApp(answers)
    const agent = connect({ url: app.url, threadId: 'long' })

    for (let i = 0; i < 50; i += 1) expect(await ask(agent, 'hello')).toEqual(['success'])

    expect(agent.messages).toHaveLength(100)
    const session = await app.engine.sessions.get('local_user', 'long')
    const stored = await app.engine.messages.page(session.id, 1_000)
    expect(stored.map(({ id }) => id)).toEqual(agent.messages.map(({ id }) => id))
  })

  test('is told about a failure inside the run', async () => {
    await using app = await startScriptedApp(answers)
    const agent = connect({ url: app.url })

    expect(await ask(agent, 'fail')).toEqual(['error model_rate_limited'])
  })

  test('is told about a refusal before the run', async () => {
    await using app = await startScriptedApp(answers)
    const agent = connect({ url: `${app.url}/agents/nobody` })

    await expect(ask(agent, 'hello')).rejects.toThrow(/^HTTP 404: {"message":"There is no agent .*agent_not_found/)
  })

  test('is told that a run was stopped', async () => {
    await using app = await startScriptedApp(answers)
    const agent = connect({ url: app.url })
    const heard: unknown[] = []
    agent.addMessage({ id: 'u', role: 'user', content: 'wait' })

    await agent.runAgent(
      { runId: 'to-be-stopped' },
      {
        onTextMessageContentEvent: async () => {
          const response = await fetch(`${app.url}/runs/to-be-stopped/cancel`, { method: 'POST' })
          heard.push(response.status)
        },
        onRunFinishedEvent: ({ event }: { event: { outcome?: { type: string } } }) =>
          void heard.push(event.outcome?.type),
        onRunErrorEvent: ({ event }: { event: { code?: string } }) => void heard.push(event.code),
      },
    )

    expect(heard).toEqual([200, 'cancelled'])
    expect(said(agent)).toEqual([
      ['user', 'wait'],
      ['assistant', 'Waiting'],
    ])
  })

  test('gets its thread back with its messages and its state', async () => {
    await using app = await startScriptedApp(answers, [look])
    const first = connect({ url: app.url, threadId: 'thread', initialState: { course: 'north', crew: [1, null] } })
    await ask(first, 'look')
    await ask(first, 'think')

    const second = connect({ url: app.url, threadId: 'thread' })
    expect(await ask(second, null)).toEqual(['success'])

    expect(second.messages).toEqual(first.messages)
    expect(second.state).toEqual({ course: 'north', crew: [1, null] })
  })

  test('continues a thread that it got back', async () => {
    await using app = await startScriptedApp(answers)
    await ask(connect({ url: app.url, threadId: 'thread' }), 'hello')
    const agent = connect({ url: app.url, threadId: 'thread' })
    await ask(agent, null)

    expect(await ask(agent, 'think')).toEqual(['success'])

    expect(said(agent)).toEqual([
      ['user', 'hello'],
      ['assistant', 'Good day.'],
      ['user', 'think'],
      ['reasoning', 'Hm. Yes.'],
      ['assistant', 'Done.'],
    ])
  })

  test('loses nothing and stops nothing when its page is reloaded in the middle of an answer', async () => {
    const ship = Promise.withResolvers<void>()
    const slow = serverTool({ ...look, call: (call, signal) => ship.promise.then(() => look.call(call, signal)) })
    await using app = await startScriptedApp(answers, [slow])
    const page = connect({ url: app.url, threadId: 'thread' })
    await ask(page, 'hello')
    const asked = Promise.withResolvers<void>()
    page.addMessage({ id: 'user-2', role: 'user', content: 'look' })
    const left = page.runAgent({}, { onToolCallEndEvent: () => asked.resolve() }).catch(() => {})
    await asked.promise
    page.abortRun()
    await left

    const again = connect({ url: app.url, threadId: 'thread' })
    const ended: unknown[] = []
    await again.runAgent(
      {},
      {
        onToolCallEndEvent: () => ship.resolve(),
        onRunFinishedEvent: ({ event }: { event: { outcome?: { type: string } } }) =>
          void ended.push(event.outcome?.type),
      },
    )

    expect(ended).toEqual(['success'])
    expect(said(again)).toEqual([
      ['user', 'hello'],
      ['assistant', 'Good day.'],
      ['user', 'look'],
      ['assistant', 'Let me see.'],
      ['tool', 'a ship to port'],
      ['assistant', 'I see a ship.'],
    ])
    const later = connect({ url: app.url, threadId: 'thread' })
    await ask(later, null)
    expect(said(later)).toEqual(said(again))
  })

  test('gets a new answer to a message', async () => {
    await using app = await startScriptedApp(answers)
    const agent = connect({ url: app.url, threadId: 'thread' })
    await ask(agent, 'again')

    agent.setMessages([{ id: 'user-0', role: 'user', content: 'again' }])
    expect(await ask(agent, null)).toEqual(['success'])

    expect(said(agent)).toEqual([
      ['user', 'again'],
      ['assistant', 'Second answer.'],
    ])
    const fresh = connect({ url: app.url, threadId: 'thread' })
    await ask(fresh, null)
    expect(fresh.messages).toEqual(agent.messages)
  })

  test('gets an edited message answered instead of the old one', async () => {
    await using app = await startScriptedApp(answers)
    const agent = connect({ url: app.url, threadId: 'thread' })
    await ask(agent, 'hello')
    await ask(agent, 'think')

    // This is what assistant-ui and CopilotKit do: the messages shown before it, then the message with a new id.
    agent.setMessages(agent.messages.slice(0, 2))
    agent.addMessage({ id: 'edited', role: 'user', content: 'again' })
    expect(await ask(agent, null)).toEqual(['success'])

    const fresh = connect({ url: app.url, threadId: 'thread' })
    await ask(fresh, null)
    expect(fresh.messages).toEqual(agent.messages)
    expect(said(fresh)).toEqual([
      ['user', 'hello'],
      ['assistant', 'Good day.'],
      ['user', 'again'],
      ['assistant', 'First answer.'],
    ])
  })

  test('attaches to a run by its id and reads all of it', async () => {
    await using app = await startScriptedApp(answers, [look])
    const first = connect({ url: app.url, threadId: 'thread' })
    await ask(first, 'look', 'run')

    const second = connect({ url: app.url, threadId: 'thread' })
    expect(await ask(second, 'look', 'run')).toEqual(['success'])

    expect(second.messages).toEqual(first.messages)
    expect(app.engine.stats().runsStarted).toBe(1)
  })

  test('does not notice that its connection breaks after every second event', async () => {
    await using app = await startScriptedApp(answers, [look])
    let resumed = 0
    const agent = connect({
      url: app.url,
      fetch: createResumingFetch(2, () => {
        resumed += 1
      }),
    })

    expect(await ask(agent, 'look')).toEqual(['success'])

    expect(resumed).toBeGreaterThan(4)
    expect(said(agent)).toEqual([
      ['user', 'look'],
      ['assistant', 'Let me see.'],
      ['tool', 'a ship to port'],
      ['assistant', 'I see a ship.'],
    ])
  })

  test('reads protobuf', async () => {
    await using app = await startScriptedApp(answers)
    const types: (string | null)[] = []
    const agent = connectBinary({
      url: app.url,
      fetch: async (url, init) => {
        const response = await fetch(url, init)
        types.push(response.headers.get('content-type'))
        return response
      },
    })

    expect(await ask(agent, 'think')).toEqual(['success'])

    expect(types).toEqual([PROTOBUF])
    expect(said(agent).at(-1)).toEqual(['assistant', 'Done.'])
  })
})
