import { describe, expect, test } from 'vitest'
import { type TestEngineOptions, testAgent } from '../engine/testing/open-engine.ts'
import { startServer, until, userToken } from '../http/testing/server-fixture.ts'
import { createAgentRoutes } from '../protocols/agent/routes.ts'
import { createSessionRoutes } from '../protocols/manage/sessions/routes.ts'
import { openRoutes } from '../protocols/shared/answer/testing/open-routes.ts'
import { createGatedModel, stop, text } from '../protocols/testing/gated-model.ts'
import { serverTool } from '../tools/testing/server-tool.ts'
import { ClientError, type ClientOptions, createClient, type StreamEvent } from './client.ts'

const agent = testAgent.name

const look = serverTool({
  name: 'look',
  description: 'Looks out.',
  parameters: { type: 'object' },
  effect: 'read',
  timeoutMs: 1_000,
  call: async () => ({ content: 'a ship', isError: false }),
})

const withTool: TestEngineOptions = {
  tools: [look],
  answers: [
    { parts: [{ text: 'Let ' }, { text: 'me see.' }, { tool_call: { name: 'look', arguments: { to: 'port' } } }] },
    { parts: [{ text: 'A ship.' }, { usage: { input: 5, output: 2 } }] },
  ],
}

async function open(options: TestEngineOptions = {}, more: Partial<ClientOptions> = {}) {
  const doors = await openRoutes((deps) => [...createAgentRoutes(deps), ...createSessionRoutes(deps)], options)
  const pauses: number[] = []
  const sleep = async (ms: number) => void pauses.push(ms)
  const client = createClient({ url: doors.url, sleep, ...more })
  return { ...doors, client, pauses, [Symbol.asyncDispose]: doors[Symbol.asyncDispose] }
}

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const one of source) found.push(one)
  return found
}

/** A fetch whose connections break behind so many events; what was asked is noted. */
function breakingFetch(events: number) {
  const requests: { path: string; lastEventId: string | null; key: string | null }[] = []
  const breaking: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers)
    const path = new URL(String(input)).pathname
    requests.push({ path, lastEventId: headers.get('last-event-id'), key: headers.get('idempotency-key') })
    const response = await fetch(input, init)
    if (response.body === null) return response
    return new Response(ReadableStream.from(firstOf(response.body, events)), response)
  }
  return { fetch: breaking, requests }
}

async function* firstOf(body: ReadableStream<Uint8Array>, events: number): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  let buffer = ''
  let left = events
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    buffer += chunk
    for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n')) {
      const frame = buffer.slice(0, end + 2)
      buffer = buffer.slice(end + 2)
      yield encoder.encode(frame)
      left -= frame.includes('data: ') ? 1 : 0
      // Half a message more, as a connection breaks anywhere.
      if (left === 0) yield encoder.encode('id: x.1\ndata: {"ty')
      if (left === 0) throw new TypeError('terminated')
    }
  }
}

const sse = (...frames: string[]) =>
  new Response(frames.map((frame) => `${frame}\n\n`).join(''), { headers: { 'Content-Type': 'text/event-stream' } })

/** Answers one request after the other with what is listed. */
function scriptedFetch(...answers: (() => Response)[]) {
  const requests: { url: string; init: RequestInit }[] = []
  const scripted: typeof fetch = async (input, init = {}) => {
    requests.push({ url: String(input), init })
    const answer = answers[requests.length - 1]
    if (answer === undefined) throw new Error('nobody expected another request')
    return answer()
  }
  return { fetch: scripted, requests }
}

describe('chat', () => {
  test('gets the whole answer and continues the session', async () => {
    await using server = await open(withTool)

    const first = await server.client.chat(agent, 'Look.')
    const second = await server.client.chat(agent, 'Again.', { session: first.session_id })

    expect(first).toEqual({
      message_id: expect.any(String),
      content: 'Let me see.\n\nA ship.',
      session_id: expect.any(String),
      tool_calls: [{ name: 'look', arguments: { to: 'port' }, status: 'success' }],
      tokens_used: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
      execution_time_ms: expect.any(Number),
    })
    expect(second.session_id).toBe(first.session_id)
  })

  test('brings files', async () => {
    const told: unknown[] = []
    await using server = await open({ onRequest: ({ messages }) => void told.push(messages.at(-1)?.content) })
    const files = [{ content: btoa('Buy milk.'), mime_type: 'text/plain', filename: 'note.txt' }]

    await server.client.chat(agent, 'Read.', { files })
    const { run_id } = await server.client.send('other', 'Read this too.', { files })
    await all(server.client.events({ run: run_id }))
    expect(told).toEqual([
      expect.stringMatching(/^Read\.[\s\S]*Buy milk\./),
      expect.stringMatching(/^Read this too\.[\s\S]*Buy milk\./),
    ])
  })

  test('throws what the run failed with', async () => {
    await using server = await open({
      answers: [{ parts: [{ error: { code: 'model_rate_limited', message: 'Why.' } }] }],
    })

    const error = await server.client.chat(agent, 'a').catch((thrown: unknown) => thrown)

    expect(error).toBeInstanceOf(ClientError)
    expect(error).toMatchObject({
      code: 'model_rate_limited',
      status: 502,
      message: 'Why.',
      problem: { instance: `/agent/${agent}/chat`, session_id: expect.any(String) },
    })
    expect(server.pauses).toEqual([])
  })

  test('throws what is wrong with the input', async () => {
    await using server = await open()

    await expect(server.client.chat(agent, ' ')).rejects.toMatchObject({
      code: 'invalid_request',
      status: 400,
      problem: { errors: [{ pointer: '/message' }] },
    })
    await expect(server.client.chat('no/body', 'a')).rejects.toMatchObject({ code: 'agent_not_found', status: 404 })
  })

  test('asks again when the answer was lost, and starts no second run', async () => {
    let lost = 0
    const losing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (lost === 2) return response
      lost += 1
      await response.text()
      throw new TypeError('fetch failed')
    }
    await using server = await open({}, { fetch: losing })

    expect(await server.client.chat(agent, 'a')).toMatchObject({ content: 'Hello.' })

    expect(server.engine.stats().runsStarted).toBe(1)
    expect(server.pauses).toEqual([250, 500])
  })

  test('asks again when the answer broke off', async () => {
    const broken = () =>
      new Response(ReadableStream.from(firstOf(new Response('data: {\n\n').body ?? new ReadableStream(), 1)))
    const script = scriptedFetch(broken, () => Response.json({ content: 'Hi.' }))
    const client = createClient({ url: 'http://server', fetch: script.fetch, sleep: async () => {} })

    expect(await client.chat(agent, 'a')).toEqual({ content: 'Hi.' })

    const keys = script.requests.map(({ init }) => new Headers(init.headers).get('idempotency-key'))
    expect(keys).toEqual([expect.stringMatching(/^client-\w{10,}$/), keys[0]])
  })

  test('says that the run waits for a person', async () => {
    const waiting = { status: 'waiting', run_id: 'r', approval_ids: ['a'] }
    const { fetch } = scriptedFetch(() => Response.json(waiting, { status: 202 }))

    await expect(createClient({ url: 'http://server', fetch }).chat(agent, 'a')).rejects.toMatchObject({
      code: 'waiting',
      status: 202,
      problem: waiting,
    })
  })

  test('can be left', async () => {
    const model = createGatedModel()
    await using server = await open({ model })
    const leave = new AbortController()
    const waiting = server.client.chat(agent, 'a', { signal: leave.signal })
    await until(() => model.requests.length === 1)

    leave.abort(new Error('enough'))

    await expect(waiting).rejects.toThrow('enough')
    expect(server.pauses).toEqual([])
  })
})

describe('stream', () => {
  test('yields the events of an answer', async () => {
    await using server = await open(withTool)

    const events = await all(server.client.stream(agent, 'Look.'))

    const [start] = events
    if (start?.type !== 'stream_start') throw new Error('no start')
    const { session_id, message_id } = start
    const [id, tool_call_id] = [expect.stringMatching(/^\w{26}\.\d+$/), expect.any(String)]
    expect(events).toEqual([
      { type: 'stream_start', id, session_id, message_id },
      { type: 'message_delta', id, delta: 'Let ', message_id },
      { type: 'message_delta', id, delta: 'me see.', message_id },
      { type: 'tool_call_start', id, tool_call_id, name: 'look', message_id },
      { type: 'tool_call_args', id, tool_call_id, args_delta: '{"to":"port"}' },
      { type: 'tool_call_end', id, tool_call_id, status: 'success' },
      { type: 'message_delta', id, delta: '\n\nA ship.', message_id },
      {
        type: 'stream_end',
        id,
        message_id,
        tokens_used: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
        execution_time_ms: expect.any(Number),
      },
    ])
  })

  test('shows a delta while the model still speaks', async () => {
    const model = createGatedModel()
    await using server = await open({ model })
    const events = server.client.stream(agent, 'a')
    model.say(text('One'))
    const seen: (string | undefined)[] = []
    for await (const event of events) {
      seen.push(event.type === 'message_delta' ? event.delta : event.type)
      if (seen.at(-1) === 'One') model.say(text(' two'), stop)
    }

    expect(seen).toEqual(['stream_start', 'One', ' two', 'stream_end'])
  })

  test.each([1, 2, 3])('yields each event once over connections that break behind %d', async (count) => {
    const breaking = breakingFetch(count)
    await using server = await open(withTool, { fetch: breaking.fetch })

    const events = await all(server.client.stream(agent, 'Look.'))

    expect(outline(events)).toEqual([
      'stream_start',
      'message_delta Let ',
      'message_delta me see.',
      'tool_call_start',
      'tool_call_args',
      'tool_call_end',
      'message_delta \n\nA ship.',
      'stream_end',
    ])
    expect(server.engine.stats().runsStarted).toBe(1)
    // The id of a message that broke off half-way is no place to go on from.
    const asked = breaking.requests.map(({ lastEventId }) => lastEventId)
    expect(asked).toEqual([null, ...events.filter((_, i) => (i + 1) % count === 0 && i < 7).map(({ id }) => id)])
    expect(new Set(breaking.requests.map(({ key }) => key)).size).toBe(1)
  })

  test('finds its run again when it broke before the first event', async () => {
    let first = true
    const losing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (!first) return response
      first = false
      await response.body?.cancel()
      throw new TypeError('fetch failed')
    }
    await using server = await open({}, { fetch: losing })

    expect(outline(await all(server.client.stream(agent, 'a')))).toEqual([
      'stream_start',
      'message_delta Hello.',
      'stream_end',
    ])
    expect(server.engine.stats().runsStarted).toBe(1)
  })

  test('throws what the run failed with, behind what came before', async () => {
    await using server = await open({
      answers: [{ parts: [{ text: 'Well' }, { error: { code: 'model_failed', message: 'Why.' } }] }],
    })
    const seen: StreamEvent[] = []
    const reading = (async () => {
      for await (const event of server.client.stream(agent, 'a')) seen.push(event)
    })()

    await expect(reading).rejects.toMatchObject({ code: 'model_failed', status: 502, message: 'Why.' })
    expect(outline(seen)).toEqual(['stream_start', 'message_delta Well'])
  })

  test('is stopped by a cancel', async () => {
    await using server = await open({ model: createGatedModel() })

    const reading = (async () => {
      for await (const event of server.client.stream(agent, 'a')) {
        if (event.type === 'stream_start') await server.client.cancel(event.message_id)
      }
    })()

    await expect(reading).rejects.toMatchObject({ code: 'cancelled', status: 409 })
  })

  test('can be left with a signal', async () => {
    await using server = await open({ model: createGatedModel() })
    const leave = new AbortController()
    const reading = (async () => {
      for await (const _event of server.client.stream(agent, 'a', { signal: leave.signal })) {
        leave.abort(new Error('enough'))
      }
    })()

    await expect(reading).rejects.toThrow('enough')
    expect(server.pauses).toEqual([])
  })
})

const outline = (events: readonly StreamEvent[]): string[] =>
  events.map((event) => (event.type === 'message_delta' ? `message_delta ${event.delta}` : event.type))

describe('background runs', () => {
  test('are sent, followed to their end, and looked at', async () => {
    await using server = await open()

    const sent = await server.client.send('holiday', 'Where to?')
    const events = await all(server.client.events({ run: sent.run_id }))

    expect(events.map(({ event }) => event.type)).toEqual([
      'RUN_STARTED',
      'STEP_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED',
      'RUN_FINISHED',
    ])
    expect(await server.client.run(sent.run_id)).toMatchObject({
      run_id: sent.run_id,
      session_id: 'holiday',
      status: 'completed',
      error: null,
    })
    const [, second] = events
    expect(await all(server.client.events({ run: sent.run_id }, { after: second?.id ?? '' }))).toEqual(events.slice(2))
    expect(await all(server.client.events({ run: sent.run_id }, { after: events.at(-1)?.id ?? '' }))).toEqual([])
  })

  test('are shown whole over connections that break behind every second event', async () => {
    const breaking = breakingFetch(2)
    await using server = await open(withTool, { fetch: breaking.fetch })
    const whole = createClient({ url: server.url })
    const { run_id } = await whole.send('s', 'Look.')

    expect(await all(server.client.events({ run: run_id }))).toEqual(await all(whole.events({ run: run_id })))
    expect(breaking.requests.length).toBeGreaterThan(5)
  })

  test('of one session are followed one after the other until the reader leaves', async () => {
    await using server = await open()
    const leave = new AbortController()
    await server.client.send('s', 'one')
    const seen: string[] = []
    const reading = (async () => {
      for await (const { event } of server.client.events({ session: 's' }, { signal: leave.signal })) {
        if (event.type !== 'RUN_FINISHED') continue
        seen.push(event.type)
        if (seen.length === 2) leave.abort(new Error('enough'))
        else await server.client.send('s', 'two')
      }
    })()

    await expect(reading).rejects.toThrow('enough')
    expect(seen).toEqual(['RUN_FINISHED', 'RUN_FINISHED'])
  })

  test('can be stopped, again and again', async () => {
    await using server = await open({ model: createGatedModel() })
    const { run_id } = await server.client.send('s', 'a')

    await server.client.cancel(run_id)
    const events = await all(server.client.events({ run: run_id }))

    expect(events.at(-1)?.event).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } })
    expect(await server.client.cancel(run_id)).toMatchObject({ status: 'cancelled' })
  })

  test('end with an event when they fail', async () => {
    await using server = await open({ answers: [{ parts: [{ error: { code: 'model_failed', message: 'Why.' } }] }] })
    const { run_id } = await server.client.send('s', 'a')

    const events = await all(server.client.events({ run: run_id }))

    expect(events.at(-1)?.event).toMatchObject({ type: 'RUN_ERROR', code: 'model_failed', message: 'Why.' })
  })

  test('of a server that stops are taken up again after its restart', async () => {
    const event = (seq: number, data: object) => `id: s.${seq}\ndata: ${JSON.stringify(data)}`
    const { fetch, requests } = scriptedFetch(
      () =>
        sse(
          event(1, { type: 'RUN_STARTED' }),
          'data: {"type":"MESSAGES_SNAPSHOT"}',
          'data: {"type":"RUN_ERROR","code":"shutting_down"}',
        ),
      () => Response.json({ code: 'not_ready', detail: 'Soon.' }, { status: 503 }),
      () => {
        throw new TypeError('fetch failed')
      },
      () => sse(': hello', event(2, { type: 'RUN_FINISHED' })),
    )
    const pauses: number[] = []
    const client = createClient({ url: 'http://server', fetch, sleep: async (ms) => void pauses.push(ms) })

    expect(await all(client.events({ run: 'r' }))).toEqual([
      { id: 's.1', event: { type: 'RUN_STARTED' } },
      { id: null, event: { type: 'MESSAGES_SNAPSHOT' } },
      { id: 's.2', event: { type: 'RUN_FINISHED' } },
    ])
    expect(requests.map(({ init }) => new Headers(init.headers).get('last-event-id'))).toEqual([
      null,
      's.1',
      's.1',
      's.1',
    ])
    expect(pauses).toEqual([250, 500, 1_000])
  })
})

describe('the client', () => {
  test('deletes a session, and is content with one that is gone', async () => {
    await using server = await open()
    const { session_id, message_id } = await server.client.chat(agent, 'a')

    await server.client.deleteSession(session_id)
    await server.client.deleteSession(session_id)

    await expect(server.client.run(message_id)).rejects.toMatchObject({ code: 'run_not_found', status: 404 })
  })

  test('speaks for its token', async () => {
    await using server = await open({}, { token: userToken.token })

    const { session_id } = await server.client.chat(agent, 'a')

    expect((await server.engine.sessions.get('ada', session_id)).owner).toBe('ada')
  })

  test('gives up when nobody answers', async () => {
    const gone = await startServer({ routes: [] })
    await gone[Symbol.asyncDispose]()
    const pauses: number[] = []
    const client = createClient({ url: gone.url, sleep: async (ms) => void pauses.push(ms) })

    await expect(client.run('r')).rejects.toMatchObject({ code: 'unreachable', status: null, problem: null })
    expect(pauses).toEqual([250, 500, 1_000, 2_000])
    await expect(all(client.events({ run: 'r' }))).rejects.toMatchObject({ code: 'unreachable' })
    expect(pauses).toHaveLength(8)
  })

  test('says when something else answers', async () => {
    const page = () => new Response('<html>', { headers: { 'Content-Type': 'text/html' } })
    const { fetch } = scriptedFetch(page, page, () => new Response('no', { status: 404 }))
    const client = createClient({ url: 'http://server/', fetch })

    await expect(client.run('r')).rejects.toMatchObject({ code: 'unexpected_answer', status: 200 })
    await expect(all(client.events({ run: 'r' }))).rejects.toMatchObject({ code: 'unexpected_answer', status: 200 })
    await expect(client.run('r')).rejects.toMatchObject({ code: 'unexpected_answer', status: 404 })
  })

  test.each(['', 'localhost:8000', 'ftp://server'])('refuses the address %j', (url) => {
    expect(() => createClient({ url })).toThrow('Write one like http://127.0.0.1:8000.')
  })
})
