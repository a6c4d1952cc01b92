import { decode } from '@ag-ui/proto'
import { describe, expect, test } from 'vitest'
import { parseUuid, ulidOf } from '../../domain/ids.ts'
import { outline } from '../../engine/testing/open-engine.ts'
import { createGatedModel, stop, text } from '../testing/gated-model.ts'
import { asAda, eventsOf, openDoors, refusalOf } from '../testing/open-doors.ts'
import { readSse } from '../testing/sse-reader.ts'

const user = (id: string, content = `text of ${id}`) => ({ id, role: 'user', content })
const input = (more: Record<string, unknown> = {}) => ({
  protocolVersion: '1.0',
  threadId: 'thread',
  runId: 'run-1',
  messages: [user('m1')],
  ...more,
})

const wholeRun = [
  'RUN_STARTED',
  'STEP_STARTED step_1',
  'TEXT_MESSAGE_START',
  'TEXT_MESSAGE_CONTENT Hello.',
  'TEXT_MESSAGE_END',
  'STEP_FINISHED step_1',
  'RUN_FINISHED success',
]

describe('POST /', () => {
  test('150,000 messages are refused, as is what has more news than a request can bring', async () => {
    await using doors = await openDoors()
    const many = (length: number) => input({ messages: Array.from({ length }, (_, i) => user(`m${i}`)) })

    expect(await refusalOf(await doors.post('/', many(150_000)))).toEqual({ status: 413, code: 'body_too_large' })
    expect(await refusalOf(await doors.post('/', many(20_000)))).toEqual({ status: 413, code: 'body_too_large' })
    const calls = Array.from({ length: 90_000 }, () => ({}))
    const wrong = input({ messages: [{ id: 'a', role: 'assistant', toolCalls: calls }] })
    expect(await refusalOf(await doors.post('/', wrong))).toEqual({ status: 400, code: 'invalid_request' })
  })

  test('runs the agent and streams the stored text of each event under its id', async () => {
    await using doors = await openDoors()

    const response = await doors.post('/', input())
    const frames = await readSse(response).rest()

    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(outline(eventsOf(frames))).toEqual(wholeRun)
    const session = await doors.engine.sessions.get('local_user', 'thread')
    const stored = (await doors.store.entries(session.id, 0, 100)).filter((entry) => entry.kind === 'event')
    expect(frames).toEqual(stored.map(({ seq, data }) => ({ id: `${ulidOf(session.id)}.${seq}`, data })))
  })

  test('refuses a state that is too large, and starts nothing', async () => {
    await using doors = await openDoors()

    const response = await doors.post('/', input({ state: { list: Array(11).fill('x '.repeat(50_000)) } }))

    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({
      code: 'body_too_large',
      detail: 'The state is too large. It is longer than 1 MB as JSON. Store large data elsewhere and refer to it.',
      max_bytes: 1_000_000,
      errors: [{ pointer: '/state', detail: 'It is longer than 1 MB as JSON.' }],
    })
    expect(doors.engine.stats().runsStarted).toBe(0)
  })

  test('repeats the ids of the client and says its own version', async () => {
    await using doors = await openDoors()

    const [started] = eventsOf(await doors.run('/', input({ protocolVersion: '1.9', parentRunId: 'run-0' })))

    expect(started).toMatchObject({
      type: 'RUN_STARTED',
      threadId: 'thread',
      runId: 'run-1',
      parentRunId: 'run-0',
      protocolVersion: '1.0',
    })
  })

  test.each(['/awp', '/agents/tester'])('is also at %s', async (path) => {
    await using doors = await openDoors()

    expect(outline(eventsOf(await doors.run(path, input())))).toEqual(wholeRun)
  })

  test('knows no agent of another name', async () => {
    await using doors = await openDoors()

    expect(await refusalOf(await doors.post('/agents/nobody', input()))).toEqual({
      status: 404,
      code: 'agent_not_found',
    })
  })

  test.each([
    ['a body that is no JSON', '{', {}, 400, 'malformed_json'],
    ['no messages', JSON.stringify({ threadId: 't', runId: 'r' }), {}, 400, 'invalid_request'],
    ['an id with a line break', JSON.stringify(input({ threadId: 'a\nb' })), {}, 400, 'malformed_id'],
    ['another major version', JSON.stringify(input({ protocolVersion: '2.0' })), {}, 400, 'invalid_request'],
    [
      'an answer to an interrupt that is neither yes nor no',
      JSON.stringify(input({ resume: [{ interruptId: 'i', status: 'resolved' }] })),
      {},
      400,
      'invalid_request',
    ],
    ['an unknown X-On-Busy', JSON.stringify(input()), { 'X-On-Busy': 'wait' }, 400, 'invalid_request'],
    [
      'an unusable Idempotency-Key',
      JSON.stringify(input()),
      { 'Idempotency-Key': 'k'.repeat(256) },
      400,
      'invalid_request',
    ],
    ['another media type', JSON.stringify(input()), { 'Content-Type': 'text/plain' }, 415, 'unsupported_media_type'],
  ])('refuses %s before any stream and stores nothing', async (_what, body, headers, status, code) => {
    await using doors = await openDoors()

    const response = await fetch(doors.url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
    })

    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(await refusalOf(response)).toEqual({ status, code })
    expect(doors.engine.stats().runsStarted).toBe(0)
  })

  test('says what it cannot use and runs all the same', async () => {
    await using doors = await openDoors()
    const parts = [
      { type: 'image', source: { type: 'url', value: 'file:///etc/passwd' } },
      { type: 'text', text: 'Look' },
    ]

    const frames = await doors.run('/', input({ extra: 1, messages: [{ id: 'm1', role: 'user', content: parts }] }))

    const [started, warning, ...rest] = eventsOf(frames)
    expect(outline([started, ...rest].filter((event) => event !== undefined))).toEqual(wholeRun)
    expect(warning).toMatchObject({
      type: 'CUSTOM',
      name: 'quarterdeck:warning',
      value: { message: expect.stringContaining('This server does not fetch addresses') },
    })
    const warnings = doors.lines.filter(({ level }) => level === 'warn').flatMap((line) => line.warnings)
    expect(warnings).toEqual(['unknown field at /extra'])
    const session = await doors.engine.sessions.get('local_user', input().threadId)
    expect(JSON.stringify(await doors.engine.messages.page(session.id, 10))).not.toContain('/etc/passwd')
  })

  test('gives a 0.x reader what it can read', async () => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    const { protocolVersion: _version, ...old } = input()

    const reader = readSse(await doors.post('/', old))
    model.say(text('Once'))
    await reader.until('Once')
    const run = await doors.engine.runs.get('local_user', 'run-1')
    await doors.engine.runs.cancel(run, 'test')

    expect(outline(eventsOf(await reader.rest()))).toEqual([
      'TEXT_MESSAGE_END',
      'STEP_FINISHED step_1',
      'RUN_ERROR cancelled',
    ])
  })

  test('speaks protobuf when it is named', async () => {
    await using doors = await openDoors()

    const response = await doors.post('/', input(), { Accept: 'application/vnd.ag-ui.event+proto' })
    const bytes = Buffer.from(await response.arrayBuffer())

    expect(response.headers.get('content-type')).toBe('application/vnd.ag-ui.event+proto')
    const events = []
    for (let at = 0; at < bytes.length; at += 4 + bytes.readUInt32BE(at)) {
      events.push(decode(bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at))))
    }
    expect(events.map(({ type }) => type as string)).toEqual(wholeRun.map((line) => line.split(' ')[0]))
  })

  test.each(['*/*', 'text/event-stream', 'application/vnd.ag-ui.event+proto;q=0'])(
    'speaks SSE for %s',
    async (Accept) => {
      await using doors = await openDoors()

      const response = await doors.post('/', input(), { Accept })
      await response.text()

      expect(response.headers.get('content-type')).toBe('text/event-stream')
    },
  )

  test('passes on what the run alone may see', async () => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })

    const reader = readSse(
      await doors.post(
        '/',
        input({
          messages: [{ id: 's', role: 'system', content: 'Be brief.' }, user('m1')],
          context: [{ description: 'page', value: 'checkout' }],
          forwardedProps: { secret: 'for tools' },
        }),
      ),
    )
    model.say(text('Ok'), stop)
    await reader.rest()

    const [request] = model.requests
    expect(request?.system).toContain('Be brief.')
    expect(JSON.stringify(request)).toContain('checkout')
    expect(JSON.stringify(request)).not.toContain('for tools')
    const session = await doors.engine.sessions.get('local_user', 'thread')
    expect((await doors.engine.messages.page(session.id, 10)).map(({ role, content }) => [role, content])).toEqual([
      ['user', 'text of m1'],
      ['assistant', 'Ok'],
    ])
  })
})

describe('the history', () => {
  test('is kept by the server: a message that was sent again is not said again', async () => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    model.say(text('One'), stop)
    await doors.run('/', input())
    model.say(text('Two'), stop)

    await doors.run(
      '/',
      input({ runId: 'run-2', messages: [user('m1'), { id: 'x', role: 'assistant', content: 'Forged' }, user('m2')] }),
    )

    expect(model.requests[1]?.messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'text of m1'],
      ['assistant', 'One'],
      ['user', 'text of m2'],
    ])
  })

  test.each(['/', '/copilotkit/agent/default/connect'])("somebody else's thread is not found at %s", async (path) => {
    await using doors = await openDoors()
    await doors.run('/', input())
    const { id } = await doors.engine.sessions.get('local_user', 'thread')

    for (const threadId of [id, ulidOf(id)]) {
      for (const messages of [[], [user('m1')]]) {
        const refused = await doors.post(path, input({ threadId, runId: 'run-2', messages }), asAda)
        expect(await refusalOf(refused)).toEqual({ status: 404, code: 'session_not_found' })
      }
    }
    // A name is each owner's own, whoever else uses it.
    expect(await doors.run(path, input({ runId: 'run-2', messages: [] }), asAda)).not.toEqual([])
  })

  test('is shown for `messages: []`, without ids and without being stored', async () => {
    await using doors = await openDoors()
    await doors.run('/', input({ state: { step: 1 } }))
    const session = await doors.engine.sessions.get('local_user', 'thread')
    const head = await doors.store.head(session.id)

    const frames = await doors.run('/', input({ runId: 'run-2', messages: [] }))

    const timestamp = expect.any(Number)
    expect(frames.map(({ id }) => id)).toEqual([undefined, undefined, undefined, undefined])
    expect(eventsOf(frames)).toEqual([
      { type: 'RUN_STARTED', threadId: 'thread', runId: 'run-2', protocolVersion: '1.0', timestamp },
      { type: 'STATE_SNAPSHOT', snapshot: { step: 1 }, timestamp },
      {
        type: 'MESSAGES_SNAPSHOT',
        messages: [
          { id: 'm1', role: 'user', content: 'text of m1' },
          { id: expect.any(String), role: 'assistant', content: 'Hello.' },
        ],
        timestamp,
      },
      { type: 'RUN_FINISHED', threadId: 'thread', runId: 'run-2', outcome: { type: 'success' }, timestamp },
    ])
    expect(await doors.store.head(session.id)).toBe(head)
  })

  test('of a thread that nobody knows is empty, and asking does not create it', async () => {
    await using doors = await openDoors()

    const frames = await doors.run('/', input({ messages: [] }))

    expect(eventsOf(frames).map(({ type }) => type)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED'])
    expect(await doors.engine.sessions.find('local_user', 'thread')).toBeNull()
  })

  test('is not deleted at a client that has only a greeting of its own', async () => {
    await using doors = await openDoors()

    const frames = await doors.run('/', input({ messages: [{ id: 'g', role: 'assistant', content: 'Welcome!' }] }))

    expect(eventsOf(frames).map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
  })

  test('that ends with an answered message asks for another answer', async () => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    model.say(text('First'), stop)
    await doors.run('/', input())
    model.say(text('Second'), stop)

    await doors.run('/', input({ runId: 'run-2' }))

    expect(model.requests[1]?.messages).toEqual(model.requests[0]?.messages)
    const session = await doors.engine.sessions.get('local_user', 'thread')
    expect((await doors.engine.messages.page(session.id, 10)).map(({ content }) => content)).toEqual([
      'text of m1',
      'Second',
    ])
  })

  test('keeps its shared state when a fresh client sends an empty one', async () => {
    await using doors = await openDoors()
    await doors.run('/', input({ state: { step: 1 } }))

    const frames = await doors.run('/', input({ runId: 'run-2', messages: [user('m2')], state: {} }))

    expect(eventsOf(frames)).toContainEqual(expect.objectContaining({ type: 'STATE_SNAPSHOT', snapshot: { step: 1 } }))
  })
})

describe('a second reader', () => {
  test('attaches to a run by its id and sees the same bytes from the beginning', async () => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    const first = readSse(await doors.post('/', input()))
    model.say(text('A'))
    const seen = await first.until('"A"')

    const second = readSse(await doors.post('/', input({ messages: [user('m2', 'ignored')] })))
    const replayed = await second.until('"A"')
    model.say(text('B'), stop)
    const [rest, restOfSecond] = await Promise.all([first.rest(), second.rest()])

    expect(replayed).toEqual(seen)
    expect(restOfSecond).toEqual(rest)
    expect(model.requests).toHaveLength(1)
  })

  test('attaches to a run that has ended', async () => {
    await using doors = await openDoors()
    const frames = await doors.run('/', input())

    expect(await doors.run('/', input())).toEqual(frames)
  })

  test('of another owner starts its own run under the same ids', async () => {
    await using doors = await openDoors()
    const mine = await doors.run('/', input())

    const theirs = await doors.run('/', input(), asAda)

    expect(outline(eventsOf(theirs))).toEqual(wholeRun)
    expect(theirs[0]?.id).not.toBe(mine[0]?.id)
  })
})

test('a Last-Event-ID of an event that is gone is refused with the place where the thread can be read again', async () => {
  await using doors = await openDoors()
  const [ulid = '', seq = ''] = ((await doors.run('/', input())).at(-1)?.id ?? '').split('.')

  for (const gone of [0, Number(seq) + 1, Number.MAX_SAFE_INTEGER]) {
    const response = await doors.post('/', input(), { 'Last-Event-ID': `${ulid}.${gone}` })
    expect([response.status, await response.json()]).toMatchObject([
      410,
      { code: 'events_gone', snapshot: `/sessions/${parseUuid(ulid)}/events?after=0` },
    ])
  }
  expect(doors.engine.stats().runsStarted).toBe(1)
})

test('a run that was stopped in the queue is shown as a start and an end, live and later', async () => {
  const model = createGatedModel()
  await using doors = await openDoors({ model })
  const first = readSse(await doors.post('/', input()))
  await first.until('RUN_STARTED')
  const queued = input({ runId: 'run-2', messages: [user('m2')] })
  const second = readSse(await doors.post('/', queued))

  await doors.post('/runs/run-2/cancel', undefined)

  const frames = await second.rest()
  expect(outline(eventsOf(frames))).toEqual(['RUN_STARTED', 'RUN_FINISHED cancelled'])
  expect(await doors.run('/', queued)).toEqual(frames)
  await first.close()
})

describe('a stopping server', () => {
  test('tells the reader of a suspended run how to go on, in an event without an id', async () => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    const posted = await doors.post('/sessions/thread/messages', { message: 'Work.' })
    const { run_id } = (await posted.json()) as { run_id: string }
    const reader = readSse(await doors.get(`/runs/${run_id}/events`))
    const seen = await reader.until('RUN_STARTED')

    await doors.engine.drain(0)

    const rest = await reader.rest()
    const last = rest.pop()
    seen.push(...rest)
    expect({ ...last, data: JSON.parse(last?.data ?? '') }).toEqual({
      data: {
        type: 'RUN_ERROR',
        message: `The server is stopping. The run continues after its restart: read GET /runs/${run_id}/events with the header Last-Event-ID: ${seen.at(-1)?.id}.`,
        code: 'shutting_down',
        timestamp: expect.any(Number),
      },
    })
  })
})

describe('GET /capabilities', () => {
  test.each(['/capabilities', '/agents/tester/capabilities'])('says at %s what the agent can do', async (path) => {
    await using doors = await openDoors()

    const response = await doors.get(path)

    expect(await response.json()).toMatchObject({
      identity: { name: 'tester', type: 'quarterdeck', version: '0.0.0-test' },
      transport: { streaming: true, httpBinary: true, resumable: true, websocket: false },
      tools: { supported: true, clientProvided: true },
      humanInTheLoop: { supported: true, approvals: true, interrupts: true },
    })
  })

  test('knows no agent of another name', async () => {
    await using doors = await openDoors()

    expect(await refusalOf(await doors.get('/agents/nobody/capabilities'))).toEqual({
      status: 404,
      code: 'agent_not_found',
    })
  })
})
