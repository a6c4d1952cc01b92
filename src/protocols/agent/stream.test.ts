import { describe, expect, test } from 'vitest'
import { parseUuid, ulidOf } from '../../domain/ids.ts'
import { type TestEngineOptions, testAgent } from '../../engine/testing/open-engine.ts'
import { until } from '../../http/testing/server-fixture.ts'
import { compactEntries } from '../../log/compact.ts'
import { serverTool } from '../../tools/testing/server-tool.ts'
import { openRoutes } from '../shared/answer/testing/open-routes.ts'
import { createGatedModel, stop, text } from '../testing/gated-model.ts'
import { refusalOf } from '../testing/open-doors.ts'
import { type NamedEvent, namedEvents, takeEvents } from '../testing/sse-reader.ts'
import { createAgentRoutes } from './routes.ts'
import { streamEventSchemas } from './schema.ts'

const open = (options?: TestEngineOptions) => openRoutes(createAgentRoutes, options)
const path = '/agent/tester/chat/stream'

const weather = serverTool({
  name: 'weather',
  description: 'Knows no city.',
  parameters: { type: 'object' },
  effect: 'read',
  timeoutMs: 1_000,
  call: async ({ arguments: { city } }) =>
    city === 'Berlin' ? { content: 'sunny', isError: false } : { content: 'Unknown city.', isError: true },
})

/** Names and data, each checked against its schema. */
function shown(events: readonly NamedEvent[]) {
  return events.map(({ event, data }) => {
    const name = Object.keys(streamEventSchemas).find((known) => known === event)
    const schema = Object.entries(streamEventSchemas).find(([known]) => known === name)?.[1]
    expect(schema?.safeParse(data).error).toBeUndefined()
    return [event, data]
  })
}

const twoMessages: TestEngineOptions = {
  tools: [weather],
  answers: [
    {
      parts: [
        { text: 'Let me ' },
        { text: 'look.' },
        { tool_call: { name: 'weather', arguments: { city: 'Berlin' } } },
        { tool_call: { name: 'weather', arguments: { city: 'Oz' } } },
      ],
    },
    { parts: [{ text: 'It is ' }, { text: 'sunny.' }, { usage: { input: 3, output: 4 } }] },
  ],
}

describe('POST /agent/{name}/chat/stream', () => {
  test('tells all that happens in named events, each with the id of its log entry', async () => {
    await using doors = await open(twoMessages)

    const response = await doors.post(path, { message: 'Weather?' })
    const events = await takeEvents(namedEvents(response))

    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const start = events[0]?.data
    const { session_id, message_id } = start ?? {}
    const [one, two] = events.filter(({ event }) => event === 'tool_call_start').map(({ data }) => data.tool_call_id)
    const byCall = (id: unknown) => shown(events).filter(([, data]) => Reflect.get(Object(data), 'tool_call_id') === id)
    expect(start).toEqual({ session_id: expect.any(String), message_id: expect.any(String) })
    expect(shown(events).filter(([name]) => !String(name).startsWith('tool_'))).toEqual([
      ['stream_start', { session_id, message_id }],
      ['message_delta', { delta: 'Let me ', message_id }],
      ['message_delta', { delta: 'look.', message_id }],
      ['message_delta', { delta: '\n\nIt is ', message_id }],
      ['message_delta', { delta: 'sunny.', message_id }],
      [
        'stream_end',
        {
          message_id,
          tokens_used: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
          execution_time_ms: expect.any(Number),
        },
      ],
    ])
    expect(byCall(one)).toEqual([
      ['tool_call_start', { tool_call_id: one, name: 'weather', message_id }],
      ['tool_call_args', { tool_call_id: one, args_delta: '{"city":"Berlin"}' }],
      ['tool_call_end', { tool_call_id: one, status: 'success' }],
    ])
    expect(byCall(two).at(-1)).toEqual(['tool_call_end', { tool_call_id: two, status: 'error' }])
    const session = parseUuid(String(session_id)) ?? ''
    const seqs = new Set((await doors.store.entries(session, 0, 100)).map(({ seq }) => `${ulidOf(session)}.${seq}`))
    const ids = events.map(({ id }) => id ?? '')
    expect(ids.every((id) => seqs.has(id))).toBe(true)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('sends each word while the model is still speaking', async () => {
    const model = createGatedModel()
    await using doors = await open({ model })
    const events = namedEvents(await doors.post(path, { message: 'a' }))
    await takeEvents(events, 'stream_start')

    model.say(text('One '))
    expect(await takeEvents(events, 'message_delta')).toMatchObject([{ data: { delta: 'One ' } }])
    model.say(text('two.'))
    expect(await takeEvents(events, 'message_delta')).toMatchObject([{ data: { delta: 'two.' } }])
    model.say(stop)
    expect(await takeEvents(events)).toMatchObject([{ event: 'stream_end', data: { tokens_used: null } }])
  })

  test('resumes in the middle of a message that was compacted meanwhile', async () => {
    await using doors = await open(twoMessages)
    const whole = await takeEvents(namedEvents(await doors.post(path, { message: 'Weather?' })))
    const session = parseUuid(String(whole[0]?.data.session_id)) ?? ''
    const entries = await doors.store.entries(session, 0, 1_000)
    const head = entries.at(-1)?.seq ?? 0
    await doors.log.commit({ type: 'compact_session', sessionId: session, head, entries: compactEntries(entries) })
    const after = whole.findIndex(({ data }) => data.delta === '\n\nIt is ')

    const rest = await takeEvents(
      namedEvents(await doors.post(path, { message: 'a' }, { 'Last-Event-ID': whole[after]?.id ?? '' })),
    )

    expect(rest).toEqual(whole.slice(after + 1))
  })

  test('refuses bad input before any stream', async () => {
    await using doors = await open()

    expect(await refusalOf(await doors.post(path, { message: '' }))).toEqual({ status: 400, code: 'invalid_request' })
    expect(await refusalOf(await doors.post('/agent/nobody/chat/stream', { message: 'a' }))).toEqual({
      status: 404,
      code: 'agent_not_found',
    })
  })
})

describe('a stream ends with an error event', () => {
  test('when the model fails', async () => {
    await using doors = await open({
      answers: [{ parts: [{ text: 'Hel' }, { error: { code: 'model_unreachable', message: 'Why.' } }] }],
    })

    const events = await takeEvents(
      namedEvents(await doors.post(path, { message: 'a' }, { 'X-Correlation-ID': 'corr-1' })),
    )

    const { session_id, message_id } = events[0]?.data ?? {}
    expect(shown(events).slice(1)).toEqual([
      ['message_delta', { delta: 'Hel', message_id }],
      [
        'error',
        {
          type: 'https://quarterdeck.dev/errors/model_unreachable',
          title: 'Model unreachable',
          status: 502,
          detail: 'Why.',
          instance: path,
          code: 'model_unreachable',
          correlation_id: 'corr-1',
          session_id,
          message_id,
        },
      ],
    ])
    expect(events.at(-1)?.id).toBeDefined()
  })

  test('when the run is stopped, with a call that was half-made closed first', async () => {
    const model = createGatedModel()
    await using doors = await open({ model, tools: [weather] })
    const events = namedEvents(await doors.post(path, { message: 'a' }))
    model.say({ type: 'tool_call_start', id: '1', name: 'weather' }, { type: 'tool_call_args', id: '1', delta: '{' })
    const [start, ...begun] = await takeEvents(events, 'tool_call_args')
    const run = await doors.engine.runs.get('local_user', String(start?.data.message_id))

    await doors.engine.runs.cancel(run, 'test')

    expect((await takeEvents(events)).map(({ event, data }) => [event, data.status, data.code])).toEqual([
      ['tool_call_end', 'error', undefined],
      ['error', 409, 'cancelled'],
    ])
    expect(begun).toHaveLength(2)
  })

  test('when the run takes too long', async () => {
    const limits = { ...testAgent.limits, durationMs: 10 }
    await using doors = await open({ model: createGatedModel(), agent: { limits } })

    const events = await takeEvents(namedEvents(await doors.post(path, { message: 'a' })))

    expect(events.map(({ event, data }) => [event, data.code])).toEqual([
      ['stream_start', undefined],
      ['error', 'budget_exceeded'],
    ])
  })

  test('when the server stops', async () => {
    const model = createGatedModel()
    await using doors = await open({ model })
    const events = namedEvents(await doors.post(path, { message: 'a' }))
    await takeEvents(events, 'stream_start')

    await doors.engine.drain(0)

    expect(await takeEvents(events)).toMatchObject([{ event: 'error', data: { code: 'interrupted', status: 503 } }])
  })

  test('when the server stops and the run continues later; this event has no id', async () => {
    const model = createGatedModel()
    await using doors = await open({ model })
    const { run } = await doors.start('in the background')
    await until(() => model.requests.length === 1)
    const first = (await doors.store.runs.get(run.id))?.firstSeq
    const lastEventId = { 'Last-Event-ID': `${ulidOf(run.sessionId)}.${first}` }
    const events = namedEvents(await doors.post(path, { message: 'a' }, lastEventId))
    await until(() => doors.engine.stats().readers === 1)

    await doors.engine.drain(0)

    const last = await takeEvents(events)
    expect(last).toMatchObject([{ event: 'error', data: { code: 'shutting_down', status: 503 } }])
    expect(last[0]?.id).toBeUndefined()
  })
})
