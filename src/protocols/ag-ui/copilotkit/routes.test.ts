import { describe, expect, test } from 'vitest'
import { outline, testTool } from '../../../engine/testing/open-engine.ts'
import { createGatedModel, stop, text } from '../../testing/gated-model.ts'
import { asAda, eventsOf, openDoors, refusalOf } from '../../testing/open-doors.ts'
import { calls, interruptsOf, openGatedDoors, says } from '../../testing/open-gated-doors.ts'
import { readSse } from '../../testing/sse-reader.ts'

const base = '/copilotkit/agent/default'
const user = (id: string) => ({ id, role: 'user', content: `text of ${id}` })
/** As CopilotKit 1.75 sends it, by `@ag-ui/client` 0.0.59. */
const input = (more: Record<string, unknown> = {}) => ({
  threadId: 'thread',
  runId: 'run-1',
  messages: [user('m1')],
  tools: [],
  context: [],
  forwardedProps: {},
  state: {},
  ...more,
})

describe('GET /copilotkit/info', () => {
  test('lists the agents, the default one also as `default`', async () => {
    await using doors = await openDoors()

    const agent = (name: string) => ({
      name,
      className: 'Quarterdeck',
      description: 'An agent for tests.',
      capabilities: expect.objectContaining({ transport: expect.objectContaining({ streaming: true }) }),
    })
    expect(await (await doors.get('/copilotkit/info')).json()).toEqual({
      version: '0.0.0-test',
      agents: { default: agent('default'), tester: agent('tester') },
      mode: 'sse',
      threadEndpoints: { list: true, inspect: false, mutations: false, realtimeMetadata: false },
      suggestions: false,
      audioFileTranscriptionEnabled: false,
      a2uiEnabled: false,
      openGenerativeUIEnabled: false,
      telemetryDisabled: true,
    })
  })

  test('leaves the name `default` to an agent that is called so', async () => {
    await using doors = await openDoors({ agent: { name: 'default' } })

    const { agents } = (await (await doors.get('/copilotkit/info')).json()) as { agents: Record<string, unknown> }

    expect(Object.keys(agents)).toEqual(['default'])
    expect((await doors.run(`${base}/run`, input())).length).toBeGreaterThan(0)
  })
})

describe('POST /copilotkit/agent/{name}/run', () => {
  test.each(['default', 'tester'])('runs the agent as %s', async (name) => {
    await using doors = await openDoors()

    const frames = await doors.run(`/copilotkit/agent/${name}/run`, input())

    expect(outline(eventsOf(frames))).toEqual([
      'RUN_STARTED',
      'STEP_STARTED step_1',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT Hello.',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED step_1',
      'RUN_FINISHED success',
    ])
  })

  test('knows no agent of another name', async () => {
    await using doors = await openDoors()

    for (const path of ['run', 'connect', 'stop/thread']) {
      const response = await doors.post(`/copilotkit/agent/nobody/${path}`, input())
      expect(await refusalOf(response)).toEqual({ status: 404, code: 'agent_not_found' })
    }
  })
})

describe('POST /copilotkit/agent/{name}/connect', () => {
  test('shows the conversation and ends when nothing runs', async () => {
    await using doors = await openDoors()
    await doors.run(`${base}/run`, input())

    const frames = await doors.run(`${base}/connect`, input({ runId: 'connect-1', messages: [] }))

    expect(eventsOf(frames)).toEqual([
      expect.objectContaining({ type: 'RUN_STARTED', threadId: 'thread', runId: 'connect-1' }),
      expect.objectContaining({
        type: 'MESSAGES_SNAPSHOT',
        messages: [user('m1'), { id: expect.any(String), role: 'assistant', content: 'Hello.' }],
      }),
      expect.objectContaining({ type: 'RUN_FINISHED', threadId: 'thread', runId: 'connect-1' }),
    ])
  })

  test('follows the active run from its beginning to its end', async () => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    model.say(text('One'), stop)
    await doors.run(`${base}/run`, input())
    const running = readSse(
      await doors.post(`${base}/run`, input({ runId: 'run-2', messages: [user('m1'), user('m2')] })),
    )
    model.say(text('Two'))
    const soFar = await running.until('Two')

    const reader = readSse(await doors.post(`${base}/connect`, input({ runId: 'connect-1', messages: [] })))
    const [, shown, ...replayed] = await reader.until('Two')
    model.say(text('Three'), stop)

    expect(JSON.parse(shown?.data ?? '')).toMatchObject({
      messages: [user('m1'), { role: 'assistant', content: 'One' }, user('m2')],
    })
    expect(replayed).toEqual(soFar.slice(1))
    expect(await reader.rest()).toEqual(await running.rest())
  })

  test('shows a message of the active run once', async () => {
    const model = createGatedModel()
    const look = testTool({
      name: 'look',
      description: 'Looks.',
      parameters: { type: 'object' },
      effect: 'read',
      timeoutMs: 1_000,
      call: async () => ({ content: 'a ship', isError: false }),
    })
    await using doors = await openDoors({ model, tools: [look] })
    const running = readSse(await doors.post(`${base}/run`, input()))
    model.say(
      text('Let me look.'),
      { type: 'tool_call_start', id: 'c1', name: 'look' },
      { type: 'tool_call_args', id: 'c1', delta: '{}' },
      { type: 'tool_call_end', id: 'c1' },
      { type: 'finish', reason: 'tool_calls' },
    )
    await running.until('TOOL_CALL_RESULT')

    const reader = readSse(await doors.post(`${base}/connect`, input({ runId: 'connect-1', messages: [] })))
    const [, snapshot] = eventsOf(await reader.until('MESSAGES_SNAPSHOT'))

    expect(snapshot).toMatchObject({ type: 'MESSAGES_SNAPSHOT', messages: [user('m1')] })
    await Promise.all([reader.close(), running.close()])
  })

  test('of a thread that nobody knows shows nothing and creates nothing', async () => {
    await using doors = await openDoors()

    const frames = await doors.run(`${base}/connect`, input())

    expect(eventsOf(frames).map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
    expect(await doors.engine.sessions.find('local_user', 'thread')).toBeNull()
  })
})

describe('POST /copilotkit/agent/{name}/stop/{threadId}', () => {
  const stopped = {
    stopped: true,
    interrupt: { type: 'RUN_ERROR', message: 'Run stopped by user', code: 'STOPPED' },
  }

  test.each([
    ['without a body', undefined],
    ['with an empty scope', {}],
    ['with the id of the run', { runId: 'run-1' }],
  ])('stops the active run %s', async (_how, scope) => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    const running = readSse(await doors.post(`${base}/run`, input()))
    await running.until('RUN_STARTED')

    const response = await doors.post(`${base}/stop/thread`, scope)

    expect([response.status, await response.json()]).toEqual([200, stopped])
    expect(outline(eventsOf(await running.rest())).at(-1)).toBe('RUN_FINISHED undefined')
  })

  test.each([
    ['0.x', {}, {}],
    ['1.0', { protocolVersion: '1.0' }, { outcome: { type: 'cancelled' } }],
  ])('is no failure to %s clients, neither to the one that ran nor to one that joined', async (_version, says, end) => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    const running = readSse(await doors.post(`${base}/run`, input(says)))
    await running.until('RUN_STARTED')
    const joined = readSse(await doors.post(`${base}/connect`, input({ runId: 'connect-1', messages: [], ...says })))
    await joined.until('MESSAGES_SNAPSHOT')

    await doors.post(`${base}/stop/thread`, undefined)

    const [last] = eventsOf(await running.rest()).slice(-1)
    expect(last).toEqual({
      type: 'RUN_FINISHED',
      threadId: 'thread',
      runId: 'run-1',
      timestamp: expect.any(Number),
      ...end,
    })
    expect(eventsOf(await joined.rest()).at(-1)).toEqual(last)
    expect((await doors.engine.runs.get('local_user', 'run-1')).status).toBe('cancelled')
  })

  test('says when there is nothing to stop', async () => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    const running = readSse(await doors.post(`${base}/run`, input()))
    await running.until('RUN_STARTED')
    const stop = async (path: string, body?: unknown, headers?: Record<string, string>) =>
      (await doors.post(`${base}/stop/${path}`, body, headers)).json()

    expect(await stop('nobody')).toEqual({ stopped: false, message: "No active run for thread 'nobody'." })
    expect(await stop('thread', undefined, asAda)).toEqual({
      stopped: false,
      message: "No active run for thread 'thread'.",
    })
    expect(await stop('thread', { runId: 'run-0' })).toEqual({
      stopped: false,
      message: "Run 'run-0' is not the active run for thread 'thread'.",
    })
    await running.close()
  })

  test.each([{ runId: '' }, { runId: 7 }, { other: 1 }, []])('refuses %j', async (scope) => {
    await using doors = await openDoors()

    expect(await refusalOf(await doors.post(`${base}/stop/thread`, scope))).toEqual({
      status: 400,
      code: 'invalid_request',
    })
  })
})

describe('GET /copilotkit/threads', () => {
  const thread = (id: string) => ({
    id,
    organizationId: '',
    agentId: 'default',
    createdById: 'local_user',
    name: null,
    archived: false,
    createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    updatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    lastRunAt: expect.stringMatching(/^\d{4}-.*Z$/),
  })

  test("lists the caller's threads, newest first, page by page", async () => {
    await using doors = await openDoors()
    for (const threadId of ['a', 'b', 'c']) await doors.run(`${base}/run`, input({ threadId }))
    await doors.run(`${base}/run`, input({ threadId: 'hers' }), asAda)
    const list = async (query: string) => (await doors.get(`/copilotkit/threads?agentId=default${query}`)).json()

    expect(await list('')).toEqual({ threads: [thread('c'), thread('b'), thread('a')], nextCursor: null })
    const page = (await list('&limit=2')) as { threads: unknown; nextCursor: string }
    expect(page).toEqual({ threads: [thread('c'), thread('b')], nextCursor: expect.any(String) })
    const next = await list(`&limit=2&includeArchived=true&cursor=${encodeURIComponent(page.nextCursor)}`)
    expect(next).toEqual({ threads: [thread('a')], nextCursor: null })
  })

  test('knows no agent of another name, and no cursor of another list', async () => {
    await using doors = await openDoors()

    const nobody = await doors.get('/copilotkit/threads?agentId=nobody')
    expect(await refusalOf(nobody)).toEqual({ status: 404, code: 'agent_not_found' })
    const elsewhere = await doors.get('/copilotkit/threads?agentId=default&cursor=x')
    expect(await refusalOf(elsewhere)).toEqual({ status: 400, code: 'invalid_request' })
  })
})

describe('POST /copilotkit, the single route', () => {
  const call = (method: string, params?: Record<string, string>, body?: unknown) => ({ method, params, body })

  test('answers info', async () => {
    await using doors = await openDoors()

    const response = await doors.post('/copilotkit', call('info'))

    expect(await response.json()).toEqual(await (await doors.get('/copilotkit/info')).json())
  })

  test.each(['/copilotkit', '/copilotkit/'])('runs an agent and shows the thread at %s', async (path) => {
    await using doors = await openDoors()

    const ran = await doors.run(path, call('agent/run', { agentId: 'default' }, input()))
    const shown = await doors.run(
      path,
      call('agent/connect', { agentId: 'tester' }, input({ runId: 'connect-1', messages: [] })),
    )

    expect(outline(eventsOf(ran)).at(-1)).toBe('RUN_FINISHED success')
    expect(eventsOf(shown)[1]).toMatchObject({ messages: [user('m1'), { role: 'assistant', content: 'Hello.' }] })
  })

  test.each([
    ['the active run', undefined],
    ['the run that is named', { runId: 'run-1' }],
  ])('stops %s', async (_which, scope) => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    const running = readSse(await doors.post('/copilotkit', call('agent/run', { agentId: 'default' }, input())))
    await running.until('RUN_STARTED')

    const response = await doors.post(
      '/copilotkit',
      call('agent/stop', { agentId: 'default', threadId: 'thread' }, scope),
    )

    expect(await response.json()).toMatchObject({ stopped: true })
    expect(outline(eventsOf(await running.rest())).at(-1)).toBe('RUN_FINISHED undefined')
  })

  test('takes the same run to another agent for another request, as the routes do', async () => {
    await using doors = await openDoors()
    const key = { 'Idempotency-Key': 'once' }
    const run = (agentId: string) => doors.post('/copilotkit', call('agent/run', { agentId }, input()), key)
    await readSse(await run('default')).rest()

    expect(await refusalOf(await run('tester'))).toEqual({ status: 422, code: 'idempotency_mismatch' })
    expect((await run('default')).status).toBe(200)
    expect((await doors.post(`${base}/run`, input(), key)).status).toBe(200)
  })

  test.each([
    ['an unknown agent', call('agent/run', { agentId: 'nobody' }, input()), 404, 'agent_not_found'],
    ['no input', call('agent/run', { agentId: 'default' }), 400, 'invalid_request'],
    ['no agent', call('agent/connect', {}, input()), 400, 'invalid_request'],
    ['a stop without a thread', call('agent/stop', { agentId: 'default' }), 400, 'invalid_request'],
    ['a stop of something else', call('agent/stop', { agentId: 'default', threadId: 't' }, []), 400, 'invalid_request'],
    ['a method that is not served', call('transcribe'), 400, 'invalid_request'],
    ['the GraphQL of old versions', { operationName: 'availableAgents', query: '…' }, 400, 'invalid_request'],
    ['a list', [], 400, 'invalid_request'],
  ])('refuses %s', async (_what, body, status, code) => {
    await using doors = await openDoors()

    expect(await refusalOf(await doors.post('/copilotkit', body))).toEqual({ status, code })
  })
})

describe('a thread that waits', () => {
  const ask = { answers: [says('One moment.'), calls(['note', 'bob']), says('Done.')] }
  const talk = { messages: [user('m0')], runId: 'run-0' }

  test.each(['0.x', '1.0'])('is shown again with the interrupt of its run, to a %s client', async (version) => {
    await using doors = await openGatedDoors(ask)
    const spoken = version === '1.0' ? { protocolVersion: version } : {}
    await doors.run(`${base}/run`, input({ ...talk, ...spoken }))
    const asked = await doors.run(`${base}/run`, input(spoken))

    const frames = await doors.run(`${base}/connect`, input({ ...spoken, runId: 'look', messages: [] }))

    const [started, shown, call, ...rest] = eventsOf(frames)
    expect([started?.type, rest.length]).toEqual(['RUN_STARTED', 3])
    expect(shown).toMatchObject({ messages: [{ id: 'm0' }, { content: 'One moment.' }, { id: 'm1' }] })
    expect(call).toMatchObject({ type: 'TOOL_CALL_START', toolCallName: 'note' })
    const [first] = interruptsOf(asked)
    expect(interruptsOf(frames)).toMatchObject([{ id: first?.id }])
    // With it, CopilotKit would show the call as done once somebody answers, also if the answer is refused.
    for (const one of [...interruptsOf(asked), ...interruptsOf(frames)]) expect(one).not.toHaveProperty('toolCallId')
  })

  test('continues after a `resume` with a token, and then shows nothing left to answer', async () => {
    await using doors = await openGatedDoors({ answers: [calls(['note', 'bob']), says('Done.')] })
    const [{ id } = { id: '' }] = interruptsOf(await doors.run(`${base}/run`, input()))
    const resume = [{ interruptId: id, status: 'resolved', payload: { approved: true } }]

    const refused = await doors.post(`${base}/run`, input({ runId: 'run-2', resume }), {})
    expect(await refusalOf(refused)).toEqual({ status: 403, code: 'forbidden' })
    const frames = await doors.run(`${base}/run`, input({ runId: 'run-2', resume }))

    expect(outline(eventsOf(frames)).at(-1)).toBe('RUN_FINISHED success')
    const connected = await doors.run(`${base}/connect`, input({ runId: 'look', messages: [] }))
    expect(outline(eventsOf(connected))).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED success'])
  })

  test('passes over the tool message with which CopilotKit repeats the answer to an interrupt', async () => {
    await using doors = await openGatedDoors({ answers: [calls(['note', 'bob']), says('Done.')] })
    const asked = await doors.run(`${base}/run`, input())
    const [{ id } = { id: '' }] = interruptsOf(asked)
    const toolCallId = eventsOf(asked).flatMap((event) => (event.type === 'TOOL_CALL_START' ? event.toolCallId : []))[0]
    const resume = [{ interruptId: id, status: 'resolved', payload: { approved: true } }]
    const repeated = { id: 'x', role: 'tool', toolCallId, content: '{"approved":true}' }

    await doors.run(`${base}/run`, input({ runId: 'run-2', resume, messages: [user('m1'), repeated] }))

    const session = await doors.engine.sessions.get('local_user', 'thread')
    const stored = await doors.engine.messages.page(session.id, 10)
    expect(stored.map(({ role, content }) => [role, content]).slice(2)).toEqual([
      ['tool', 'note: bob'],
      ['assistant', 'Done.'],
    ])
  })

  test('is stopped like one that runs', async () => {
    await using doors = await openGatedDoors({ answers: [calls(['note', 'bob'])] })
    const [{ id } = { id: '' }] = interruptsOf(await doors.run(`${base}/run`, input()))

    const response = await doors.post(`${base}/stop/thread`, undefined)

    expect(await response.json()).toMatchObject({ stopped: true })
    expect(await (await doors.get(`/approvals/${id}`)).json()).toMatchObject({ status: 'interrupted' })
  })
})
