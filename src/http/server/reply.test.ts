import { describe, expect, test } from 'vitest'
import { createByteBudget } from '../../domain/byte-budget.ts'
import { ServerError } from '../../domain/errors.ts'
import type { ErrorShape } from '../problem.ts'
import {
  createManualClock,
  openRaw,
  route,
  startServer,
  type TestServerOptions,
  turn,
  until,
} from '../testing/server-fixture.ts'

async function ask(path: string, options: TestServerOptions, init: RequestInit = {}) {
  await using server = await startServer(options)
  const answer = await fetch(`${server.url}${path}`, init)
  const headers = Object.fromEntries(answer.headers)
  const own = ['date', 'connection', 'keep-alive', 'content-length']
  for (const name of own) delete headers[name]
  return { status: answer.status, headers, body: await answer.text(), lines: server.lines }
}

const common = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-correlation-id': 'c-1',
}
const init = { headers: { 'x-correlation-id': 'c-1' } }

describe('answers', () => {
  test('JSON has the common headers and its own', async () => {
    const hello = route('GET /', (_request, reply) => reply.json(201, { a: 'ü' }, { Location: '/x' }))

    expect(await ask('/', { routes: [hello] }, init)).toMatchObject({
      status: 201,
      headers: { ...common, 'content-type': 'application/json', location: '/x' },
      body: '{"a":"ü"}',
    })
  })

  test('an answer may be empty', async () => {
    const gone = route('DELETE /x', (_request, reply) => reply.empty(204))

    expect(await ask('/x', { routes: [gone] }, { ...init, method: 'DELETE' })).toMatchObject({
      status: 204,
      headers: common,
      body: '',
    })
  })

  test('HEAD is answered like GET without the body', async () => {
    const hello = route('GET /', (_request, reply) => reply.json(200, 'hello'))
    await using server = await startServer({ routes: [hello] })

    const answer = await fetch(server.url, { method: 'HEAD' })

    expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, '7', ''])
  })

  test('a large one arrives completely', async () => {
    const text = 'grüße 😀'.repeat(100_000)
    const large = route('GET /', (_request, reply) => reply.text(200, text, 'text/plain; charset=utf-8'))

    expect((await ask('/', { routes: [large] })).body).toBe(text)
  })

  test('JSON in pieces equals JSON in one piece, with a Content-Length only if it is short', async () => {
    const bodies = [
      {},
      { a: 1, list: [], b: 'ü' },
      { list: [{ a: 1 }, 'two', null], other: [[]] },
      { n: 1, list: Array.from({ length: 9 }, (_, i) => ({ i, text: '😀'.repeat(20_000) })), last: true },
    ]
    for (const body of bodies) {
      const pieces = route('GET /', (_request, reply) => reply.jsonPieces(200, body, { Link: '<x>' }))
      await using server = await startServer({ routes: [pieces] })
      const answer = await fetch(server.url)
      const isShort = JSON.stringify(body).length < 64 * 1024

      expect(await answer.text()).toBe(JSON.stringify(body))
      expect([answer.headers.get('content-length') !== null, answer.headers.get('link')]).toEqual([isShort, '<x>'])
      expect((await fetch(server.url, { method: 'HEAD' })).status).toBe(200)
    }
  })

  test('large ones wait for memory, and give it back when they are sent or nobody reads them', async () => {
    const clock = createManualClock()
    const budget = createByteBudget(100, clock)
    const list = Array.from({ length: 200 }, () => 'x'.repeat(100_000))
    const large = route('GET /', async (_request, reply) => {
      await reply.reserve(60)
      await reply.jsonPieces(200, { list })
    })
    await using server = await startServer({ routes: [large], clock, budget })
    const request = `GET / HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`
    const stuck = await openRaw(server.port)
    stuck.socket.pause()
    stuck.send(request)
    await until(() => budget.used === 60)
    const gone = await openRaw(server.port)
    gone.send(request)
    await until(() => budget.waiting === 1)
    gone.socket.destroy()

    const answer = fetch(server.url)
    await until(() => budget.waiting === 2)
    // A reader that keeps its memory for 30 s while others wait is dropped.
    while (budget.waiting > 0) {
      clock.advance(1_000)
      await turn()
    }
    expect((await (await answer).text()).length).toBe(JSON.stringify({ list }).length)
    await until(() => budget.used === 0)
  })

  test('only one large answer is made per turn of the loop, so that others are answered in between', async () => {
    const turns: number[] = []
    let now = 0
    let isOver = false
    const tick = () => {
      now += 1
      if (!isOver) setImmediate(tick)
    }
    const large = route('GET /', async (_request, reply) => {
      await reply.reserve(60)
      turns.push(now)
      await reply.jsonPieces(200, { list: ['x'.repeat(100_000), 'y'] })
    })
    await using server = await startServer({ routes: [large] })
    setImmediate(tick)

    await Promise.all(Array.from({ length: 20 }, async () => (await fetch(server.url)).text()))
    isOver = true

    expect(new Set(turns).size).toBe(20)
  })

  test('a large one to a client that does not read is dropped after 30 s', async () => {
    const clock = createManualClock()
    const large = route('GET /', (_request, reply) => reply.text(200, 'x'.repeat(64 * 1024 * 1024), 'text/plain'))
    await using server = await startServer({ routes: [large], clock })
    const client = await openRaw(server.port)
    client.socket.pause()
    client.send(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`)
    await until(() => server.server.stats().streams > 0)

    // Bytes that the kernel takes count as progress. It takes a few of the 64 MiB and then no more.
    while (server.server.stats().connections > 0) {
      clock.advance(30_000)
      await turn()
    }

    expect(server.lines.at(-1)).toMatchObject({ message: 'request', status: 200, cut: true })
    client.socket.destroy()
  })
})

describe('small answers that nobody reads', () => {
  test('are dropped after 30 s too', async () => {
    const clock = createManualClock()
    const small = route('GET /', (_request, reply) => reply.text(200, 'x'.repeat(60_000), 'text/plain'))
    await using server = await startServer({ routes: [small], clock })
    const client = await openRaw(server.port)
    client.socket.pause()
    const request = `GET / HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`
    // Until the kernel is full and an answer stays in the server.
    for (let i = 0; i < 1_000 && server.server.stats().streams === 0; i += 1) {
      client.send(request)
      await turn()
    }

    await until(() => {
      clock.advance(30_000)
      return server.server.stats().connections === 0
    })

    expect(server.lines.at(-1)).toMatchObject({ message: 'request', cut: true })
    client.socket.destroy()
  })
})

describe('failures', () => {
  test('that are thrown or passed to fail() become problems', async () => {
    const error = new ServerError('rate_limited', 'Slow down.', { details: { retry_after_seconds: 3 } })
    const thrown = route('GET /', () => Promise.reject(error))
    const given = route('GET /', (_request, reply) => reply.fail(error))

    for (const routes of [[thrown], [given]]) {
      const { status, headers, body } = await ask('/', { routes }, init)
      expect({ status, headers, body: JSON.parse(body) }).toEqual({
        status: 429,
        headers: {
          ...common,
          'content-type': 'application/problem+json',
          link: '</docs/look-up/errors.md#rate_limited>; rel="help"',
          'retry-after': '3',
        },
        body: {
          type: 'https://quarterdeck.dev/errors/rate_limited',
          title: 'Rate limited',
          status: 429,
          detail: 'Slow down.',
          instance: '/',
          code: 'rate_limited',
          correlation_id: 'c-1',
          retry_after_seconds: 3,
        },
      })
    }
  })

  test.each([
    ['a bug', () => Promise.reject(new TypeError('secret'))],
    [
      'a bug before the first await',
      () => {
        throw new TypeError('secret')
      },
    ],
    ['something that is no error', () => Promise.reject('secret')],
    ['no answer at all', () => {}],
  ])('%s is a 500 without details, and a line in the log', async (_name, handle) => {
    const { status, body, lines } = await ask('/', { routes: [route('GET /', handle)] }, init)

    expect({ status, body: JSON.parse(body) }).toMatchObject({
      status: 500,
      body: {
        code: 'internal_error',
        detail: 'The server could not answer. Look for the correlation id in its log to find the reason.',
      },
    })
    expect(body).not.toContain('secret')
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'unexpected error', correlation_id: 'c-1' }),
    )
  })

  test('a bug after the answer is logged and changes nothing', async () => {
    const twice = route('GET /', (_request, reply) => {
      reply.json(200, 1)
      reply.json(200, 2)
    })

    const { status, body, lines } = await ask('/', { routes: [twice] })

    expect({ status, body }).toEqual({ status: 200, body: '1' })
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'error', error: new Error('a request was answered twice') }),
    )
  })

  test('a server failure that is shown to the caller also has its cause in the log', async () => {
    const error = new ServerError('storage_failed', 'The store does not answer.', { cause: new Error('EIO') })

    const { status, lines } = await ask('/', { routes: [route('GET /', () => Promise.reject(error))] }, init)

    expect(status).toBe(503)
    expect(lines).toContainEqual({ level: 'warn', message: 'request failed', correlation_id: 'c-1', error })
  })

  test('a failure that cannot be written cuts the connection of its caller only', async () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const routes = [
      route('GET /', () => Promise.reject(new ServerError('conflict', 'No.', { details: { circle } }))),
      route('GET /fine', (_request, reply) => reply.json(200, 'fine')),
    ]
    await using server = await startServer({ routes })

    await expect(fetch(server.url)).rejects.toThrow()

    expect(await (await fetch(`${server.url}/fine`)).json()).toBe('fine')
  })

  test('a door can use its own error format, also for requests that never reach it', async () => {
    const openai: ErrorShape = ({ status, detail, code }) => {
      return { status, contentType: 'application/json', body: { error: { message: detail, code } } }
    }
    const teapot: ErrorShape = (problem) => ({ status: 422, contentType: 'application/problem+json', body: problem })
    const routes = [
      route('GET /v1/models', () => Promise.reject(new ServerError('model_failed', 'No.'))),
      route('GET /chat', (_request, reply) => reply.fail(new ServerError('invalid_request', 'No.'), teapot)),
    ]
    const options = { routes, errorShapes: { v1: openai } }

    const thrown = await ask('/v1/models', options)
    const unseen = await ask('/v1/nothing', options)
    const given = await ask('/chat', options)

    expect([thrown.status, JSON.parse(thrown.body)]).toEqual([502, { error: { message: 'No.', code: 'model_failed' } }])
    expect([unseen.status, JSON.parse(unseen.body).error.code]).toEqual([404, 'route_not_found'])
    expect([given.status, JSON.parse(given.body).code]).toEqual([422, 'invalid_request'])
  })
})
