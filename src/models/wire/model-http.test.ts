import { getEventListeners } from 'node:events'
import type http from 'node:http'
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { turns, until } from '../../outgoing/testing/ask.ts'
import { failureFrom } from '../testing/fixtures.ts'
import { type Loopback, listen, sendStream, sse } from '../testing/loopback.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { openModelHttp } from '../testing/open-model-http.ts'
import { HttpConnectionError, HttpContentError, HttpStatusError } from './http-errors.ts'
import type { ModelHttp } from './model-http.ts'
import type { PayloadStream, TakePayloads } from './payload-stream.ts'
import { MAX_EVENT_LENGTH } from './sse-parser.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

type Answer = (response: http.ServerResponse, request: http.IncomingMessage, count: number) => void

async function setUp(answer: Answer, clock = createSystemClock()): Promise<{ server: Loopback; pool: ModelHttp }> {
  const server = await listen(answer)
  const pool = openModelHttp(clock)
  cleanups.push(() => server.close(), pool.close)
  return { server, pool }
}

const never = new AbortController().signal

const open = (pool: ModelHttp, url: string, signal: AbortSignal, take: TakePayloads): PayloadStream =>
  pool.stream({ url: new URL(url), headers: {}, body: {} }, signal, take)

async function read(pool: ModelHttp, url: string, signal = never): Promise<string[]> {
  const payloads: string[] = []
  await open(pool, url, signal, (batch) => {
    payloads.push(...batch)
  }).taken
  // A connection is free one turn of the event loop after the end of its answer.
  await turns(3)
  return payloads
}

/** Resolves when `value` has been the same for many turns of the event loop. */
async function unchanged(value: () => number): Promise<void> {
  for (let turns = 0, before = value(); turns < 500; turns = value() === before ? turns + 1 : 0) {
    before = value()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('model HTTP', () => {
  test('replaces half surrogate pairs, and leaves alone what only looks like one', async () => {
    const { server, pool } = await setUp((response) => sendStream(response, ['[DONE]']))
    const body = { text: 'a\ud83d 🚢 \\ud83d \\\ud83d \udc00', '\udfff': '"\n\u0001' }
    await pool.stream({ url: new URL(server.url), headers: {}, body }, never, () => undefined).taken
    expect(server.bodies).toEqual([{ text: 'a\ufffd 🚢 \\ud83d \\\ufffd \ufffd', '\ufffd': '"\n\u0001' }])
  })

  test('posts JSON and gives the payloads of the answer', async () => {
    const { server, pool } = await setUp((response) => sendStream(response, ['{"a":1}', 'ü', '[DONE]']))
    const request = {
      url: new URL(`${server.url}/v1/chat?x=1`),
      headers: { authorization: 'Bearer k' },
      body: { text: 'Grüße' },
    }
    const batches: (readonly string[])[] = []
    await pool.stream(request, never, (batch) => {
      batches.push(batch)
    }).taken
    expect(batches.flat()).toEqual(['{"a":1}', 'ü', '[DONE]'])
    expect(server.bodies).toEqual([{ text: 'Grüße' }])
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        url: '/v1/chat?x=1',
        headers: { authorization: 'Bearer k', 'content-type': 'application/json', accept: 'text/event-stream' },
      },
    ])
  })

  test('posts JSON and gives the whole answer', async () => {
    const { server, pool } = await setUp((response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"a":')
      response.end('"ü"}')
    })
    const request = { url: new URL(server.url), headers: { authorization: 'Bearer k' }, body: { text: 'Grüße' } }
    expect(await pool.post(request, never)).toMatchObject({ status: 200, body: '{"a":"ü"}' })
    expect(server.bodies).toEqual([{ text: 'Grüße' }])
    expect(server.requests).toMatchObject([{ headers: { authorization: 'Bearer k', accept: 'application/json' } }])
  })

  test('reads no more of an answer than a sensible one has', async () => {
    const piece = Buffer.alloc(1024 * 1024)
    const { server, pool } = await setUp((response) => {
      response.writeHead(200)
      const more = () => {
        while (response.write(piece)) {}
        response.once('drain', more)
      }
      more()
    })
    const request = { url: new URL(server.url), headers: {}, body: {} }
    expect(await failureFrom(pool.post(request, never))).toBeInstanceOf(HttpContentError)
    await until(() => server.sockets.every(({ destroyed }) => destroyed))
  })

  test('gives what one read of the socket completed in one array, at once', async () => {
    const { server, pool } = await setUp((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(sse(['1', '2', '3']))
    })
    const controller = new AbortController()
    const batches: (readonly string[])[] = []
    await open(pool, server.url, controller.signal, (batch) => {
      batches.push(batch)
      controller.abort()
    }).taken
    expect(batches).toEqual([['1', '2', '3']])
  })

  test('gives an empty array for a comment and for a piece of a long event', async () => {
    const { server, pool } = await setUp((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      next = () => response.write(pieces.shift() ?? '')
      next()
    })
    const pieces = [': OPENROUTER PROCESSING\n\n', 'data: o', 'ne\n\n']
    let next = (): unknown => null
    const batches: (readonly string[])[] = []
    const controller = new AbortController()
    await open(pool, server.url, controller.signal, (batch) => {
      batches.push(batch)
      if (batch.length > 0) controller.abort()
      else next()
    }).taken
    expect(batches).toEqual([[], [], ['one']])
  })

  test('uses one connection again and again', async () => {
    const { server, pool } = await setUp((response) => sendStream(response, ['x']))
    for (let count = 0; count < 5; count += 1) expect(await read(pool, server.url)).toEqual(['x'])
    expect(server.sockets).toHaveLength(1)
  })

  test('returns a connection to the pool although nobody waited for the end of the response', async () => {
    const clock = createManualClock()
    const { server, pool } = await setUp((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(sse(['[DONE]']))
      setImmediate(() => response.end())
    }, clock)
    for (let count = 0; count < 3; count += 1) {
      const stream = open(pool, server.url, never, (batch) => {
        expect(batch).toEqual(['[DONE]'])
        stream.release()
        return undefined
      })
      await stream.taken
      // The timer that would close it is cancelled once the response has ended.
      await until(() => clock.pending === 0)
      await turns(3)
    }
    expect(server.sockets).toHaveLength(1)
  })

  test('a release reads payloads that nobody took, so that the connection can be used again', async () => {
    const clock = createManualClock()
    const { server, pool } = await setUp((response, _, count) => {
      sendStream(
        response,
        Array.from({ length: count === 1 ? 2_000 : 1 }, () => 'x'.repeat(1_000)),
      )
    }, clock)
    const taking = Promise.withResolvers<void>()
    const stream = open(pool, server.url, never, () => taking.promise)
    await until(() => (server.sockets[0]?.bytesWritten ?? 0) > 0)
    await unchanged(() => server.sockets[0]?.bytesWritten ?? 0)
    stream.release()
    taking.resolve()
    await stream.taken
    await until(() => clock.pending === 0)
    await turns(3)
    expect(await read(pool, server.url)).toHaveLength(1)
    expect(server.sockets).toHaveLength(1)
  })

  test('closes a released connection whose server does not end the response', async () => {
    const clock = createManualClock()
    const { server, pool } = await setUp((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(sse(['[DONE]']))
    }, clock)
    const stream = open(pool, server.url, never, () => void stream.release())
    await stream.taken
    await clock.advance(999)
    expect(server.sockets.map((socket) => socket.destroyed)).toEqual([false])
    await clock.advance(1)
    await until(() => server.sockets[0]?.destroyed === true)
  })

  test.each<[string, TakePayloads]>([
    ['later', () => Promise.reject(new Error('full'))],
    [
      'at once',
      () => {
        throw new Error('full')
      },
    ],
  ])('closes the connection when the taker fails %s', async (_, take) => {
    const { server, pool } = await setUp((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(sse(['x']))
    })
    expect(await failureFrom(open(pool, server.url, never, take).taken)).toEqual(new Error('full'))
    await until(() => server.sockets[0]?.destroyed === true)
  })

  test('an abort in the middle of an answer closes the connection and ends the reading', async () => {
    const { server, pool } = await setUp((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(sse(['x']))
    })
    const controller = new AbortController()
    const payloads: string[] = []
    await open(pool, server.url, controller.signal, (batch) => {
      payloads.push(...batch)
      setImmediate(() => controller.abort())
    }).taken
    expect(payloads).toEqual(['x'])
    await until(() => server.sockets[0]?.destroyed === true)
  })

  test('an abort before the answer closes the connection too; one before the request opens none', async () => {
    const { server, pool } = await setUp(() => {})
    const controller = new AbortController()
    const reading = read(pool, server.url, controller.signal)
    await until(() => server.requests.length === 1)
    controller.abort()
    expect(await reading).toEqual([])
    await until(() => server.sockets[0]?.destroyed === true)

    expect(await read(pool, server.url, controller.signal)).toEqual([])
    expect(server.requests).toHaveLength(1)
  })

  test('stops reading while nobody takes the payloads, and loses none of them', async () => {
    const events = 4_000
    const payload = 'x'.repeat(10_000)
    let written = 0
    const { server, pool } = await setUp((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const write = () => {
        while (written < events) {
          written += 1
          if (!response.write(sse([payload]))) return void response.once('drain', write)
        }
        response.end()
      }
      write()
    })
    const first = Promise.withResolvers<void>()
    let taken = 0
    const stream = open(pool, server.url, never, (batch) => {
      taken += batch.length
      return first.promise
    })
    await until(() => taken > 0)
    await unchanged(() => written)
    // 40 MB wait at the server; the buffers of both sockets hold only a few of them.
    expect(written).toBeLessThan(events * 0.75)
    first.resolve()
    await stream.taken
    expect(taken).toBe(events)
  })

  test('sends the request again when the server closes an idle connection at that moment', async () => {
    const { server, pool } = await setUp((response, request, count) => {
      if (count === 2) request.socket.resetAndDestroy()
      else sendStream(response, [String(count)])
    })
    expect(await read(pool, server.url)).toEqual(['1'])
    expect(await read(pool, server.url)).toEqual(['3'])
    expect(server.sockets).toHaveLength(2)
  })

  test('throws the status, the headers and the beginning of the body', async () => {
    const { server, pool } = await setUp((response) => {
      response.writeHead(429, { 'retry-after': '3' })
      response.end(`{"error":"slow down"}${' '.repeat(1_000_000)}`)
    })
    const error = await failureFrom(read(pool, server.url))
    expect(error).toBeInstanceOf(HttpStatusError)
    if (!(error instanceof HttpStatusError)) return
    expect(error.answer).toMatchObject({ status: 429, headers: { 'retry-after': '3' } })
    expect(error.answer.body.trim()).toBe('{"error":"slow down"}')
    expect(error.answer.body.length).toBeLessThanOrEqual(64 * 1024)
  })

  test('does not wait for the body of an error that never ends', async () => {
    const clock = createManualClock()
    const { server, pool } = await setUp((response) => {
      response.writeHead(500)
      response.write('half')
    }, clock)
    const failing = failureFrom(read(pool, server.url))
    await until(() => clock.pending === 1)
    await clock.advance(5_000)
    expect(await failing).toMatchObject({ name: 'HttpStatusError', answer: { status: 500, body: 'half' } })
  })

  test('an abort while the body of an error is read leaves nothing behind, for a stream and a probe', async () => {
    const clock = createManualClock()
    const { server, pool } = await setUp((response) => {
      response.writeHead(500)
      response.write('half')
    }, clock)
    const controller = new AbortController()
    const reading = read(pool, server.url, controller.signal)
    const probing = pool.probe({ url: new URL(server.url), headers: {} }, controller.signal)
    await until(() => clock.pending === 2)
    controller.abort()
    expect([await reading, await probing]).toEqual([[], undefined])
    expect([clock.pending, getEventListeners(controller.signal, 'abort')]).toEqual([0, []])
    await until(() => server.sockets.every((socket) => socket.destroyed))
  })

  test('throws the status even when the body of the error is cut off', async () => {
    const clock = createManualClock()
    const { server, pool } = await setUp((response, request) => {
      response.writeHead(503, { 'content-length': '100' })
      response.write('half', () => request.socket.destroy())
    }, clock)
    const expected = { name: 'HttpStatusError', answer: { status: 503, body: 'half' } }
    expect(await failureFrom(read(pool, server.url))).toMatchObject(expected)
    expect(await failureFrom(pool.probe({ url: new URL(server.url), headers: {} }, never))).toMatchObject(expected)
    expect(clock.pending).toBe(0)
  })

  test.each([301, 302, 307, 308])('does not follow a redirect (%i)', async (status) => {
    const { server, pool } = await setUp((response) => response.writeHead(status, { location: '/elsewhere' }).end())
    expect(await failureFrom(read(pool, server.url))).toMatchObject({
      name: 'HttpStatusError',
      answer: { status, headers: { location: '/elsewhere' }, body: '' },
    })
    expect(server.requests).toHaveLength(1)
  })

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ])('reads an answer and an error that are compressed with %s', async (encoding, compress) => {
    const { server, pool } = await setUp((response, _, count) => {
      response.writeHead(count === 1 ? 200 : 400, { 'content-type': 'text/event-stream', 'content-encoding': encoding })
      response.end(compress(count === 1 ? sse(['x', 'ü']) : '{"error":"no"}'))
    })
    expect(await read(pool, server.url)).toEqual(['x', 'ü'])
    expect(await failureFrom(read(pool, server.url))).toMatchObject({ answer: { status: 400, body: '{"error":"no"}' } })
    expect(server.requests[0]?.headers).toMatchObject({ 'accept-encoding': 'gzip, br' })
  })

  test('gives a compressed event as soon as the server has flushed it', async () => {
    const gzip = createGzip()
    const { server, pool } = await setUp((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
      gzip.pipe(response)
      gzip.write(sse(['1']))
      gzip.flush()
    })
    const got: string[] = []
    await open(pool, server.url, never, (batch) => {
      got.push(...batch)
      if (got.length === 1 && batch.length > 0) gzip.end(sse(['2']))
    }).taken
    expect(got).toEqual(['1', '2'])
  })

  test('unpacks a decompression bomb only as fast as it is read, up to the limit of an event', async () => {
    const bomb = Buffer.concat(Array(20).fill(gzipSync(Buffer.alloc(10_000_000, 'x'))))
    const { server, pool } = await setUp((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
      response.end(bomb)
    })
    // Of this thread. Other tests use memory of the same process.
    const held = () => process.memoryUsage().heapUsed + process.memoryUsage().external
    const before = held()
    expect(await failureFrom(read(pool, server.url))).toMatchObject({ name: 'SseEventTooLarge' })
    expect(held() - before).toBeLessThan(100_000_000)
    await until(() => server.sockets[0]?.destroyed === true)
  })

  test('throws for compressed data that is cut off or damaged', async () => {
    const whole = gzipSync(sse(['x'.repeat(1_000)]))
    const { server, pool } = await setUp((response, _, count) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
      response.end(count === 1 ? whole.subarray(0, 20) : 'no gzip at all')
    })
    for (let i = 0; i < 2; i += 1) {
      expect(await failureFrom(read(pool, server.url))).toMatchObject({ name: 'HttpConnectionError', begun: true })
    }
  })

  test.each(['text/event-stream', 'application/json'])(
    'throws for an answer of type %s with an unknown compression',
    async (type) => {
      const { server, pool } = await setUp((response, _, count) => {
        response.writeHead(count === 1 ? 200 : 400, { 'content-type': type, 'content-encoding': 'zstd' })
        response.end(sse(['x']))
      })
      expect(await failureFrom(read(pool, server.url))).toMatchObject({
        name: 'HttpContentError',
        answer: { status: 200, headers: { 'content-encoding': 'zstd' }, body: '' },
      })
      await until(() => server.sockets[0]?.destroyed === true)
      expect(await failureFrom(read(pool, server.url))).toMatchObject({
        name: 'HttpStatusError',
        answer: { status: 400 },
      })
    },
  )

  test('reads an answer that says that it is not compressed', async () => {
    const { server, pool } = await setUp((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'Identity' })
      response.end(sse(['x']))
    })
    expect(await read(pool, server.url)).toEqual(['x'])
    expect(Object.keys(server.requests[0]?.headers ?? {}).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
    ])
    expect(server.requests[0]?.headers['user-agent']).toBe('quarterdeck/test')
  })

  test.each([
    ['text/html', '<!doctype html><title>Welcome</title>'],
    ['application/json', ' {"error":{"message":"no"}}'],
  ])('throws for %s instead of a stream', async (type, body) => {
    const { server, pool } = await setUp((response) => {
      response.writeHead(200, { 'content-type': type })
      response.end(body)
    })
    const error = await failureFrom(read(pool, server.url))
    expect(error).toBeInstanceOf(HttpContentError)
    expect(error).toMatchObject({ answer: { status: 200, body } })
  })

  test('reads a stream with a wrong content type', async () => {
    const { server, pool } = await setUp((response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(': hello\n\ndata: {"a":1}\n\n')
    })
    expect(await read(pool, server.url)).toEqual(['{"a":1}'])
  })

  test('throws when the connection breaks: before the answer, and in the middle of it', async () => {
    const { server, pool } = await setUp((response, request, count) => {
      if (count === 1) return void request.socket.resetAndDestroy()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(sse(['x']), () => request.socket.destroy())
    })
    const before = await failureFrom(read(pool, server.url))
    expect(before).toBeInstanceOf(HttpConnectionError)
    expect(before).toMatchObject({ begun: false, code: 'ECONNRESET' })
    expect(await failureFrom(read(pool, server.url))).toMatchObject({ name: 'HttpConnectionError', begun: true })
  })

  test('throws when no server listens', async () => {
    const { server, pool } = await setUp(() => {})
    await server.close()
    expect(await failureFrom(read(pool, server.url))).toMatchObject({ begun: false, code: 'ECONNREFUSED' })
  })

  test('throws for an answer that is not HTTP, from the beginning or in the middle', async () => {
    const { server, pool } = await setUp((response, request, count) => {
      if (count === 1) return void request.socket.end('220 mail.test ESMTP\r\n')
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(sse(['x']), () => request.socket.write('no chunk\r\n'))
    })
    const framing = { name: 'HttpConnectionError', code: 'BAD_HTTP' }
    expect(await failureFrom(read(pool, server.url))).toMatchObject({ ...framing, begun: false })
    expect(await failureFrom(read(pool, server.url))).toMatchObject({ ...framing, begun: true })
  })

  test('throws for a key that cannot be sent, and removes its abort listener', async () => {
    const { server, pool } = await setUp(() => {})
    const { signal } = new AbortController()
    const request = { url: new URL(server.url), headers: { authorization: 'Bearer a\nb' }, body: {} }
    const { taken } = pool.stream(request, signal, () => undefined)
    expect(await failureFrom(taken)).toMatchObject({ code: 'UND_ERR_INVALID_ARG' })
    expect(await failureFrom(pool.probe(request, signal))).toMatchObject({ code: 'UND_ERR_INVALID_ARG' })
    expect([getEventListeners(signal, 'abort'), server.sockets]).toEqual([[], []])
  })

  test('a release leaves no timer: after the end, and when the connection breaks', async () => {
    const clock = createManualClock()
    const { server, pool } = await setUp((response, _, count) => {
      if (count === 1) return sendStream(response.setHeader('connection', 'close'), ['x'])
      if (count === 2) return
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(sse(['x']))
    }, clock)
    const complete = open(pool, server.url, never, () => undefined)
    await complete.taken
    complete.release()
    expect(clock.pending).toBe(0)

    for (const [count, expected] of [
      [2, []],
      [3, ['x']],
    ] as const) {
      const got: string[] = []
      const stream = open(pool, server.url, never, (batch) => {
        got.push(...batch)
      })
      await until(() => server.requests.length === count && got.length === expected.length)
      stream.release()
      await stream.taken
      expect([got, clock.pending]).toEqual([expected, 1])
      server.sockets[count - 1]?.destroy()
      await until(() => clock.pending === 0)
    }
  })

  test('refuses an event that becomes too large only at its end', async () => {
    const { server, pool } = await setUp((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(Buffer.concat([Buffer.alloc(MAX_EVENT_LENGTH, 'x'), Buffer.from([0xc3])]))
    })
    expect(await failureFrom(read(pool, server.url))).toMatchObject({ name: 'SseEventTooLarge' })
  })

  test('refuses an event without end', async () => {
    const { server, pool } = await setUp((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const write = () => {
        while (!response.destroyed && response.write(`data: ${'x'.repeat(100_000)}`)) {}
        if (!response.destroyed) response.once('drain', write)
      }
      write()
    })
    expect(await failureFrom(read(pool, server.url))).toMatchObject({ name: 'SseEventTooLarge' })
    await until(() => server.sockets[0]?.destroyed === true)
  })

  test('a probe sends a GET, accepts any success and throws for other statuses', async () => {
    const { server, pool } = await setUp((response, request) => {
      response.writeHead(request.url === '/ok' ? 200 : 401).end('{"data":[]}')
    })
    await pool.probe({ url: new URL(`${server.url}/ok`), headers: { 'x-api-key': 'k' } }, never)
    expect(await failureFrom(pool.probe({ url: new URL(`${server.url}/no`), headers: {} }, never))).toMatchObject({
      name: 'HttpStatusError',
      answer: { status: 401, body: '{"data":[]}' },
    })
    expect(server.requests).toMatchObject([
      { method: 'GET', url: '/ok', headers: { 'x-api-key': 'k' } },
      { method: 'GET', url: '/no' },
    ])
  })
})
