import { describe, expect, test } from 'vitest'
import { ClientGone } from '../client-gone.ts'
import type { ByteStream, Reply, Request } from '../route.ts'
import {
  createManualClock,
  openRaw,
  route,
  startServer,
  type TestServerOptions,
  turn,
  until,
  userToken,
} from '../testing/server-fixture.ts'

/** A server whose handler passes its stream to the test. */
async function setUp(
  open: (reply: Reply) => ByteStream = (reply) => reply.sse(),
  more: Partial<TestServerOptions> = {},
) {
  const clock = createManualClock()
  const opened = Promise.withResolvers<{ stream: ByteStream; request: Request }>()
  const done = Promise.withResolvers<void>()
  const events = route('GET /events', (request, reply) => {
    opened.resolve({ stream: open(reply), request })
    return done.promise
  })
  const server = await startServer({ routes: [events], clock, ...more })
  async function connect(line = 'GET /events HTTP/1.1', ...headers: string[]) {
    const client = await openRaw(server.port)
    client.send([line, `Host: 127.0.0.1:${server.port}`, ...headers, '', ''].join('\r\n'))
    return { client, ...(await opened.promise) }
  }
  const close = async () => {
    done.resolve()
    await server[Symbol.asyncDispose]()
  }
  return { clock, server, connect, done, [Symbol.asyncDispose]: close }
}

const bodyOf = (text: string) => text.slice(text.indexOf('\r\n\r\n') + 4)

describe('streams of events', () => {
  test('open at once with their headers and a comment', async () => {
    await using server = await setUp()

    const { client } = await server.connect()

    const text = await client.until(/ok\n\n\r\n$/)
    const head = text.slice(0, text.indexOf('\r\n\r\n'))
    expect(head.split('\r\n').filter((line) => !/^(date|x-correlation-id):/i.test(line))).toEqual([
      'HTTP/1.1 200 OK',
      'Content-Type: text/event-stream',
      'Cache-Control: no-cache',
      'X-Accel-Buffering: no',
      'X-Content-Type-Options: nosniff',
      'Referrer-Policy: no-referrer',
      "Content-Security-Policy: default-src 'none'",
      'Connection: keep-alive',
      'Keep-Alive: timeout=5',
      'Transfer-Encoding: chunked',
    ])
    expect(bodyOf(text)).toBe('6\r\n: ok\n\n\r\n')
  })

  test('send what is written, byte for byte, and keep the connection usable', async () => {
    await using server = await setUp()
    const { client, stream } = await server.connect()

    expect(stream.write('data: grüße 😀\n\n')).toBeUndefined()
    expect(stream.write('')).toBeUndefined()
    expect(stream.write(new Uint8Array([104, 105]))).toBeUndefined()
    stream.end()

    const text = Buffer.from(await client.until(/0\r\n\r\n$/), 'latin1').toString()
    expect(bodyOf(text)).toBe('6\r\n: ok\n\n\r\n14\r\ndata: grüße 😀\n\n\r\n2\r\nhi\r\n0\r\n\r\n')
    client.send(`GET /nowhere HTTP/1.1\r\nHost: 127.0.0.1:${server.server.port}\r\nConnection: close\r\n\r\n`)
    expect(await client.closed()).toMatch(/0\r\n\r\nHTTP\/1.1 404 Not Found/)
  })

  test('reach an HTTP/1.0 client without chunks', async () => {
    await using server = await setUp()
    const { client, stream } = await server.connect('GET /events HTTP/1.0')

    stream.write('data: 1\n\n')
    stream.end()

    expect(bodyOf(await client.closed())).toBe(': ok\n\ndata: 1\n\n')
  })

  test('are ended when the handler is done', async () => {
    await using server = await setUp()
    const { client } = await server.connect()

    server.done.resolve()

    expect(await client.until(/0\r\n\r\n$/)).toContain(': ok')
  })

  test('that fail are cut, so that they do not look complete', async () => {
    await using server = await setUp()
    const { client } = await server.connect()

    await client.until(/ok/)
    server.done.reject(new Error('a bug'))

    expect(bodyOf(await client.closed())).toBe('6\r\n: ok\n\n\r\n')
    expect(server.server.lines).toContainEqual(expect.objectContaining({ level: 'error', message: 'unexpected error' }))
  })

  test('HEAD gets the headers only, and the handler is told to stop', async () => {
    await using server = await setUp()

    const { client, stream, request } = await server.connect('HEAD /events HTTP/1.1', 'Connection: close')

    expect(await client.closed()).toMatch(/^HTTP\/1.1 200 OK\r\n.*text\/event-stream.*\r\n\r\n$/s)
    await expect(stream.write('data: 1\n\n')).rejects.toThrow(ClientGone)
    expect(request.signal.aborted).toBe(true)
  })

  test('binary streams have their own type and no comments', async () => {
    await using server = await setUp((reply) => reply.stream('application/x-frames', { 'X-Own': 'yes' }))
    const { client, stream } = await server.connect('GET /events HTTP/1.1', 'Connection: close')

    await client.until(/\r\n\r\n$/)
    server.clock.advance(60_000)
    stream.write(new Uint8Array([0, 255]))
    stream.end()

    const text = await client.closed()
    expect(text).toMatch(/^content-type: application\/x-frames\r$/im)
    expect(text).toMatch(/^x-own: yes\r$/im)
    expect(bodyOf(text)).toBe('2\r\n\0\xff\r\n0\r\n\r\n')
  })
})

describe('silence', () => {
  test('a comment is sent within every 15 s of silence', async () => {
    await using server = await setUp()
    const { client, stream } = await server.connect()
    const comments = () => client.received().split(': keep-alive\n\n').length - 1

    server.clock.advance(13_000)
    stream.write('data: 1\n\n')
    await client.until(/data: 1/)
    server.clock.advance(13_000)
    expect(comments()).toBe(0)
    server.clock.advance(2_000)
    await client.until(/keep-alive/)
    server.clock.advance(30_000)
    await client.until(/(keep-alive.*){3}/s)
    stream.end()
    await client.until(/0\r\n\r\n$/)
    expect(comments()).toBe(3)
  })
})

describe('readers that do not read', () => {
  const event = 'x'.repeat(60_000)

  /** Writes until the kernel takes no more, and returns the pending promise. */
  async function fill(stream: ByteStream): Promise<{ waiting: Promise<unknown>; written: number }> {
    for (let written = 1; written < 5_000; written += 1) {
      let isOpen = true
      const waiting = stream.write(event)?.then(
        () => {
          isOpen = false
        },
        (error) => error,
      )
      if (waiting === undefined) continue
      for (let i = 0; i < 200 && isOpen; i += 1) await turn()
      if (isOpen) return { waiting, written }
    }
    throw new Error('the kernel took 300 MB')
  }

  test('block the writer until they continue to read', async () => {
    await using server = await setUp()
    const { client, stream } = await server.connect()
    client.socket.pause()
    const { waiting, written } = await fill(stream)

    client.socket.resume()

    await expect(waiting).resolves.toBeUndefined()
    expect(stream.write('done')).toBeUndefined()
    stream.end()
    const text = await client.until(/done\r\n0\r\n\r\n$/)
    expect(text.match(/x{60000}/g)).toHaveLength(written)
  })

  test('get all of a large chunk, also if the stream ends after it', async () => {
    await using server = await setUp()
    const { client, stream } = await server.connect()
    const large = 'é'.repeat(4 * 1024 * 1024)

    const waiting = stream.write(large)
    stream.end()

    await waiting
    const text = await client.until(/0\r\n\r\n$/)
    const bytes = Buffer.from(text.replace(/\r\n[0-9a-f]+\r\n/g, ''), 'latin1').toString()
    expect(bytes.split('é').length - 1).toBe(large.length)
  })

  test('are dropped after 30 s without progress', async () => {
    await using server = await setUp()
    const { client, stream, request } = await server.connect()
    client.socket.pause()
    const { waiting } = await fill(stream)

    server.clock.advance(29_999)
    expect(server.server.server.stats().streams).toBe(1)
    server.clock.advance(1)
    expect(await waiting).toBeInstanceOf(ClientGone)
    await aborted(request)
    expect(server.server.server.stats().streams).toBe(0)
    client.socket.destroy()
  })

  test('are not dropped while they make progress', async () => {
    await using server = await setUp()
    const { client, stream, request } = await server.connect()
    client.socket.pause()
    const waiting = stream.write('x'.repeat(64 * 1024 * 1024))
    const outcome = waiting?.catch((error) => error)
    const sent = () => request.raw.socket.bytesWritten
    let before = await settled(sent)

    for (let i = 0; i < 3; i += 1) {
      server.clock.advance(29_000)
      expect(server.server.server.stats().streams).toBe(1)
      client.socket.resume()
      await until(() => sent() > before)
      client.socket.pause()
      before = await settled(sent)
    }
    server.clock.advance(31_000)
    expect(await outcome).toBeInstanceOf(ClientGone)
    client.socket.destroy()
  })

  test('cost at most 256 KiB and one event, also if the writer does not wait', async () => {
    await using server = await setUp()
    const { client, stream, request } = await server.connect()
    client.socket.pause()
    await fill(stream)

    const outcomes = Array.from({ length: 10 }, () => stream.write(event)?.catch((error) => error))

    await aborted(request)
    expect(await Promise.all(outcomes)).toEqual(outcomes.map(() => expect.any(ClientGone)))
    // Four are within the limit. The fifth is the one event beyond it. With the sixth the reader is dropped.
    expect(new Set(outcomes.slice(0, 5)).size).toBe(5)
    expect(server.server.server.stats().streams).toBe(0)
    client.socket.destroy()
  })
})

describe('readers that leave', () => {
  test('abort the signal and fail the next write', async () => {
    await using server = await setUp()
    const { client, stream, request } = await server.connect()
    expect(request.signal.aborted).toBe(false)

    client.socket.destroy()

    await aborted(request)
    await expect(stream.write('data: 1\n\n')).rejects.toThrow(ClientGone)
    server.done.resolve()
  })

  test('by closing only their half count as gone', async () => {
    await using server = await setUp()
    const { client, request } = await server.connect()

    client.socket.end()

    await aborted(request)
    await client.closed()
  })

  test('are dropped within about a second when their token is revoked', async () => {
    let tokens = [userToken]
    await using server = await setUp(undefined, { auth: { tokens: () => tokens, tokenRequired: true } })
    const { client } = await server.connect('GET /events HTTP/1.1', `Authorization: Bearer ${userToken.token}`)

    server.clock.advance(1_000)
    expect(server.server.server.stats().streams).toBe(1)
    tokens = []
    server.clock.advance(1_000)

    expect(await client.closed()).toMatch(/^HTTP\/1.1 200/)
  })
})

function aborted(request: Request): Promise<void> {
  return new Promise((resolve) => {
    if (request.signal.aborted) resolve()
    else request.signal.addEventListener('abort', () => resolve())
  })
}

/** Returns the value once it has not changed for many turns of the loop. */
async function settled(read: () => number): Promise<number> {
  for (let last = read(), same = 0; ; same = read() === last ? same + 1 : 0, last = read()) {
    if (same === 200) return last
    await turn()
  }
}
