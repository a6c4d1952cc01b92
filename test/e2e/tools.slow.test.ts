// Agents with tools, from files on disk to the real AG-UI clients: 1.0.0, and 0.0.59, which today's CopilotKit still uses.

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buildResumeArray, HttpAgent as HttpAgent1 } from '@ag-ui/client'
import { HttpAgent as HttpAgent0 } from '@ag-ui/client-0'
import { describe, expect, test, vi } from 'vitest'
import { packageScript } from '../../src/tools/mcp/testing/open-server.ts'
import { startAgentFiles } from './agent-files-app.ts'

const PROTOBUF = 'application/vnd.ag-ui.event+proto'

class BinaryAgent1 extends HttpAgent1 {
  override requestInit(input: Parameters<HttpAgent1['requestInit']>[0]): RequestInit {
    const init = super.requestInit(input)
    return { ...init, headers: { ...init.headers, Accept: PROTOBUF } }
  }
}

interface Options {
  url: string
  threadId?: string
  headers?: Record<string, string>
}

type Interrupts = Parameters<typeof buildResumeArray>[0]

/** The common part of the clients that these tests use. */
interface Agent {
  messages: { id: string; role: string; content?: unknown; toolCallId?: string; toolCalls?: unknown[] }[]
  state: unknown
  pendingInterrupts: Interrupts
  addMessage(message: { id: string; role: string; content: string; toolCallId?: string }): void
  runAgent(parameters: Record<string, unknown>, subscriber: object): Promise<unknown>
}

const clients: [string, (options: Options) => Agent][] = [
  ['1.0.0', (options) => new HttpAgent1(options) as unknown as Agent],
  ['1.0.0 with protobuf', (options) => new BinaryAgent1(options) as unknown as Agent],
  ['0.0.59', (options) => new HttpAgent0(options) as unknown as Agent],
]

interface Heard {
  /** All events in order, as the client's own checks let them through. */
  types: string[]
  end: unknown
  pending: unknown
  custom: unknown[]
}

/** Runs the agent. Rejects when the client finds anything wrong with what it receives. */
async function run(agent: Agent, parameters: Record<string, unknown> = {}): Promise<Heard> {
  const heard: Heard = { types: [], end: null, pending: undefined, custom: [] }
  await agent.runAgent(parameters, {
    onEvent: ({ event }: { event: { type: string } }) => void heard.types.push(event.type),
    onCustomEvent: ({ event }: { event: { name: string; value: unknown } }) =>
      void heard.custom.push([event.name, event.value]),
    onRunFinishedEvent: ({
      event,
      ...more
    }: {
      event: { outcome?: { type: string } }
      pendingToolCallIds?: unknown
    }) => {
      heard.end = event.outcome?.type
      heard.pending = more.pendingToolCallIds
    },
    onRunErrorEvent: ({ event }: { event: { code?: string } }) => {
      heard.end = `error ${event.code}`
    },
  })
  return heard
}

const ask = (agent: Agent, content: string, parameters: Record<string, unknown> = {}): Promise<Heard> => {
  agent.addMessage({ id: `user-${agent.messages.length}`, role: 'user', content })
  return run(agent, parameters)
}

type Response = { status: 'resolved'; payload: unknown } | { status: 'cancelled' }
const yes = (more: object = {}): Response => ({ status: 'resolved', payload: { approved: true, ...more } })
const no = (reason: string): Response => ({ status: 'resolved', payload: { approved: false, reason } })

/** Answers what the agent waits for, in order, by the client's own means. */
function answer(agent: Agent, ...responses: Response[]): Promise<Heard> {
  const entries = agent.pendingInterrupts.map(({ id }, index) => [id, responses[index] ?? yes()] as const)
  return run(agent, { resume: buildResumeArray(agent.pendingInterrupts, Object.fromEntries(entries)) })
}

const said = (agent: Agent) => agent.messages.map(({ role, content }) => [role, content])
const last = (agent: Agent) => agent.messages.at(-1)?.content

const to = '{ to: { type: string } }'
const agentFile = `
name: captain
description: Has tools of several kinds.
model: { provider: scripted, script: script.json }
instructions: Sail.
approval: { by: owner }
tools:
  - { type: function, name: note, file: tools.js, parameters: ${to}, risk: low, approval: always }
  - { type: function, name: send, file: tools.js, parameters: ${to}, risk: critical }
  - { type: function, name: look, file: tools.js, parameters: {}, effect: read }
  - { type: function, name: paint, file: tools.js, parameters: { colour: { type: string } }, effect: read,
      predict_state: [{ state_key: colour, tool_argument: colour }] }
  - { type: function, name: rude, file: tools.js, parameters: {}, effect: read }
  - { type: client, name: horn, description: Blows the horn of the page., parameters: { times: { type: integer } } }
  - { type: agent, name: ask_mate, agent: mate.yaml, description: Asks the mate for something., risk: low }
  - { type: agent, name: to_mate, agent: mate.yaml, handoff: true, description: Hands over to the mate., risk: low }
`
const mateFile = `
name: mate
description: Helps the captain.
model: { provider: scripted, script: mate.json }
instructions: Help.
approval: { by: owner }
tools:
  - { type: function, name: note, file: tools.js, parameters: ${to}, risk: low, approval: always }
  - { type: client, name: bell, description: Rings the bell of the page. }
`
const toolsFile = `
import { appendFileSync } from 'node:fs'
const done = (line) => appendFileSync(new URL('done.txt', import.meta.url), line + '\\n')
const deliver = (name) => ({
  description: 'Delivers something to somebody.',
  run({ to }) { done(name + ' ' + to); return name + ': ' + to },
})
export const note = deliver('note')
export const send = deliver('send')
export const look = { description: 'Looks out of the window.', run: () => 'a ship' }
export const rude = {
  description: 'Says what nobody can read.',
  run(_, context) {
    const refused = []
    const attempt = (name, say) => { try { say() } catch { refused.push(name) } }
    attempt('function', () => context.emit('function', () => 1))
    attempt('number', () => context.emit(7, 'name'))
    attempt('list', () => context.activity('list', 'PLAN', [1, 2]))
    attempt('absent', () => context.activity('absent', 'PLAN'))
    attempt('symbol', () => context.setState(Symbol('x')))
    return refused
  },
}
export const paint = {
  description: 'Paints the ship in a colour.',
  run({ colour }, context) {
    context.setState({ ...context.state, colour, coats: [1, null] })
    context.setState({ ...context.state, 'a/b~c': { deep: null } })
    context.emit('painted', { colour, by: null })
    context.emit('nothing', null)
    context.activity('plan', 'PLAN', { steps: ['sand', 'paint'], left: null })
    context.progress(1, 2, 'half')
    return 'painted ' + colour
  },
}
`
const calls = (...named: [string, object?][]) =>
  named.map(([name, args = {}]) => ({ tool_call: { name, arguments: args } }))
const script = {
  answers: [
    { when: { tool: 'note' }, parts: [{ text: 'Noted.' }] },
    { when: { tool: 'send' }, parts: [{ text: 'Sent.' }] },
    { when: { tool: 'horn' }, parts: [{ text: 'Toot.' }] },
    { when: { tool: 'pick' }, parts: [{ text: 'Picked.' }] },
    { when: { tool: 'rude' }, parts: [{ text: 'Pardon.' }] },
    { when: { user: 'rude' }, parts: calls(['rude']) },
    { when: { tool: 'paint' }, parts: [{ text: 'Painted.' }] },
    { when: { tool: 'ask_mate' }, parts: [{ text: 'The mate has it.' }] },
    { when: { user: 'note it' }, parts: [{ text: 'Well.' }, ...calls(['note', { to: 'bob' }])] },
    { when: { user: 'note both' }, parts: calls(['note', { to: 'bob' }], ['note', { to: 'eve' }]) },
    { when: { user: 'send it' }, parts: calls(['send', { to: 'bob' }]) },
    { when: { user: 'horn' }, parts: calls(['horn', { times: 2 }]) },
    { when: { user: 'pick' }, parts: calls(['look'], ['pick', { from: 'red' }]) },
    { when: { user: 'mixed' }, parts: calls(['pick', { from: 'red' }], ['note', { to: 'bob' }]) },
    { when: { user: 'paint' }, parts: calls(['paint', { colour: 'red' }]) },
    { when: { user: 'mate, ring' }, parts: calls(['ask_mate', { message: 'ring it' }]) },
    { when: { user: 'mate, note' }, parts: calls(['ask_mate', { message: 'note it' }]) },
    { when: { user: 'mate' }, parts: calls(['ask_mate', { message: 'hello' }]) },
    { when: { user: 'hand over' }, parts: calls(['to_mate']) },
  ],
}
const mateScript = {
  answers: [
    { when: { tool: 'note' }, parts: [{ text: 'Noted for you.' }] },
    { when: { tool: 'bell' }, parts: [{ text: 'Rung.' }] },
    { when: { user: 'ring it' }, parts: calls(['bell']) },
    { when: { user: 'note it' }, parts: calls(['note', { to: 'the log' }]) },
    { when: { user: 'hello' }, parts: [{ reasoning: 'Hm.' }, { text: 'Hello from below.' }] },
    { when: { user: 'hand over' }, parts: [{ text: 'Mate speaking.' }] },
  ],
}

async function startShip() {
  const app = await startAgentFiles({
    'agent.yaml': agentFile,
    'mate.yaml': mateFile,
    'tools.js': toolsFile,
    'script.json': script,
    'mate.json': mateScript,
  })
  /** What the tools have done outside. */
  const done = async (): Promise<string[]> => {
    const text = await readFile(join(app.directory, 'done.txt'), 'utf8').catch(() => '')
    return text.split('\n').filter((line) => line !== '')
  }
  return { ...app, done }
}

const pick = { name: 'pick', description: 'Lets the user pick.', parameters: { type: 'object', properties: {} } }

describe.each(clients)('@ag-ui/client %s', (version, connect) => {
  test('is interrupted, approves, and the call runs once', async () => {
    await using ship = await startShip()
    const agent = connect({ url: ship.url, headers: ship.asOwner })

    expect((await ask(agent, 'note it')).end).toBe('interrupt')
    expect(agent.pendingInterrupts).toMatchObject([
      {
        reason: 'tool_call',
        metadata: { quarterdeck: { tool: 'note', arguments: { to: 'bob' }, answerableBy: 'owner' } },
      },
    ])
    expect(await ship.done()).toEqual([])

    expect((await answer(agent, yes())).end).toBe('success')
    expect(agent.pendingInterrupts).toEqual([])
    expect(said(agent)).toEqual([
      ['user', 'note it'],
      ['assistant', 'Well.'],
      ['tool', 'note: bob'],
      ['assistant', 'Noted.'],
    ])
    expect(await ship.done()).toEqual(['note bob'])
  })

  test('rejects, and the model is told why', async () => {
    await using ship = await startShip()
    const agent = connect({ url: ship.url, headers: ship.asOwner })
    await ask(agent, 'note it')

    expect((await answer(agent, no('Bob has left.'))).end).toBe('success')

    expect(said(agent)[2]).toEqual(['tool', expect.stringContaining('Reason: Bob has left.')])
    expect(await ship.done()).toEqual([])
  })

  test('rejects a call and says what to do instead', async () => {
    await using ship = await startShip()
    const agent = connect({ url: ship.url, threadId: 'thread', headers: ship.asOwner })
    await ask(agent, 'note it')

    // This is what `steerAway` of assistant-ui does.
    agent.addMessage({ id: 'instead', role: 'user', content: 'rude' })
    expect((await answer(agent, { status: 'cancelled' })).end).toBe('success')

    expect(agent.pendingInterrupts).toEqual([])
    expect(last(agent)).toBe('Pardon.')
    expect(await ship.done()).toEqual([])
    const fresh = connect({ url: ship.url, threadId: 'thread' })
    await run(fresh)
    const sorted = (one: Agent) => said(one).map(String).toSorted()
    expect(sorted(fresh)).toEqual(sorted(agent))
    expect(said(fresh)).toContainEqual(['tool', expect.stringContaining('A person refused this call')])
  })

  test('is warned about an answer to a question that was never asked, and the run goes on', async () => {
    await using ship = await startShip()
    const agent = connect({ url: ship.url })

    const heard = await ask(agent, 'mate', { resume: [{ interruptId: 'old', status: 'cancelled' }] })

    expect(heard.end).toBe('success')
    expect(heard.custom[0]).toEqual([
      'quarterdeck:warning',
      expect.objectContaining({ code: 'unknown_interrupt', interruptId: 'old' }),
    ])
    expect(last(agent)).toBe('The mate has it.')
  })

  test('approves with changed arguments', async () => {
    await using ship = await startShip()
    const agent = connect({ url: ship.url, headers: ship.asOwner })
    await ask(agent, 'note it')

    await answer(agent, yes({ editedArgs: { to: 'eve' } }))

    expect(await ship.done()).toEqual(['note eve'])
  })

  test('answers several interrupts, each in its own way', async () => {
    await using ship = await startShip()
    const agent = connect({ url: ship.url, headers: ship.asOwner })
    await ask(agent, 'note both')
    expect(agent.pendingInterrupts).toHaveLength(2)

    expect((await answer(agent, { status: 'cancelled' }, yes())).end).toBe('success')

    expect(await ship.done()).toEqual(['note eve'])
  })

  test('is asked again for what is left when somebody else answers one of them', async () => {
    await using ship = await startShip()
    const agent = connect({ url: ship.url, threadId: 'thread', headers: ship.asOwner })
    await ask(agent, 'note both')
    const [bob, eve] = agent.pendingInterrupts
    const decided = await fetch(`${ship.url}/approvals/${bob?.id}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...ship.asOperator },
      body: JSON.stringify({ decision: 'reject' }),
    })
    expect(decided.status).toBe(200)

    const other = connect({ url: ship.url, threadId: 'thread', headers: ship.asOwner })
    await expect.poll(async () => (await run(other)).types.length > 0 && other.pendingInterrupts.length).toBe(1)
    expect(other.pendingInterrupts.map(({ id }) => id)).toEqual([eve?.id])
    expect((await answer(other, yes())).end).toBe('success')

    expect(await ship.done()).toEqual(['note eve'])
  })

  test('cannot approve without permission, and loses nothing by trying', async () => {
    await using ship = await startShip()
    const agent = connect({ url: ship.url, threadId: 'thread', headers: ship.asOwner })
    await ask(agent, 'send it')
    expect(agent.pendingInterrupts).toMatchObject([{ metadata: { quarterdeck: { answerableBy: 'operator' } } }])

    await expect(answer(agent, yes())).rejects.toThrow(/HTTP 403.*forbidden/)
    expect(await ship.done()).toEqual([])

    const operator = connect({ url: ship.url, threadId: 'thread', headers: ship.asOperator })
    await run(operator)
    expect(operator.pendingInterrupts).toHaveLength(1)
    expect((await answer(operator, yes())).end).toBe('success')
    expect(await ship.done()).toEqual(['send bob'])
  })

  test('runs a tool of the page: the run ends, and the next run brings the result', async () => {
    await using ship = await startShip()
    const agent = connect({ url: ship.url, threadId: 'thread', headers: ship.asOwner })

    const first = await ask(agent, 'pick', { tools: [pick] })
    const call = agent.messages.at(-2)?.toolCalls?.[1] as { id: string } | undefined
    // 0.x finds the open calls itself, and would take a success as their end.
    expect(first.end).toBe(version === '0.0.59' ? undefined : 'success')
    expect(first.pending).toEqual(version === '0.0.59' ? undefined : [call?.id])
    agent.addMessage({ id: 'result', role: 'tool', toolCallId: call?.id ?? '', content: 'red' })
    expect((await run(agent, { tools: [pick] })).end).toBe('success')

    expect(said(agent)).toEqual([
      ['user', 'pick'],
      ['assistant', undefined],
      ['tool', 'a ship'],
      ['tool', 'red'],
      ['assistant', 'Picked.'],
    ])
    const session = await ship.engine.sessions.get('local_user', 'thread')
    const stored = await ship.engine.messages.page(session.id, 10)
    expect(stored.map(({ id }) => id)).toEqual(agent.messages.map(({ id }) => id))
  })

  test('runs a tool of the page that the agent file declares', async () => {
    await using ship = await startShip()
    const agent = connect({ url: ship.url, headers: ship.asOwner })

    await ask(agent, 'horn')
    const call = agent.messages.at(-1)?.toolCalls?.[0] as { id: string; function: { arguments: string } } | undefined
    expect(JSON.parse(call?.function.arguments ?? '')).toEqual({ times: 2 })
    agent.addMessage({ id: 'result', role: 'tool', toolCallId: call?.id ?? '', content: 'done' })
    await run(agent)

    expect(last(agent)).toBe('Toot.')
  })

  test('answers a tool of the page and an interrupt of the same step', async () => {
    await using ship = await startShip()
    const agent = connect({ url: ship.url, headers: ship.asOwner })

    expect((await ask(agent, 'mixed', { tools: [pick] })).end).toBe('interrupt')
    const call = agent.messages.at(-1)?.toolCalls?.[0] as { id: string } | undefined
    agent.addMessage({ id: 'result', role: 'tool', toolCallId: call?.id ?? '', content: 'red' })
    expect((await answer(agent, yes())).end).toBe('success')

    expect(last(agent)).toBe('Noted.')
    expect(await ship.done()).toEqual(['note bob'])
  })

  test('sees what a tool reports while it works: state, custom events, activities', async () => {
    await using ship = await startShip()
    const agent = connect({ url: ship.url, threadId: 'thread', headers: ship.asOwner })

    const { types, custom, end } = await ask(agent, 'paint')

    expect(end).toBe('success')
    expect(agent.state).toEqual({ colour: 'red', coats: [1, null], 'a/b~c': { deep: null } })
    expect(types.indexOf('STATE_SNAPSHOT')).toBeLessThan(types.indexOf('STATE_DELTA'))
    expect(custom).toEqual([
      ['PredictState', [{ state_key: 'colour', tool: 'paint', tool_argument: 'colour' }]],
      ['painted', { colour: 'red', by: null }],
      ['nothing', null],
    ])
    expect(types.filter((type) => type === 'ACTIVITY_SNAPSHOT')).toHaveLength(2)
    expect(agent.messages.filter(({ role }) => role === 'activity').map(({ content }) => content)).toEqual([
      { steps: ['sand', 'paint'], left: null },
      { tool: 'paint', done: 1, total: 2, message: 'half' },
    ])

    // The second run of a session with state sends only patches to what the client already has.
    expect((await ask(agent, 'paint')).end).toBe('success')
    expect(last(agent)).toBe('Painted.')
  })

  test('does not get what a tool reports if no client could read it', async () => {
    await using ship = await startShip()
    const agent = connect({ url: ship.url, headers: ship.asOwner })

    const { custom, end } = await ask(agent, 'rude')

    expect(end).toBe('success')
    expect(custom.slice(1)).toEqual([
      ['function', null],
      ['7', 'name'],
    ])
    expect(said(agent).find(([role]) => role === 'tool')).toEqual(['tool', '["list","absent"]'])
  })

  test('sees a sub-agent at work', async () => {
    await using ship = await startShip()
    const agent = connect({ url: ship.url, headers: ship.asOwner })

    const { types, end } = await ask(agent, 'mate')

    expect(end).toBe('success')
    expect(types.filter((type) => type.startsWith('SUBAGENT'))).toEqual(['SUBAGENT_STARTED', 'SUBAGENT_FINISHED'])
    expect(said(agent).filter(([role]) => role === 'tool')).toEqual([['tool', 'Hello from below.']])
    expect(last(agent)).toBe('The mate has it.')
  })

  test('answers what a sub-agent asks', async () => {
    await using ship = await startShip()
    const agent = connect({ url: ship.url, headers: ship.asOwner })

    const first = await ask(agent, 'mate, note')
    expect(first.end).toBe('interrupt')
    expect(first.types.filter((type) => type.startsWith('SUBAGENT'))).toEqual(['SUBAGENT_STARTED', 'SUBAGENT_FINISHED'])
    const second = await answer(agent, yes())

    expect(second.end).toBe('success')
    expect(second.types.filter((type) => type.startsWith('SUBAGENT'))).toEqual([
      'SUBAGENT_STARTED',
      'SUBAGENT_FINISHED',
    ])
    expect(last(agent)).toBe('The mate has it.')
    expect(await ship.done()).toEqual(['note the log'])
  })

  test('runs a tool of the page for a sub-agent', async () => {
    await using ship = await startShip()
    const agent = connect({ url: ship.url, headers: ship.asOwner })

    expect((await ask(agent, 'mate, ring')).end).toBe(version === '0.0.59' ? undefined : 'success')
    const made = agent.messages.flatMap(({ toolCalls = [] }) => toolCalls) as {
      id: string
      function: { name: string }
    }[]
    const call = made.find((one) => one.function.name === 'bell')
    agent.addMessage({ id: 'result', role: 'tool', toolCallId: call?.id ?? '', content: 'ding' })
    expect((await run(agent)).end).toBe('success')

    expect(said(agent)).toContainEqual(['tool', 'Rung.'])
    expect(last(agent)).toBe('The mate has it.')
  })

  test('continues with the agent that took over the conversation', async () => {
    await using ship = await startShip()
    const agent = connect({ url: ship.url, threadId: 'thread', headers: ship.asOwner })

    expect((await ask(agent, 'hand over')).end).toBe('success')
    expect(last(agent)).toBe('Mate speaking.')
    await ask(agent, 'hello')

    expect(last(agent)).toBe('Hello from below.')
  })

  test('gets a thread back with what it waits for, and can answer', async () => {
    await using ship = await startShip()
    const before = connect({ url: ship.url, threadId: 'thread', headers: ship.asOwner })
    await ask(before, 'note it')

    const after = connect({ url: ship.url, threadId: 'thread', headers: ship.asOwner })
    expect((await run(after)).end).toBe('interrupt')

    expect(after.messages).toEqual(before.messages)
    expect(after.pendingInterrupts).toEqual(before.pendingInterrupts)
    await answer(after, yes())
    expect(last(after)).toBe('Noted.')
  })
})

class BinaryAgent0 extends HttpAgent0 {
  override requestInit(input: Parameters<HttpAgent0['requestInit']>[0]): RequestInit {
    const init = super.requestInit(input)
    return { ...init, headers: { ...init.headers, Accept: PROTOBUF } }
  }
}

// Its binary form cannot express tool results, activities and sub-agents. It must be able to read the rest.
test.each([
  ['paint', 'Painted.'],
  ['mate', 'The mate has it.'],
  ['hand over', 'Mate speaking.'],
])('@ag-ui/client 0.0.59 with protobuf reads what it can of "%s"', async (question, end) => {
  await using ship = await startShip()
  const agent = new BinaryAgent0({ url: ship.url }) as unknown as Agent

  await ask(agent, question)

  expect(last(agent)).toBe(end)
})

test('@ag-ui/client 0.0.59 with protobuf can be asked, and answer', async () => {
  await using ship = await startShip()
  const agent = new BinaryAgent0({ url: ship.url }) as unknown as Agent

  const { end } = await ask(agent, 'note it')

  expect([end, agent.pendingInterrupts.length]).toEqual(['interrupt', 1])
})

describe('tools of every kind in one agent file', () => {
  /** A service of this machine. */
  async function startService() {
    const asked: string[] = []
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        asked.push(`${request.method} ${request.url} ${body}`.trim())
        response.setHeader('Content-Type', 'application/json')
        response.end(JSON.stringify({ asked: request.url }))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    return {
      url: `http://127.0.0.1:${port}`,
      asked,
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      },
    }
  }

  const openApi = (url: string) => ({
    openapi: '3.1.0',
    info: { title: 'Harbour', version: '1' },
    servers: [{ url }],
    paths: {
      '/ships/{name}': {
        get: {
          operationId: 'getShip',
          summary: 'Finds a ship by its name.',
          parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
          responses: { 200: { description: 'The ship.' } },
        },
      },
    },
  })

  test('are called through AG-UI: MCP over stdio, HTTP, OpenAPI, a prompt', async () => {
    await using service = await startService()
    const everything = packageScript('@modelcontextprotocol/server-everything')
    await using app = await startAgentFiles({
      'agent.yaml': `
name: harbour
description: Has tools of every kind.
model: { provider: scripted, script: script.json }
instructions: Use them.
approval: { default: never }
tools:
  - { type: mcp, name: everything, command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(everything)}], allow: [echo, get-sum] }
  - { type: http, name: tide, description: The tide at a place., url: "${service.url}/tide?at={place}",
      parameters: { place: { type: string } }, effect: read, allow_private: true }
  - { type: http, name: harbour, openapi: harbour.json, allow_private: true }
  - { type: prompt, name: sum_up, description: Sums a text up., template: "Sum up: {text}", parameters: { text: { type: string } } }
`,
      'harbour.json': openApi(service.url),
      'script.json': {
        answers: [
          { when: 'Sum up: a long story', parts: [{ text: 'Short.' }] },
          {
            when: { user: 'all' },
            times: 1,
            parts: calls(
              ['echo', { message: 'ahoy' }],
              ['tide', { place: 'Kiel & Co' }],
              ['getShip', { name: 'Sea/Cloud' }],
              ['sum_up', { text: 'a long story' }],
            ),
          },
          { parts: [{ text: 'All done.' }] },
        ],
      },
    })
    const agent = new HttpAgent1({ url: app.url }) as unknown as Agent
    // A run waits at most 5 s for its servers, which may be too short on a busy machine.
    await vi.waitFor(
      async () => expect(await (await fetch(`${app.url}/health`)).json()).toMatchObject({ status: 'healthy' }),
      { timeout: 50_000 },
    )

    expect((await ask(agent, 'all')).end).toBe('success')

    const results = new Map(
      agent.messages
        .filter(({ role }) => role === 'tool')
        .map(({ toolCallId, content }) => [toolCallId ?? '', String(content)]),
    )
    const made = agent.messages.flatMap(({ toolCalls = [] }) => toolCalls) as {
      id: string
      function: { name: string }
    }[]
    expect(Object.fromEntries(made.map(({ id, function: { name } }) => [name, results.get(id)]))).toEqual({
      echo: expect.stringContaining('ahoy'),
      tide: expect.stringContaining('/tide?at=Kiel%20%26%20Co'),
      getShip: expect.stringContaining('/ships/Sea%2FCloud'),
      sum_up: 'Short.',
    })
    expect(service.asked.toSorted()).toEqual(['GET /ships/Sea%2FCloud', 'GET /tide?at=Kiel%20%26%20Co'])
    expect(last(agent)).toBe('All done.')

    const { tools } = (await (await fetch(`${app.url}/tools`)).json()) as { tools: { name: string }[] }
    expect(tools.map(({ name }) => name).toSorted()).toEqual(
      ['echo', 'getShip', 'get_sum', 'sum_up', 'tide'].toSorted(),
    )
  })
})
