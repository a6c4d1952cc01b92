// CopilotKit's own client decides what is right. Its React components are built on it, and it needs no browser.

import { CopilotKitCore, ProxiedCopilotRuntimeAgent, ɵInterruptState } from '@copilotkit/core'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { serverTool } from '../../src/tools/testing/server-tool.ts'
import type { Tool } from '../../src/tools/tool.ts'
import { startAgentFiles } from './agent-files-app.ts'
import { startScriptedApp } from './scripted-app.ts'

const answers = [
  { when: { user: 'hello' }, parts: [{ reasoning: 'Hm.' }, { text: 'Good ' }, { text: 'day.' }] },
  { when: { tool: 'look' }, parts: [{ text: 'I see a ship.' }] },
  { when: { user: 'look' }, parts: [{ text: 'Let me see.' }, { tool_call: { name: 'look', arguments: {} } }] },
  { when: { user: 'fail' }, parts: [{ text: 'Well' }, { error: { code: 'model_rate_limited' as const } }] },
  { when: { user: 'wait' }, parts: [{ text: 'Waiting' }, { hang: true as const }] },
  { when: { tool: 'pick' }, parts: [{ text: 'A fine colour.' }] },
  {
    when: { user: 'pick' },
    parts: [
      { tool_call: { name: 'look', arguments: {} } },
      { tool_call: { name: 'pick', arguments: { from: 'red' } } },
    ],
  },
  { when: { user: 'again' }, times: 1, parts: [{ text: 'First answer.' }] },
  { when: { user: 'again' }, parts: [{ text: 'Second answer.' }] },
]

type Transport = 'rest' | 'single' | 'auto'

interface ClientOptions {
  url: string
  transport: Transport
  threadId?: string
  agentId?: string
  headers?: Record<string, string>
}

/** A page with CopilotKit on it. */
function openPage({ url, transport, threadId = 'thread', agentId = 'default', headers = {} }: ClientOptions) {
  const requests: { line: string; headers: Headers }[] = []
  const errors: string[] = []
  const agent = new ProxiedCopilotRuntimeAgent({
    runtimeUrl: `${url}/copilotkit`,
    agentId,
    threadId,
    transport,
    headers,
  })
  const core = new CopilotKitCore({ agents__unsafe_dev_only: { [agentId]: agent }, headers })
  // The core gives every agent its own fetch, so this one is set afterwards.
  agent.fetch = (input, init) => {
    requests.push({ line: `${init?.method ?? 'GET'} ${String(input)}`, headers: new Headers(init?.headers) })
    return fetch(input, init)
  }
  let asking: string | undefined
  agent.subscribe({
    onRunFinishedEvent: ({ event }) => {
      asking = event.runId
    },
  })
  core.subscribe({ onError: ({ code, error }) => void errors.push(`${code}: ${error.message}`) })
  return {
    agent,
    core,
    /** What the page would show as an error. */
    errors,
    requests,
    /** The run that ended last. If a run asks for something, it is this one. */
    lastRunId: () => asking,
    /** Does what a reloaded page does with its thread. */
    join: () => core.connectAgent({ agent }),
    say: (content: string) => {
      agent.addMessage({ id: `${threadId}-${agent.messages.length}`, role: 'user', content })
      return core.runAgent({ agent })
    },
    runAgain: () => core.runAgent({ agent }),
    pressStop: () => core.stopAgent({ agent }),
    /** Resolves when somebody has said this. */
    until: (text: string) =>
      new Promise<void>((resolve) => {
        const { unsubscribe } = agent.subscribe({
          onMessagesChanged: ({ messages }) => {
            if (!messages.some(({ content }) => content === text)) return
            unsubscribe()
            resolve()
          },
        })
      }),
    said: () => agent.messages.map(({ role, content }) => [role, content]),
  }
}

const toolNamed = (name: string, call: () => Promise<string>): Tool =>
  serverTool({
    name,
    description: 'Looks out.',
    parameters: { type: 'object' },
    effect: 'read',
    timeoutMs: 5_000,
    call: async () => ({ content: await call(), isError: false }),
  })

describe.each<Transport>(['rest', 'single'])('CopilotKit with the transport %s', (transport) => {
  test('reads answers and sends its history again without duplicates', async () => {
    await using app = await startScriptedApp(answers)
    const page = openPage({ url: app.url, transport })

    await page.say('hello')
    await page.say('hello')

    expect(page.said()).toEqual([
      ['user', 'hello'],
      ['reasoning', 'Hm.'],
      ['assistant', 'Good day.'],
      ['user', 'hello'],
      ['reasoning', 'Hm.'],
      ['assistant', 'Good day.'],
    ])
    const session = await app.engine.sessions.get('local_user', 'thread')
    const stored = await app.engine.messages.page(session.id, 100)
    expect(stored.map(({ id }) => id)).toEqual(page.agent.messages.map(({ id }) => id))
    expect(page.errors).toEqual([])
  })

  test('shows a thread again after a reload', async () => {
    await using app = await startScriptedApp(answers, [toolNamed('look', async () => 'a ship')])
    const before = openPage({ url: app.url, transport })
    await before.say('look')

    const after = openPage({ url: app.url, transport })
    await after.join()

    expect(after.agent.messages).toEqual(before.agent.messages)
    expect(after.said()).toEqual([
      ['user', 'look'],
      ['assistant', 'Let me see.'],
      ['tool', 'a ship'],
      ['assistant', 'I see a ship.'],
    ])
    expect(after.errors).toEqual([])
  })

  test('shows nothing for a new thread, and can talk in it', async () => {
    await using app = await startScriptedApp(answers)
    const page = openPage({ url: app.url, transport })

    await page.join()
    expect(page.said()).toEqual([])
    await page.say('hello')

    expect(page.said().at(-1)).toEqual(['assistant', 'Good day.'])
    expect(page.errors).toEqual([])
  })

  test('joins a run in the middle and sees it to its end', async () => {
    const ship = Promise.withResolvers<string>()
    await using app = await startScriptedApp(answers, [toolNamed('look', () => ship.promise)])
    const first = openPage({ url: app.url, transport })
    const answered = first.say('look')
    await first.until('Let me see.')

    const second = openPage({ url: app.url, transport })
    const joined = second.join()
    await second.until('Let me see.')
    ship.resolve('a ship')
    await Promise.all([answered, joined])

    expect(first.said().at(-1)).toEqual(['assistant', 'I see a ship.'])
    expect(second.agent.messages).toEqual(first.agent.messages)
    expect([...first.errors, ...second.errors]).toEqual([])
  })

  test('stops an answer and goes on talking', async () => {
    await using app = await startScriptedApp(answers)
    const page = openPage({ url: app.url, transport })
    const answered = page.say('wait')
    await page.until('Waiting')

    page.pressStop()
    await answered
    await page.say('hello')

    expect(page.said()).toEqual([
      ['user', 'wait'],
      ['assistant', 'Waiting'],
      ['user', 'hello'],
      ['reasoning', 'Hm.'],
      ['assistant', 'Good day.'],
    ])
    expect(page.errors).toEqual([])
  })

  test('stops, after a reload, an answer that was asked for before it', async () => {
    await using app = await startScriptedApp(answers)
    const before = openPage({ url: app.url, transport })
    const answered = before.say('wait')
    await before.until('Waiting')
    const after = openPage({ url: app.url, transport })
    const joined = after.join()
    await after.until('Waiting')

    after.pressStop()
    await Promise.all([answered, joined])

    expect(after.said()).toEqual([
      ['user', 'wait'],
      ['assistant', 'Waiting'],
    ])
    expect([...before.errors, ...after.errors]).toEqual([])
  })

  test('is told about a failure inside the run', async () => {
    await using app = await startScriptedApp(answers)
    const page = openPage({ url: app.url, transport })

    await page.say('fail')

    expect(page.errors).toEqual(['agent_run_error_event: The script says model_rate_limited.'])
  })

  test('is told about a refusal before the run', async () => {
    await using app = await startScriptedApp(answers)
    const page = openPage({ url: app.url, transport, agentId: 'nobody' })

    await page.say('hello')

    expect(page.errors[0]).toMatch(/^agent_run_failed_event: HTTP 404: {"message":"There is no agent .*agent_not_found/)
  })

  test('gets a new answer to a message', async () => {
    await using app = await startScriptedApp(answers)
    const page = openPage({ url: app.url, transport })
    await page.say('again')

    page.agent.setMessages(page.agent.messages.slice(0, 1))
    await page.runAgain()

    expect(page.said()).toEqual([
      ['user', 'again'],
      ['assistant', 'Second answer.'],
    ])
    expect(page.errors).toEqual([])
  })

  test('gets an edited message answered instead of the old one', async () => {
    await using app = await startScriptedApp(answers)
    const page = openPage({ url: app.url, transport })
    await page.say('hello')
    await page.say('look')

    page.agent.setMessages(page.agent.messages.slice(0, 3))
    page.agent.addMessage({ id: 'edited', role: 'user', content: 'again' })
    await page.runAgain()

    const fresh = openPage({ url: app.url, transport })
    await fresh.join()
    expect(fresh.said().slice(-3)).toEqual([
      ['assistant', 'Good day.'],
      ['user', 'again'],
      ['assistant', 'First answer.'],
    ])
    expect(fresh.said()).toHaveLength(page.said().length)
    expect(page.errors).toEqual([])
  })

  test('may send all its requests from a page at another port', async () => {
    await using app = await startScriptedApp(answers)
    const page = openPage({ url: app.url, transport, headers: { 'X-CopilotKit-Any': '1' } })
    await page.say('hello')
    await page.join()

    for (const { line, headers } of page.requests) {
      const [method = '', url = ''] = line.split(' ')
      const asked = [...headers.keys()].toSorted()
      const response = await fetch(url, {
        method: 'OPTIONS',
        headers: {
          Origin: 'http://localhost:5173',
          'Access-Control-Request-Method': method,
          'Access-Control-Request-Headers': asked.join(','),
        },
      })
      const listed = (name: string) => (response.headers.get(name) ?? '').split(', ')
      expect(response.headers.get('access-control-allow-origin')).toBe('http://localhost:5173')
      expect(listed('access-control-allow-methods')).toContain(method)
      expect(listed('access-control-allow-headers')).toEqual(expect.arrayContaining(asked))
    }
    expect(page.requests.map(({ headers }) => headers.get('x-copilotkit-any'))).toEqual(page.requests.map(() => '1'))
    expect(page.errors).toEqual([])
  })
})

describe.each<Transport>(['rest', 'single'])('CopilotKit with tools and the transport %s', (transport) => {
  test('runs a tool of the page and goes on by itself', async () => {
    await using app = await startScriptedApp(answers, [toolNamed('look', async () => 'a ship')])
    const page = openPage({ url: app.url, transport })
    const asked: unknown[] = []
    page.core.addTool({
      name: 'pick',
      description: 'Lets the user pick.',
      parameters: z.object({ from: z.string() }),
      handler: async (given) => {
        asked.push(given)
        return 'red'
      },
    })

    await page.say('pick')

    expect(asked).toEqual([{ from: 'red' }])
    expect(page.said()).toEqual([
      ['user', 'pick'],
      ['assistant', undefined],
      ['tool', 'a ship'],
      ['tool', 'red'],
      ['assistant', 'A fine colour.'],
    ])
    expect(page.errors).toEqual([])
    const session = await app.engine.sessions.get('local_user', 'thread')
    const stored = await app.engine.messages.page(session.id, 100)
    expect(stored.map(({ role }) => role).toSorted()).toEqual(['assistant', 'assistant', 'tool', 'tool', 'user'])
  })

  test('tells the model that a tool of the page failed', async () => {
    await using app = await startScriptedApp(answers, [toolNamed('look', async () => 'a ship')])
    const page = openPage({ url: app.url, transport })
    page.core.addTool({
      name: 'pick',
      parameters: z.object({ from: z.string() }),
      handler: async () => {
        throw new Error('The palette is empty.')
      },
    })

    await page.say('pick')

    expect(page.said().at(-1)).toEqual(['tool', 'Error: The palette is empty.'])
    await page.runAgain()
    expect(page.said().at(-1)).toEqual(['assistant', 'A fine colour.'])
  })

  test('goes on after a reload with a tool that waits for its user', async () => {
    await using app = await startScriptedApp(answers, [toolNamed('look', async () => 'a ship')])
    const before = openPage({ url: app.url, transport })
    const parameters = z.object({ from: z.string() })
    before.core.addTool({ type: 'human-in-the-loop', name: 'pick', parameters, handler: () => new Promise(() => {}) })
    void before.say('pick')
    await before.until('a ship')

    const after = openPage({ url: app.url, transport })
    after.core.addTool({ type: 'human-in-the-loop', name: 'pick', parameters, handler: async () => 'red' })
    const answered = after.until('A fine colour.')
    await after.join()
    await answered

    expect(after.said().slice(-2)).toEqual([
      ['tool', 'red'],
      ['assistant', 'A fine colour.'],
    ])
    expect(after.errors).toEqual([])
  })

  test('asks its user when a tool needs approval, also after a reload', async () => {
    await using app = await startAgentFiles(asking)
    const page = openPage({ url: app.url, transport, headers: app.asOwner })
    await page.say('note it')
    expect(page.agent.pendingInterrupts).toHaveLength(1)

    const again = openPage({ url: app.url, transport, headers: app.asOwner })
    await again.join()
    expect(again.agent.pendingInterrupts).toEqual(page.agent.pendingInterrupts)
    await answerOn(again, { approved: true })

    expect(again.said()).toEqual([
      ['user', 'note it'],
      ['assistant', undefined],
      ['tool', 'noted bob'],
      ['assistant', 'Noted.'],
    ])
    expect(again.agent.pendingInterrupts).toEqual([])
    expect([...page.errors, ...again.errors]).toEqual([])

    await again.say('hello')
    expect(again.said().at(-1)).toEqual(['assistant', 'Good day.'])
    expect(again.errors).toEqual([])
  })

  test('does not show a call as done whose approval was refused', async () => {
    await using app = await startAgentFiles(asking)
    const page = openPage({ url: app.url, transport })
    await page.say('note it')

    await answerOn(page, { approved: true }).catch(() => {})

    expect(page.said()).toEqual([
      ['user', 'note it'],
      ['assistant', undefined],
    ])
    expect(JSON.stringify(page.errors)).toContain('quarterdeck tokens create --role user')
  })

  test('passes a rejection by its user on', async () => {
    await using app = await startAgentFiles(asking)
    const page = openPage({ url: app.url, transport, headers: app.asOwner })
    await page.say('note it')

    await answerOn(page, { approved: false, reason: 'Bob has left.' })

    expect(page.said()).toContainEqual(['tool', expect.stringContaining('Reason: Bob has left.')])
    expect(page.said().at(-1)).toEqual(['assistant', 'Noted.'])
    expect(page.errors).toEqual([])
  })
})

const asking = {
  'agent.yaml': `
name: clerk
description: Notes things.
model: { provider: scripted, script: script.json }
instructions: Note.
approval: { by: owner }
tools:
  - { type: function, name: note, file: tools.js, parameters: { to: { type: string } }, risk: low, approval: always }
`,
  'tools.js': `export const note = { description: 'Notes something down.', run: ({ to }) => 'noted ' + to }`,
  'script.json': {
    answers: [
      { when: { user: 'hello' }, parts: [{ text: 'Good day.' }] },
      { when: { tool: 'note' }, parts: [{ text: 'Noted.' }] },
      { when: { user: 'note it' }, parts: [{ tool_call: { name: 'note', arguments: { to: 'bob' } } }] },
    ],
  },
}

/** What `useInterrupt` of CopilotKit's React does when its user has answered: it repeats the id of the run that asked. */
async function answerOn({ agent, core, lastRunId }: ReturnType<typeof openPage>, payload: unknown): Promise<void> {
  const state = new ɵInterruptState()
  state.setStandard(agent.pendingInterrupts)
  const action = state.resolve(payload)
  if (action.kind !== 'resume') throw new Error(`CopilotKit wants to ${action.kind}`)
  for (const { toolCallId, content } of action.toolResults) {
    agent.addMessage({ id: `answer to ${toolCallId}`, role: 'tool', toolCallId, content })
  }
  const runId = lastRunId()
  if (runId === undefined) throw new Error('no run has asked anything')
  await core.runAgent({ agent, resume: action.resume, runId })
}

test('CopilotKit finds the routes by itself', async () => {
  await using app = await startScriptedApp(answers)
  const page = openPage({ url: app.url, transport: 'auto' })

  await page.say('hello')

  expect(page.requests.map(({ line }) => line)).toEqual([
    `GET ${app.url}/copilotkit/info`,
    `POST ${app.url}/copilotkit/agent/default/run`,
  ])
})
