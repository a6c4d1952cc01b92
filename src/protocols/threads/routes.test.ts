import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { ulidOf } from '../../domain/ids.ts'
import { testAgent } from '../../engine/testing/open-engine.ts'
import { openJanitor } from '../../engine/testing/open-janitor.ts'
import { until } from '../../http/testing/server-fixture.ts'
import { serverTool } from '../../tools/testing/server-tool.ts'
import { askingWork, operator } from '../shared/answer/testing/asking-gate.ts'
import { nextPath, openChat, refusalOf } from '../shared/chat-route/testing/open-chat.ts'
import { createGatedModel, stop, text } from '../testing/gated-model.ts'
import { asAda } from '../testing/open-doors.ts'
import type { Frame } from '../testing/sse-reader.ts'
import { ThreadAnswerSchema, type ThreadEvent, ThreadEventSchema, ThreadListSchema, ThreadSchema } from './schema.ts'

type Doors = Awaited<ReturnType<typeof openChat>>

const unknown = '0192f3a1-7b2c-7def-8abc-0123456789ab'
const eventsOf = (frames: readonly Frame[]): ThreadEvent[] =>
  frames.map(({ data }) => ThreadEventSchema.parse(JSON.parse(data)))
const tokensOf = (events: readonly ThreadEvent[]): string =>
  events.map((event) => (event.event === 'token' ? event.token : '')).join('')

async function ask(doors: Doors, body: Record<string, unknown>, headers?: Record<string, string>) {
  const response = await doors.post('/chat', { stream: false, ...body }, headers)
  expect(response.status).toBe(200)
  return ThreadAnswerSchema.parse(await response.json())
}

async function show(doors: Doors, id: string, query = '') {
  const response = await doors.get(`/threads/${id}${query}`)
  expect(response.status).toBe(200)
  return { thread: ThreadSchema.parse(await response.json()), next: nextPath(response) }
}

const flaky = serverTool({
  name: 'flaky',
  description: 'Fails when told to.',
  parameters: { type: 'object' },
  effect: 'read',
  timeoutMs: 1_000,
  call: async ({ arguments: { fail } }) => ({ content: fail === true ? 'It broke.' : 'Well.', isError: fail === true }),
})
const withTools = {
  tools: [flaky],
  answers: [
    {
      parts: [
        { text: 'Trying.' },
        { tool_call: { name: 'flaky', arguments: { fail: true } } },
        { tool_call: { name: 'flaky', arguments: { fail: false } } },
      ],
    },
    { parts: [{ text: 'Done' }, { text: ' now.' }] },
  ],
}

describe('POST /chat as a stream', () => {
  test('sends each token while the model is still producing, and completes with the whole message', async () => {
    const model = createGatedModel()
    await using doors = await openChat({ model })
    const reader = await doors.stream({ message: 'Hi', stream: true, metadata: { page: 1 } })
    model.say(text('Hel'))

    const first = await reader.next()
    expect(model.requests.length).toBe(1)
    model.say(text('lo.'), stop)
    const frames = [...(first === null ? [] : [first]), ...(await reader.rest())]

    const [session] = await doors.engine.sessions.list({ owner: 'local_user', limit: 1 })
    const shared = { thread_id: session?.id, timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/) }
    expect(eventsOf(frames)).toEqual([
      { event: 'token', ...shared, token: 'Hel' },
      { event: 'token', ...shared, token: 'lo.' },
      {
        event: 'message_complete',
        ...shared,
        message: {
          role: 'assistant',
          content: 'Hello.',
          timestamp: shared.timestamp,
          tool_calls: null,
          metadata: { page: 1 },
        },
      },
    ])
    const seqs = frames.map(({ id }) => Number(id?.replace(`${ulidOf(session?.id ?? '')}.`, '')))
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
    expect(new Set(seqs).size).toBe(3)
  })

  test('tells of tools, failed ones too, and puts what was said around them together', async () => {
    await using doors = await openChat(withTools)

    const events = eventsOf(await (await doors.stream({ message: 'Go', stream: true })).rest())

    const called = events.flatMap((event): unknown[][] => {
      if (event.event === 'tool_start') return [['start', event.tool_name, event.arguments]]
      if (event.event === 'tool_end') return [['end', event.tool_name, event.result, event.error]]
      return []
    })
    expect(called.slice(0, 2)).toEqual([
      ['start', 'flaky', { fail: true }],
      ['start', 'flaky', { fail: false }],
    ])
    expect(new Set(called.slice(2))).toEqual(
      new Set([
        ['end', 'flaky', null, 'It broke.'],
        ['end', 'flaky', 'Well.', undefined],
      ]),
    )
    const ids = events.flatMap((event) => ('tool_call_id' in event ? [event.tool_call_id] : []))
    expect(ids.slice(2).toSorted()).toEqual(ids.slice(0, 2).toSorted())
    const last = events.at(-1)
    if (last?.event !== 'message_complete') throw new Error('no message_complete')
    expect(last.message).toMatchObject({
      content: 'Trying.\n\nDone now.',
      tool_calls: [
        { tool_name: 'flaky', arguments: { fail: true }, error: 'It broke.', execution_time_ms: expect.any(Number) },
        { tool_name: 'flaky', arguments: { fail: false }, result: 'Well.', execution_time_ms: expect.any(Number) },
      ],
    })
    expect(tokensOf(events)).toBe(last.message.content)
  })

  test('is what a client gets that asks for events and sends only a message', async () => {
    await using doors = await openChat()

    const frames = await (await doors.stream({ message: 'Hi' }, { Accept: 'text/event-stream' })).rest()

    expect(eventsOf(frames).map(({ event }) => event)).toEqual(['token', 'message_complete'])
  })

  test('says an empty answer as a blank', async () => {
    await using doors = await openChat({ answers: [{ parts: [{ reasoning: 'Nothing to say.' }] }] })

    const events = eventsOf(await (await doors.stream({ message: 'Hi', thread_id: null })).rest())

    expect(events).toMatchObject([{ event: 'message_complete', message: { content: ' ', metadata: { empty: true } } }])
    const id = events[0]?.thread_id ?? ''
    expect((await show(doors, id)).thread.message_history[1]).toMatchObject({ content: ' ', metadata: { empty: true } })
  })

  test.each([
    ['model_unreachable', 'llm', true],
    ['model_auth_failed', 'llm', false],
    ['model_timeout', 'timeout', true],
    ['model_context_overflow', 'limit', false],
  ] as const)('ends with an error when the model fails with %s', async (code, error_type, recoverable) => {
    await using doors = await openChat({ answers: [{ parts: [{ text: 'Hm' }, { error: { code, message: 'No.' } }] }] })

    const events = eventsOf(await (await doors.stream({ message: 'Hi', stream: true })).rest())

    expect(events).toMatchObject([
      { event: 'token', token: 'Hm' },
      { event: 'error', error_type, error_message: 'No.', recoverable },
    ])
  })

  test('ends with an error when the run is stopped', async () => {
    const model = createGatedModel()
    await using doors = await openChat({ model })
    const reader = await doors.stream({ message: 'Hi', stream: true })
    model.say(text('Hel'))
    await reader.next()
    const [session] = await doors.engine.sessions.list({ owner: 'local_user', limit: 1 })
    const [run] = await doors.engine.runs.open(session?.id ?? '')
    await doors.post(`/runs/${run?.id}/cancel`, {})

    expect(eventsOf(await reader.rest())).toMatchObject([
      { event: 'error', error_type: 'cancelled', recoverable: true },
    ])
  })

  test('ends with an error when the server stops', async () => {
    const model = createGatedModel()
    await using doors = await openChat({ model })
    const reader = await doors.stream({ message: 'Hi', stream: true })
    model.say(text('Hel'))
    await reader.next()

    await doors.engine.drain(0)

    expect(eventsOf(await reader.rest())).toMatchObject([{ event: 'error', error_type: 'shutdown', recoverable: true }])
  })

  test('ends with an error when the run reaches its time limit', async () => {
    const limits = { ...testAgent.limits, durationMs: 20 }
    await using doors = await openChat({ model: createGatedModel(), agent: { limits } })

    const events = eventsOf(await (await doors.stream({ message: 'Hi', stream: true })).rest())

    expect(events).toMatchObject([{ event: 'error', error_type: 'limit', recoverable: false }])
  })

  /** What a reader gets that saw one token of three, before the session was compacted. */
  async function resumedAfterCompaction(): Promise<ThreadEvent[]> {
    const system = createSystemClock()
    let later = 0
    const clock = { ...system, now: () => system.now() + later }
    const answers = [{ parts: [{ text: 'One ' }, { text: 'two ' }, { text: 'three.' }] }]
    await using doors = await openChat({ clock, answers })
    const [first] = await (await doors.stream({ message: 'Hi', stream: true })).rest()
    later = 10 * 24 * 60 * 60 * 1000
    const { engine, store, log } = doors
    await openJanitor({ engine, store, log, clock }).sweep()
    const again = await doors.stream({ message: 'Hi', stream: true }, { 'Last-Event-ID': first?.id ?? '' })
    return eventsOf(await again.rest())
  }

  test('continues inside an entry that was compacted meanwhile, and completes with the whole message', async () => {
    const events = await resumedAfterCompaction()

    expect(tokensOf(events)).toBe('two three.')
    expect(events.at(-1)).toMatchObject({ event: 'message_complete', message: { content: 'One two three.' } })
  })
})

describe('POST /chat with stream: false', () => {
  test('answers with the thread and the whole message', async () => {
    await using doors = await openChat(withTools)

    const { thread_id, message } = await ask(doors, { message: 'Go', metadata: { page: 2 } })

    expect(message).toMatchObject({
      role: 'assistant',
      content: 'Trying.\n\nDone now.',
      tool_calls: [{ error: 'It broke.' }, { result: 'Well.' }],
      metadata: { page: 2 },
    })
    expect(thread_id).toMatch(/^[0-9a-f-]{36}$/)
  })

  test.each([
    ['model_unreachable', 500],
    ['model_refused', 500],
    ['model_context_overflow', 500],
  ] as const)('answers %s with %i, and says it where its clients look', async (code, status) => {
    await using doors = await openChat({ answers: [{ parts: [{ error: { code, message: 'No luck.' } }] }] })

    const response = await doors.post('/chat', { message: 'Hi', stream: false })

    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(await response.json()).toMatchObject({
      status,
      code,
      detail: 'No luck.',
      error: 'No luck.',
      message: 'No luck.',
      thread_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      run_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  })
})

describe('what POST /chat takes for a thread', () => {
  const metadata = (bytes: number) => ({ k: 'x'.repeat(bytes - '{"k":""}'.length) })

  test.each([
    ['no message', { stream: true }, ['/message']],
    ['a blank message', { message: ' ', stream: false }, ['/message']],
    ['10,001 characters', { message: 'x'.repeat(10_001), stream: true }, ['/message']],
    ['a stream that is no yes or no', { message: 'Hi', stream: 'yes' }, ['/stream']],
    ['a thread_id that is no text', { message: 'Hi', thread_id: 7 }, ['/thread_id']],
    ['metadata that is a list', { message: 'Hi', metadata: [] }, ['/metadata']],
    ['metadata beyond 16 KB', { message: 'Hi', metadata: metadata(16_385) }, ['/metadata']],
    ['an unknown key', { message: 'Hi', stream: true, mood: 'good' }, ['/mood']],
  ])('not %s', async (_what, body, pointers) => {
    await using doors = await openChat()

    expect(await refusalOf(await doors.post('/chat', body))).toEqual({ status: 400, code: 'invalid_request', pointers })
    expect(doors.engine.stats().runsStarted).toBe(0)
  })

  test('10,000 characters, 16 KB of metadata, and null for what is left out', async () => {
    await using doors = await openChat()

    await ask(doors, { message: '😀'.repeat(10_000), metadata: metadata(16_384), thread_id: null })
    const nulls = await doors.stream({ message: 'Hi', stream: null, metadata: null, thread_id: null })
    expect(eventsOf(await nulls.rest()).at(-1)).toMatchObject({ event: 'message_complete', message: { metadata: {} } })
  })

  test('no thread that is not there, and nobody else’s', async () => {
    await using doors = await openChat()
    const { thread_id } = await ask(doors, { message: 'Hi' }, asAda)
    const refused = async (id: string) => refusalOf(await doors.post('/chat', { message: 'Hi', thread_id: id }))

    expect(await refused(unknown)).toEqual({ status: 404, code: 'session_not_found', pointers: [] })
    expect(await refused(thread_id)).toEqual({ status: 404, code: 'session_not_found', pointers: [] })
    expect(await refused('nobody knows')).toEqual({ status: 400, code: 'malformed_id', pointers: [] })
  })

  test('metadata that is merged key by key into the thread’s, within a bound', async () => {
    await using doors = await openChat()
    const { thread_id } = await ask(doors, { message: 'Hi', metadata: { a: 1, b: { deep: 1 } } })
    await ask(doors, { message: 'Hi', thread_id, metadata: { b: 2, c: null } })
    await ask(doors, { message: 'Hi', thread_id })

    const { thread } = await show(doors, thread_id)

    expect(thread.metadata).toEqual({ a: 1, b: 2, c: null })
    expect(thread.message_history.map((message) => message.metadata)).toEqual([
      { a: 1, b: { deep: 1 } },
      { a: 1, b: { deep: 1 } },
      { b: 2, c: null },
      { b: 2, c: null },
      {},
      {},
    ])
    const add = (key: string) =>
      doors.post('/chat', { message: 'Hi', thread_id, stream: false, metadata: { [key]: 'x'.repeat(16_000) } })
    for (const key of ['d', 'e', 'f', 'g']) expect((await add(key)).status).toBe(200)
    expect(await refusalOf(await add('h'))).toEqual({ status: 400, code: 'invalid_request', pointers: ['/metadata'] })
  })
})

describe('threads', () => {
  test('are listed with their Link, whichever protocol began them', async () => {
    await using doors = await openChat()
    const first = await ask(doors, { message: 'Hi' })
    await doors.post('/chat', { message: 'Hi', user_id: 'kim' })
    await (
      await doors.post('/', { threadId: 'mine', runId: 'r', messages: [{ id: 'm', role: 'user', content: 'Hi' }] })
    ).text()
    await ask(doors, { message: 'Hi' }, asAda)

    const response = await doors.get('/threads?limit=2')
    const page = ThreadListSchema.parse(await response.json())
    const rest = ThreadListSchema.parse(await (await doors.get(nextPath(response) ?? '')).json())

    expect(page.threads.map(({ thread_id, message_count }) => [thread_id, message_count])).toEqual([
      ['mine', 2],
      [expect.any(String), 2],
    ])
    expect(rest.threads.map(({ thread_id }) => thread_id)).toEqual([first.thread_id])
    expect(await refusalOf(await doors.get('/threads?limit=0'))).toEqual({
      status: 400,
      code: 'invalid_request',
      pointers: ['limit'],
    })
    expect(await refusalOf(await doors.get(`/threads?before=${unknown}`))).toMatchObject({ status: 400 })
  })

  test('show their messages with the tools that were used', async () => {
    await using doors = await openChat(withTools)
    const { thread_id } = await ask(doors, { message: 'Go', metadata: { page: 3 } })

    const { thread } = await show(doors, ulidOf(thread_id))

    expect(thread).toMatchObject({ thread_id, metadata: { page: 3 } })
    const outline = thread.message_history.map(({ role, content, tool_calls }) => [role, content, tool_calls?.length])
    expect([outline[0], outline[1], outline[4]]).toEqual([
      ['user', 'Go', undefined],
      ['assistant', 'Trying.', 2],
      ['assistant', 'Done now.', undefined],
    ])
    expect(new Set(outline.slice(2, 4))).toEqual(
      new Set([
        ['tool', 'It broke.', undefined],
        ['tool', 'Well.', undefined],
      ]),
    )
    expect(thread.message_history[1]?.tool_calls).toMatchObject([
      { tool_name: 'flaky', arguments: { fail: true }, error: 'It broke.' },
      { tool_name: 'flaky', arguments: { fail: false }, result: 'Well.' },
    ])
    const { thread: end, next } = await show(doors, thread_id, '?limit=1')
    expect(end.message_history).toEqual(thread.message_history.slice(-1))
    expect(next).toMatch(new RegExp(`^/threads/${thread_id}\\?limit=1&before=`))
  })

  test('can be deleted once, and are then gone at every door', async () => {
    const model = createGatedModel()
    await using doors = await openChat({ model })
    const reader = await doors.stream({ message: 'Hi', stream: true })
    model.say(text('Hel'))
    await reader.next()
    const [session] = await doors.engine.sessions.list({ owner: 'local_user', limit: 1 })
    const id = session?.id ?? ''

    expect(await refusalOf(await doors.remove(`/threads/${id}`, asAda))).toMatchObject({ status: 404 })
    expect((await doors.remove(`/threads/${id}`)).status).toBe(204)
    expect(eventsOf(await reader.rest())).toMatchObject([{ event: 'error', error_type: 'cancelled' }])
    expect(await refusalOf(await doors.remove(`/threads/${id}`))).toMatchObject({
      status: 404,
      code: 'session_not_found',
    })
    expect(await refusalOf(await doors.remove('/threads/nobody'))).toMatchObject({ status: 400, code: 'malformed_id' })
    expect((await doors.get(`/threads/${id}`)).status).toBe(404)
    expect((await doors.get(`/sessions/${id}`)).status).toBe(404)
    expect(ThreadListSchema.parse(await (await doors.get('/threads')).json())).toEqual({ threads: [] })
  })

  test('that expired are 404 where idle sessions close, and can be deleted', async () => {
    const system = createSystemClock()
    let later = 0
    const clock = { ...system, now: () => system.now() + later }
    const sessions = { ...testAgent.sessions, onExpiry: 'close' as const, ttlSeconds: 60 }
    await using doors = await openChat({ clock, agent: { sessions } })
    const { thread_id } = await ask(doors, { message: 'Hi' })
    later = 61_000

    const expired = { status: 404, code: 'session_expired' }
    expect(await refusalOf(await doors.get(`/threads/${thread_id}`))).toMatchObject(expired)
    expect(await refusalOf(await doors.post('/chat', { message: 'Hi', thread_id }))).toMatchObject(expired)
    expect((await doors.remove(`/threads/${thread_id}`)).status).toBe(204)
  })

  test('are refused in words that clients of this family find', async () => {
    await using doors = await openChat()

    const problem = await (await doors.get(`/threads/${unknown}`)).json()

    const words = `There is no session "${unknown}".`
    expect(problem).toMatchObject({ status: 404, detail: words, error: words, message: words })
  })
})

describe('POST /tool_result', () => {
  const valid = { execution_id: unknown, execution_time_ms: 1 }

  test.each([
    ['no id', { result: 1, execution_time_ms: 1 }, '/execution_id'],
    ['an id that is no UUID', { ...valid, execution_id: 'x', result: 1 }, '/execution_id'],
    ['a time below zero', { ...valid, result: 1, execution_time_ms: -1 }, '/execution_time_ms'],
    ['neither result nor error', valid, ''],
    ['neither, spelled out', { ...valid, result: null, error: null }, ''],
    ['both', { ...valid, result: 1, error: 'No.' }, ''],
    ['an unknown key', { ...valid, result: 1, mood: 'good' }, '/mood'],
  ])('refuses %s', async (_what, body, pointer) => {
    await using doors = await openChat()

    expect(await refusalOf(await doors.post('/tool_result', body))).toEqual({
      status: 400,
      code: 'invalid_request',
      pointers: [pointer],
    })
  })

  test.each([
    ['a result', { ...valid, result: { a: 1 } }],
    ['a result without an error', { ...valid, result: false, error: null }],
    ['an error without a result', { ...valid, result: null, error: '' }],
    ['an error', { ...valid, error: 'No.' }],
  ])('knows no call for %s that nobody asked for', async (_what, body) => {
    await using doors = await openChat()

    const words = `There is no tool execution "${unknown}".`
    const response = await doors.post('/tool_result', body)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ code: 'tool_call_not_found', error: words, message: words })
  })
})

describe('a tool that asks a person', () => {
  test('ends the stream with its question, and the thread goes on with the answer', async () => {
    await using doors = await openChat(askingWork)

    const events = eventsOf(await (await doors.stream({ message: 'A shirt.', stream: true })).rest())

    const [asked] = await doors.approvals.list({ by: operator, limit: 1 })
    const { id = '', runId, sessionId: thread_id = '' } = asked ?? {}
    expect(events.at(-1)).toMatchObject({ status: 'waiting', run_id: runId, approval_ids: [id] })
    await doors.approvals.decide(operator, id, { decision: 'respond', result: 'L' })
    await until(() => doors.engine.stats().activeRuns === 0)
    const { thread } = await show(doors, thread_id)
    expect(JSON.stringify(thread)).toContain('Done.')
    expect(await ask(doors, { message: 'Well?', thread_id })).toMatchObject({ thread_id })
  })

  test('is named in an answer that is not streamed', async () => {
    await using doors = await openChat(askingWork)

    const response = await doors.post('/chat', { stream: false, message: 'A shirt.' })

    const [asked] = await doors.approvals.list({ by: operator, limit: 1 })
    expect([asked?.kind, response.status]).toEqual(['question', 202])
    expect(await response.json()).toEqual({ status: 'waiting', run_id: asked?.runId, approval_ids: [asked?.id] })
  })
})
