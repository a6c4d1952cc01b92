import { describe, expect, test } from 'vitest'
import { type Clock, createSystemClock } from '../../domain/clock.ts'
import { scripted, type TestEngineOptions, testAgent, testTool } from '../../engine/testing/open-engine.ts'
import { openJanitor } from '../../engine/testing/open-janitor.ts'
import { until } from '../../http/testing/server-fixture.ts'
import type { Model, ModelRequest } from '../../models/model.ts'
import type { ScriptedPart } from '../../models/scripted/script.ts'
import { createStaticToolbox } from '../../tools/create-toolbox.ts'
import type { ClientTool, ServerTool } from '../../tools/tool.ts'
import { operator, risky, riskyWork } from '../shared/answer/testing/asking-gate.ts'
import { openChat, refusalOf } from '../shared/chat-route/testing/open-chat.ts'
import { createGatedModel, stop, text } from '../testing/gated-model.ts'
import { asAda } from '../testing/open-doors.ts'
import type { Frame, SseReader } from '../testing/sse-reader.ts'
import { ThreadAnswerSchema, type ThreadEvent, ThreadEventSchema, ThreadSchema, WaitingSchema } from './schema.ts'

type Doors = Awaited<ReturnType<typeof openChat>>
type Asked = Extract<ThreadEvent, { event: 'tool_execution_request' }>

const look = testTool({ name: 'look', call: async () => ({ content: 'Fog.', isError: false }) })
const atClient = ({ call: _call, ...tool }: ServerTool): ClientTool => ({
  ...tool,
  location: 'client',
  timeoutMs: 30_000,
})
const pick = atClient({ ...look, name: 'pick', parameters: { type: 'object', properties: { of: { type: 'string' } } } })
const picking = (...of: string[]) => of.map((one) => ({ tool_call: { name: 'pick', arguments: { of: one } } }))
const done = { parts: [{ text: 'Red ' }, { text: 'it is.' }] }

const open = (options: TestEngineOptions = {}) =>
  openChat({
    tools: [look, pick],
    answers: [{ parts: [{ text: 'Pick one.' }, ...picking('colour')] }, done],
    ...options,
  })

const eventOf = ({ data }: Frame): ThreadEvent => ThreadEventSchema.parse(JSON.parse(data))
const go = (doors: Doors, body: object = {}) => doors.stream({ message: 'Go', stream: true, ...body })
const answer = (doors: Doors, execution_id: string | undefined, result: object, headers?: Record<string, string>) =>
  doors.post('/tool_result', { execution_id, execution_time_ms: 12, ...result }, headers)

/** Reads on to the last of `count` requests. */
async function untilAsked(reader: SseReader, count = 1): Promise<{ frames: Frame[]; asked: Asked[] }> {
  const frames: Frame[] = []
  for (let left = count; left > 0; left -= 1) frames.push(...(await reader.until('"tool_execution_request"')))
  const asked = frames.map(eventOf).filter((event) => event.event === 'tool_execution_request')
  return { frames, asked }
}

const rest = async (reader: SseReader) => (await reader.rest()).map(eventOf)

/** Each event in a word or two. */
const outline = (events: readonly ThreadEvent[]): string[] =>
  events.map((event) => {
    if (event.event === 'token') return `token ${event.token}`
    if (event.event === 'message_complete') return `message_complete ${event.message.content}`
    if (event.event === 'error') return `error ${event.error_type}`
    return 'tool_name' in event ? `${event.event} ${event.tool_name}` : event.event
  })

/** A clock whose long timers fire when the test says so. */
function heldClock() {
  const system = createSystemClock()
  const held = new Set<() => void>()
  const clock: Clock = {
    ...system,
    after(ms, fire, hold) {
      if (ms < 20_000 || ms > 40_000) return system.after(ms, fire, hold)
      held.add(fire)
      return () => void held.delete(fire)
    },
  }
  return { clock, held }
}

describe('a tool of the client', () => {
  test('is requested in the stream, which continues with its result to one whole message', async () => {
    const requests: ModelRequest[] = []
    await using doors = await open({ onRequest: (request) => requests.push(request) })
    const reader = await go(doors, { metadata: { page: 1 } })
    const { frames, asked } = await untilAsked(reader)

    const received = await answer(doors, asked[0]?.execution_id, { result: { name: 'red' } })
    expect([received.status, await received.json()]).toEqual([200, { status: 'received' }])
    const last = await reader.rest()

    const [session] = await doors.engine.sessions.list({ owner: 'local_user', limit: 1 })
    const shared = { thread_id: session?.id, timestamp: expect.any(String) }
    const ids = { execution_id: asked[0]?.execution_id, tool_call_id: asked[0]?.tool_call_id }
    expect([...frames, ...last].map(eventOf)).toEqual([
      { event: 'token', ...shared, token: 'Pick one.' },
      { event: 'tool_execution_request', ...shared, ...ids, tool_name: 'pick', arguments: { of: 'colour' } },
      { event: 'tool_execution_complete', ...shared, ...ids },
      { event: 'token', ...shared, token: '\n\nRed ' },
      { event: 'token', ...shared, token: 'it is.' },
      {
        event: 'message_complete',
        ...shared,
        message: {
          role: 'assistant',
          content: 'Pick one.\n\nRed it is.',
          timestamp: expect.any(String),
          tool_calls: [
            { tool_name: 'pick', arguments: { of: 'colour' }, result: { name: 'red' }, execution_time_ms: 12 },
          ],
          metadata: { page: 1 },
        },
      },
    ])
    expect(asked[0]?.execution_id).toMatch(/^[0-9a-f-]{36}$/)
    const seqs = [...frames, ...last].map(({ id }) => Number(id?.split('.')[1]))
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
    expect(requests[1]?.messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Go'],
      ['assistant', 'Pick one.'],
      ['tool', '{"name":"red"}'],
    ])
  })

  test('is in the history with its result, and so is the metadata of the request', async () => {
    await using doors = await open()
    const reader = await go(doors, { metadata: { page: 1 } })
    const { asked } = await untilAsked(reader)
    await answer(doors, asked[0]?.execution_id, { error: 'No paint.' })
    await reader.rest()

    const thread = ThreadSchema.parse(await (await doors.get(`/threads/${asked[0]?.thread_id}`)).json())

    const failed = { tool_name: 'pick', arguments: { of: 'colour' }, error: 'No paint.', execution_time_ms: 12 }
    expect(thread.message_history.map(({ role, content, tool_calls }) => [role, content, tool_calls])).toEqual([
      ['user', 'Go', null],
      ['assistant', 'Pick one.', [failed]],
      ['tool', 'No paint.', null],
      ['assistant', 'Red it is.', null],
    ])
    expect(thread.message_history.map(({ metadata }) => metadata.page)).toEqual([1, 1, 1, 1])
  })

  test.each([
    ['one after the other', false],
    ['at the same time', true],
  ])('may be called several times in one step and answered %s', async (_how, together) => {
    await using doors = await open({ answers: [{ parts: picking('a', 'b', 'c') }, done] })
    const reader = await go(doors)
    const { asked } = await untilAsked(reader, 3)
    const ids = asked.map(({ execution_id }) => execution_id)
    expect(asked.map(({ arguments: args }) => args.of)).toEqual(['a', 'b', 'c'])

    const results = ids.map((id, i) => () => answer(doors, id, { result: `${i}` }))
    const statuses: number[] = []
    if (together) statuses.push(...(await Promise.all(results.map((send) => send()))).map(({ status }) => status))
    else for (const send of results.toReversed()) statuses.push((await send()).status)
    expect(statuses).toEqual([200, 200, 200])
    const events = await rest(reader)

    const completed = events.flatMap((one) => (one.event === 'tool_execution_complete' ? [one.execution_id] : []))
    expect(completed.toSorted()).toEqual(ids.toSorted())
    expect(outline(events.slice(3))).toEqual(['token Red ', 'token it is.', 'message_complete Red it is.'])
    expect(events.at(-1)).toMatchObject({
      message: { tool_calls: [0, 1, 2].map((result) => ({ result, execution_time_ms: 12 })) },
    })
  })

  test('or of the server that returns null has the result null', async () => {
    const nothing = testTool({ name: 'nothing', call: async () => ({ content: 'null', isError: false }) })
    const call = { tool_call: { name: 'nothing', arguments: {} } }
    await using doors = await open({ tools: [nothing], answers: [{ parts: [call] }, done] })

    const events = await rest(await go(doors))

    expect(events[1]).toMatchObject({ event: 'tool_end', result: null })
    expect(events[1]).not.toHaveProperty('error')
    expect(events.at(-1)).toMatchObject({ message: { tool_calls: [{ tool_name: 'nothing', result: null }] } })
  })

  test('and a tool of the server may be called in one step', async () => {
    const call = { tool_call: { name: 'look', arguments: {} } }
    await using doors = await open({ answers: [{ parts: [call, ...picking('colour')] }, done] })
    const reader = await go(doors)
    const { frames, asked } = await untilAsked(reader)
    expect(outline(frames.map(eventOf))).toEqual(['tool_start look', 'tool_end look', 'tool_execution_request pick'])
    await answer(doors, asked[0]?.execution_id, { result: ['a', null], error: null })

    const last = (await rest(reader)).at(-1)

    expect(last).toMatchObject({ message: { tool_calls: [{ result: 'Fog.' }, { result: ['a', null] }] } })
  })

  test('that does not answer in time is an error for the model, and the stream continues', async () => {
    const { clock, held } = heldClock()
    const requests: ModelRequest[] = []
    await using doors = await open({ clock, onRequest: (request) => requests.push(request) })
    const reader = await go(doors)
    const { asked } = await untilAsked(reader)
    await until(() => held.size === 1)

    for (const fire of held) fire()
    const events = await rest(reader)

    const error = 'The client did not answer in time.'
    expect(outline(events)).toEqual([
      'tool_execution_complete',
      'token \n\nRed ',
      'token it is.',
      'message_complete Pick one.\n\nRed it is.',
    ])
    expect(events[0]).toMatchObject({ execution_id: asked[0]?.execution_id, error })
    expect(events.at(-1)).toMatchObject({ message: { tool_calls: [{ tool_name: 'pick', error }] } })
    expect(requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: error, isError: true })
    const late = await refusalOf(await answer(doors, asked[0]?.execution_id, { result: 'red' }))
    expect(late).toMatchObject({ status: 410, code: 'tool_call_expired' })
  })

  test('is answered once, by its owner', async () => {
    await using doors = await open()
    const reader = await go(doors)
    const { asked } = await untilAsked(reader)
    const id = asked[0]?.execution_id

    const foreign = await refusalOf(await answer(doors, id, { result: 1 }, asAda))
    expect(foreign).toMatchObject({ status: 404, code: 'tool_call_not_found' })
    expect((await answer(doors, id, { result: 1 })).status).toBe(200)
    const second = await refusalOf(await answer(doors, id, { result: 2 }))
    expect(second).toMatchObject({ status: 409, code: 'tool_call_answered' })
    expect((await rest(reader)).at(-1)).toMatchObject({ message: { tool_calls: [{ result: 1 }] } })
  })

  const helped = (model: Model, ...more: ScriptedPart[]): TestEngineOptions => {
    const { call: _call, ...rules } = look
    const definition = { ...testAgent, name: 'helper', default: false, internal: true }
    const asking = { tool_call: { name: 'ask_helper', arguments: { message: 'Which?' } } }
    return {
      tools: [{ ...rules, location: 'agent', name: 'ask_helper', agent: 'helper', handoff: false }, pick],
      others: [{ definition, model, toolbox: createStaticToolbox([pick]) }],
      answers: [{ parts: [asking, ...more] }, done],
    }
  }

  test('that a sub-agent calls is asked for like any other', async () => {
    const model = scripted([{ parts: picking('colour') }, { parts: [{ text: 'They like red.' }] }])
    await using doors = await open(helped(model))
    const reader = await go(doors)
    const { frames, asked } = await untilAsked(reader)
    await answer(doors, asked[0]?.execution_id, { result: 'red' })

    expect(outline([...frames.map(eventOf), ...(await rest(reader))])).toEqual([
      'tool_start ask_helper',
      'tool_execution_request pick',
      'tool_execution_complete',
      'tool_end ask_helper',
      'token Red ',
      'token it is.',
      'message_complete Red it is.',
    ])
  })

  test('may answer while the run is at work on something else', async () => {
    const model = createGatedModel()
    await using doors = await open(helped(model, ...picking('own')))
    const reader = await go(doors)
    model.say(
      { type: 'tool_call_start', id: 'c', name: 'pick' },
      { type: 'tool_call_args', id: 'c', delta: '{"of":"inner"}' },
      { type: 'tool_call_end', id: 'c' },
      { type: 'finish', reason: 'tool_calls' },
    )
    const { asked } = await untilAsked(reader, 2)
    const named = (of: string) => asked.find(({ arguments: args }) => args.of === of)?.execution_id
    await answer(doors, named('inner'), { result: 'red' })
    await until(() => model.requests.length === 2)

    expect((await answer(doors, named('own'), { result: 'blue' })).status).toBe(200)
    model.say(text('They like red.'), stop)
    const events = await rest(reader)

    expect(outline(events)).toEqual([
      'tool_execution_complete',
      'tool_end ask_helper',
      'tool_execution_complete',
      'token Red ',
      'token it is.',
      'message_complete Red it is.',
    ])
    expect(events.at(-1)).toMatchObject({
      message: {
        tool_calls: [
          { tool_name: 'ask_helper', result: 'They like red.' },
          { tool_name: 'pick', result: 'blue', execution_time_ms: 12 },
        ],
      },
    })
  })

  test('keeps a new message out while it is open', async () => {
    await using doors = await open()
    const { asked } = await untilAsked(await go(doors))

    const refused = await doors.post('/chat', { message: 'And?', thread_id: asked[0]?.thread_id })

    expect(await refusalOf(refused)).toMatchObject({ status: 409, code: 'approval_pending' })
  })
})

describe('a reader of work that waits for the client', () => {
  test('may leave and come back at any place, over the ends of the runs', async () => {
    await using doors = await open({ answers: [{ parts: [{ text: 'Pick.' }, ...picking('a', 'b')] }, done] })
    const first = await go(doors)
    const { frames, asked } = await untilAsked(first, 2)
    await first.close()
    await until(() => doors.engine.stats().readers === 0)
    const back = (id: string | undefined) =>
      doors.stream({ message: 'Go', stream: true }, { 'Last-Event-ID': id ?? '' })

    const second = await back(frames.at(-1)?.id)
    await until(() => doors.engine.stats().readers === 1)
    await answer(doors, asked[0]?.execution_id, { result: 'x' })
    await answer(doors, asked[1]?.execution_id, { result: 'y' })
    const live = await second.rest()

    const all = [...frames, ...live]
    expect(outline(all.map(eventOf))).toEqual([
      'token Pick.',
      'tool_execution_request pick',
      'tool_execution_request pick',
      'tool_execution_complete',
      'tool_execution_complete',
      'token \n\nRed ',
      'token it is.',
      'message_complete Pick.\n\nRed it is.',
    ])
    expect(all.map(eventOf).at(-1)).toMatchObject({ message: { tool_calls: [{ result: 'x' }, { result: 'y' }] } })
    for (const [i, { id }] of all.entries()) {
      if (id === undefined || i === all.length - 1) continue
      expect(await (await back(id)).rest()).toEqual(all.slice(i + 1))
    }
    const over = await doors.post('/chat', { message: 'Go', stream: true }, { 'Last-Event-ID': all.at(-1)?.id ?? '' })
    expect(over.status).toBe(204)
  })

  test('may never come back: the run continues without it when its time is up', async () => {
    const system = createSystemClock()
    let later = 0
    const clock = { ...system, now: () => system.now() + later, mono: () => system.mono() + later }
    await using doors = await open({ clock })
    const { engine, store, log } = doors
    const janitor = openJanitor({ engine, store, log, clock })
    const reader = await go(doors)
    const { asked } = await untilAsked(reader)
    await reader.close()
    await until(() => engine.stats().readers === 0)

    later = 31_000
    await janitor.sweep()
    await until(() => engine.stats().runsFinished.completed === 1)

    const thread = ThreadSchema.parse(await (await doors.get(`/threads/${asked[0]?.thread_id}`)).json())
    expect(thread.message_history.slice(2).map(({ role, content }) => [role, content])).toEqual([
      ['tool', 'The client did not answer in time.'],
      ['assistant', 'Red it is.'],
    ])
    // It is the time that the call waited.
    expect(thread.message_history[1]?.tool_calls?.[0]?.execution_time_ms).toBeGreaterThanOrEqual(30_000)
  })

  test('is told at once what to do where it has no stream', async () => {
    await using doors = await open()
    const body = { message: 'Go', stream: false }
    const repeated = { 'Idempotency-Key': 'once' }
    const response = await doors.post('/chat', body, repeated)
    const waiting = WaitingSchema.parse(await response.json())

    const [session] = await doors.engine.sessions.list({ owner: 'local_user', limit: 1 })
    const [run] = await doors.engine.runs.open(session?.id ?? '')
    const [call] = await doors.engine.waits.openClientCalls(session?.id ?? '')
    expect([response.status, waiting]).toEqual([
      202,
      {
        status: 'waiting',
        thread_id: session?.id,
        run_id: run?.wireId,
        approval_ids: [],
        tool_executions: [
          { execution_id: call?.id, tool_call_id: call?.callId, tool_name: 'pick', arguments: { of: 'colour' } },
        ],
      },
    ])
    expect((await answer(doors, waiting.tool_executions?.[0]?.execution_id, { result: 'red' })).status).toBe(200)
    await until(() => doors.engine.stats().runsFinished.completed === 1)
    const again = await doors.post('/chat', body, repeated)
    expect(again.status).toBe(200)
    expect(ThreadAnswerSchema.parse(await again.json()).message).toMatchObject({
      content: 'Pick one.\n\nRed it is.',
      tool_calls: [{ tool_name: 'pick', result: 'red', execution_time_ms: 12 }],
    })
  })

  test('hears that the run was stopped while it waited', async () => {
    await using doors = await open()
    const reader = await go(doors)
    const { asked } = await untilAsked(reader)
    const [run] = await doors.engine.runs.open(asked[0]?.thread_id ?? '')

    await doors.post(`/runs/${run?.id}/cancel`, {})

    expect(await rest(reader)).toMatchObject([{ event: 'error', error_type: 'cancelled' }])
    const late = await refusalOf(await answer(doors, asked[0]?.execution_id, { result: 'red' }))
    expect(late).toMatchObject({ status: 410 })
  })

  test('hears that the thread was deleted while it waited', async () => {
    await using doors = await open()
    const reader = await go(doors)
    const { asked } = await untilAsked(reader)

    expect((await doors.remove(`/threads/${asked[0]?.thread_id}`)).status).toBe(204)

    expect(await rest(reader)).toMatchObject([{ event: 'error', error_type: 'cancelled' }])
  })

  test('hears that another door went on without the client', async () => {
    await using doors = await open()
    const reader = await go(doors)
    const { frames, asked } = await untilAsked(reader)
    const [first] = frames
    const messages = [{ id: 'm', role: 'user', content: 'Never mind.' }]

    await (await doors.post('/', { threadId: asked[0]?.thread_id, runId: 'r', messages })).text()

    const givenUp = { event: 'error', error_type: 'cancelled', recoverable: true }
    expect(await rest(reader)).toMatchObject([givenUp])
    const again = await doors.stream({ message: 'Go', stream: true }, { 'Last-Event-ID': first?.id ?? '' })
    expect(await rest(again)).toMatchObject([{ event: 'tool_execution_request' }, givenUp])
  })

  test('hears that the server stops', async () => {
    await using doors = await open()
    const reader = await go(doors)
    await untilAsked(reader)

    await doors.engine.drain(0)

    expect(await rest(reader)).toMatchObject([{ event: 'error', error_type: 'shutdown', recoverable: true }])
  })

  test('is asked to do its part where a person has to decide in the same step', async () => {
    const answers = [
      ...riskyWork.answers.slice(0, 2),
      { parts: [...picking('colour'), { tool_call: { name: 'send', arguments: {} } }] },
    ]
    await using doors = await open({ ...riskyWork, tools: [pick, risky], answers })

    const events = await rest(await go(doors))

    expect(outline(events)).toEqual(['tool_execution_request pick', 'message_complete  '])
    const [asked] = events.filter((event) => event.event === 'tool_execution_request')
    expect((await answer(doors, asked?.execution_id, { result: 'red' })).status).toBe(200)
    await until(() => doors.engine.stats().activeRuns === 0)
    const [approval] = await doors.approvals.list({ by: operator, limit: 1 })
    await doors.approvals.decide(operator, approval?.id ?? '', { decision: 'approve' })
    await until(() => doors.engine.stats().activeRuns === 0)
    const thread = ThreadSchema.parse(await (await doors.get(`/threads/${asked?.thread_id}`)).json())
    expect(thread.message_history.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Go'],
      ['assistant', ' '],
      ['tool', 'red'],
      ['tool', 'Sent.'],
      ['assistant', 'Done.'],
    ])
  })

  test('continues when the result comes through another protocol', async () => {
    await using doors = await open()
    const reader = await go(doors)
    const { asked } = await untilAsked(reader)
    const { thread_id: threadId, tool_call_id: toolCallId } = asked[0] ?? {}
    const messages = [{ id: 'm', role: 'tool', content: 'red', toolCallId }]

    await (await doors.post('/', { threadId, runId: 'r', parentRunId: 'mine', messages })).text()

    expect(outline(await rest(reader)).at(-1)).toBe('message_complete Pick one.\n\nRed it is.')
  })

  test('is told that a person has to decide, where one has to', async () => {
    const answers = [{ parts: picking('colour') }, ...riskyWork.answers]
    await using doors = await open({ ...riskyWork, tools: [pick, risky], answers })
    const reader = await go(doors)
    const { asked } = await untilAsked(reader)
    await answer(doors, asked[0]?.execution_id, { result: 'red' })

    const last = (await rest(reader)).at(-1)

    const [approval] = await doors.approvals.list({ by: operator, limit: 1 })
    expect(last).toMatchObject({
      event: 'message_complete',
      status: 'waiting',
      run_id: approval?.runId,
      approval_ids: [approval?.id],
      message: {
        content: 'May I?',
        tool_calls: [
          { tool_name: 'pick', result: 'red' },
          { tool_name: 'send', result: null },
        ],
      },
    })
  })
})
