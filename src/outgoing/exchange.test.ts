import { readFileSync } from 'node:fs'
import net, { type Socket } from 'node:net'
import tls from 'node:tls'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { runs } from '../../test/tier.ts'
import { type ConnectionPool, createConnections } from './connections.ts'
import { DirectClient } from './direct-client.ts'
import { ask, type Outcome, turn, turns, until } from './testing/ask.ts'
import { answerOf, listenRaw, openServer, type RawServer } from './testing/raw-server.ts'
import { runInProcess } from './testing/run-in-process.ts'
import { buildConnector, Dispatcher } from './undici-parts.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

type Answer = Parameters<typeof listenRaw>[0]

function openPool(...closing: RawServer[]) {
  const connections = createConnections()
  cleanups.push(connections.close, ...closing.map(({ close }) => close))
  return { pool: connections.pool({ proxyVariables: null }), close: connections.close }
}

async function setUp(answer: Answer) {
  const server = await listenRaw(answer)
  const { pool, close } = openPool(server)
  const url = `http://127.0.0.1:${server.port}/`
  const get = async (path = ''): Promise<string | undefined> => {
    const { body, failure } = await ask(pool, url + path).outcome
    // A connection is free one turn of the event loop after the end of its answer.
    await turns(3)
    return failure ?? body
  }
  return { server, pool, close, url, get }
}

const certificate = (part: 'cert' | 'key') =>
  readFileSync(new URL(`../http/testing/localhost-${part}.pem`, import.meta.url))

describe('connections', () => {
  test('are used again one after the other, and there are as many as are needed at once', async () => {
    const waiting: Socket[] = []
    const { server, pool, url, get } = await setUp((socket, { head }) => {
      if (head.startsWith('GET /wait')) waiting.push(socket)
      else socket.write(answerOf('x'))
    })
    for (let i = 0; i < 5; i += 1) expect(await get()).toBe('x')
    expect(server.sockets).toHaveLength(1)
    const asked = Array.from({ length: 3 }, () => ask(pool, `${url}wait`).outcome)
    await until(() => waiting.length === 3)
    for (const socket of waiting) socket.write(answerOf('y'))
    await Promise.all(asked)
    expect(server.sockets).toHaveLength(3)
  })

  test('are not used again after the server has closed them', async () => {
    const { server, get } = await setUp((socket, { connection }) => socket.write(answerOf(String(connection))))
    expect(await get()).toBe('1')
    server.sockets[0]?.end()
    await until(() => server.sockets[0]?.destroyed === true)
    expect(await get()).toBe('2')
    server.sockets[1]?.resetAndDestroy()
    await turns()
    expect(await get()).toBe('3')
  })

  test('are not used again when the answer says so', async () => {
    const { get } = await setUp((socket, { connection, count }) => {
      if (count === 1) socket.write(answerOf(String(connection), 'connection: close\r\n'))
      else if (count === 2) socket.write(answerOf(String(connection)).replace('1.1', '1.0'))
      else socket.write(answerOf(String(connection)))
    })
    expect([await get(), await get(), await get(), await get()]).toEqual(['1', '2', '3', '3'])
  })

  test.each([
    ['timeout=5', 1],
    ['timeout=1', 2],
  ])('are used again as long as the server keeps them: %s', async (keepAlive, expected) => {
    const { server, get } = await setUp((socket) => socket.write(answerOf('x', `keep-alive: ${keepAlive}\r\n`)))
    expect([await get(), await get()]).toEqual(['x', 'x'])
    expect(server.sockets).toHaveLength(expected)
  })

  test('are closed when nobody needs them for a while', async () => {
    const server = await listenRaw((socket) => socket.write(answerOf('x')))
    const keepAlive = { keepAliveTimeout: 20, keepAliveMaxTimeout: 20, keepAliveTimeoutThreshold: 0 }
    const client = new DirectClient(
      (onread) => buildConnector({ onread } as Parameters<typeof buildConnector>[0]),
      keepAlive,
    )
    cleanups.push(server.close)
    const streams = { streams: client, dispatcher: new Dispatcher(), proxy: null, connectTimeoutMs: 1_000 }
    const { pool } = openPool()
    const closing = { ...pool, upstreamFor: () => streams }
    expect((await ask(closing, `http://127.0.0.1:${server.port}/`).outcome).body).toBe('x')
    await until(() => server.sockets[0]?.destroyed === true)
    expect((await ask(closing, `http://127.0.0.1:${server.port}/`).outcome).body).toBe('x')
  })

  test.each([
    ['with the answer', (socket: Socket) => socket.write(`${answerOf('good')}${answerOf('evil')}`)],
    [
      'after it',
      (socket: Socket) => {
        socket.write(answerOf('good'))
        setImmediate(() => socket.write(answerOf('evil')))
      },
    ],
  ])('are not used again when bytes came that nobody had asked for, %s', async (_, poison) => {
    const { server, get } = await setUp((socket, { count }) => {
      if (count === 1) poison(socket)
      else socket.write(answerOf('next'))
    })
    expect(await get()).toBe('good')
    await until(() => server.sockets[0]?.destroyed === true)
    expect(await get()).toBe('next')
  })

  test('bring a thousand requests at once their own answers', async () => {
    const { pool, url } = await setUp((socket, { head }) => {
      const path = head.slice(4, head.indexOf(' ', 4))
      setImmediate(() => socket.write(answerOf(path.repeat(100))))
    })
    const asked = Array.from({ length: 1_000 }, (_, i) => ask(pool, `${url}${i}`).outcome)
    const bodies = (await Promise.all(asked)).map(({ body }) => body)
    expect(bodies).toEqual(Array.from({ length: 1_000 }, (_, i) => `/${i}`.repeat(100)))
  })
})

describe('a connection that the server closes while it is used again', () => {
  const closings: [string, (socket: Socket) => void][] = [
    ['ended', (socket) => void socket.end()],
    ['reset', (socket) => void socket.resetAndDestroy()],
  ]

  test.each(closings)('%s: the request is sent again until the connection is a new one', async (_, close) => {
    const { server, pool, url, get } = await setUp((socket, { connection, count, head }) => {
      if (head.startsWith('GET /first') || connection > 2) socket.write(answerOf(`${connection} ${count}`))
      else close(socket)
    })
    await Promise.all([ask(pool, `${url}first`).outcome, ask(pool, `${url}first`).outcome])
    await turns(3)
    expect(await get()).toBe('3 5')
    expect(server.sockets).toHaveLength(3)
  })

  test.each(closings)('%s: the request is sent on a new connection only once', async (_, close) => {
    let asked = 0
    const { get } = await setUp((socket, { count }) => {
      asked = count
      if (count === 1) socket.write(answerOf('x'))
      else close(socket)
    })
    expect(await get()).toBe('x')
    expect(await get()).toBe('ECONNRESET')
    expect(asked).toBe(3)
  })

  test.each([
    ['a whole head', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n'],
    ['a part of a head', 'HTTP/1.1 2'],
    ['an informational answer', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ])('the request is not sent again when %s had come: the server has read it', async (_, beginning) => {
    let asked = 0
    const { get } = await setUp((socket, { count }) => {
      asked = count
      if (count === 1) socket.write(answerOf('x'))
      else socket.end(beginning)
    })
    expect(await get()).toBe('x')
    expect(await get()).toMatch(/ECONNRESET|BAD_HTTP/)
    expect(asked).toBe(2)
  })

  test('the request is not sent again after the exchange was destroyed', async () => {
    let asked = 0
    const { server, pool, url, get } = await setUp((socket, { count }) => {
      asked = count
      if (count === 1) socket.write(answerOf('x'))
    })
    expect(await get()).toBe('x')
    const second = ask(pool, url)
    await until(() => asked === 2)
    server.sockets[0]?.resetAndDestroy()
    second.exchange.destroy()
    await turns()
    expect([asked, second.calls, server.sockets.length]).toEqual([2, [], 1])
  })
})

describe('failures of a connection', () => {
  test('no server listens', async () => {
    const { server, get } = await setUp(() => {})
    await server.close()
    expect(await get()).toBe('ECONNREFUSED')
  })

  test('a name that does not exist', async () => {
    const { pool } = openPool()
    expect((await ask(pool, 'http://nothing.invalid/').outcome).failure).toMatch(/^(ENOTFOUND|EAI_AGAIN)$/)
  })

  test('a new connection that is reset, or ended, before the answer is not tried again', async () => {
    let asked = 0
    const { get } = await setUp((socket, { count }) => {
      asked = count
      if (count === 1) socket.resetAndDestroy()
      else socket.end()
    })
    expect([await get(), await get(), asked]).toEqual(['ECONNRESET', 'ECONNRESET', 2])
  })

  test('an answer that is cut off', async () => {
    const { pool, url } = await setUp((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel'))
    const { calls, outcome } = ask(pool, url)
    expect(await outcome).toMatchObject({ status: 200, failure: 'ECONNRESET' })
    expect(calls).toEqual(['head', 'body', 'failed'])
  })

  test('a server that does not speak HTTP, even one that waits after its greeting', async () => {
    const server = await openServer(net.createServer((socket) => socket.resume().write('220 mail.test ESMTP\r\n')))
    const { pool } = openPool(server)
    expect(await ask(pool, `http://127.0.0.1:${server.port}`).outcome).toEqual({ failure: 'BAD_HTTP' })
    await until(() => server.sockets[0]?.destroyed === true)
  })

  test('https where the server speaks only http, and the reverse', async () => {
    const { server, pool } = await setUp((socket) => socket.write(answerOf('x')))
    const closing = net.createServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad\r\n\r\n')))
    const plain = await openServer(closing)
    cleanups.push(plain.close)
    expect((await ask(pool, `https://127.0.0.1:${plain.port}/`).outcome).failure).toMatch(/EPROTO|ERR_SSL/)
    const secure = await openServer(tls.createServer({ cert: certificate('cert'), key: certificate('key') }))
    cleanups.push(secure.close)
    expect((await ask(pool, `http://127.0.0.1:${secure.port}/`).outcome).failure).toMatch(/BAD_HTTP|ECONNRESET/)
    expect(server.sockets).toEqual([])
  })

  test('a certificate that no authority signed: nothing is sent to the server', async () => {
    let read = ''
    const secure = tls.createServer({ cert: certificate('cert'), key: certificate('key') }, (socket) => {
      socket.on('error', () => {})
      socket.on('data', (bytes) => {
        read += bytes.toString()
      })
    })
    const server = await openServer(secure)
    const { pool } = openPool(server)
    const headers = { authorization: 'Bearer secret' }
    for (const host of ['localhost', '127.0.0.1']) {
      const { calls, outcome } = ask(pool, `https://${host}:${server.port}`, { headers })
      expect(await outcome).toEqual({ failure: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
      expect(calls).toEqual(['failed'])
    }
    await until(() => server.sockets.every((socket) => socket.destroyed))
    expect(read).toBe('')
  })
})

describe('what is sent', () => {
  async function wire(send: (pool: ConnectionPool, port: number) => Promise<Outcome>, host = '127.0.0.1') {
    let head = ''
    const server = await listenRaw((socket, request) => {
      head = request.head
      socket.write(answerOf('ok'))
    }, host)
    const { pool } = openPool(server)
    expect((await send(pool, server.port)).body).toBe('ok')
    return head.replaceAll(String(server.port), 'PORT').split('\r\n')
  }

  test('is the request, with no headers but the given and the necessary ones', async () => {
    const headers = { 'x-api-key': 'k' }
    expect(await wire((pool, port) => ask(pool, `http://127.0.0.1:${port}/v1/x?a=b#c`, { headers }).outcome)).toEqual([
      'GET /v1/x?a=b HTTP/1.1',
      'host: 127.0.0.1:PORT',
      'connection: keep-alive',
      'x-api-key: k',
    ])
    const post = { method: 'POST', headers: { accept: 'text/event-stream' }, body: 'Grüße' } as const
    expect(await wire((pool, port) => ask(pool, `http://localhost:${port}`, post).outcome)).toEqual([
      'POST / HTTP/1.1',
      'host: localhost:PORT',
      'connection: keep-alive',
      'accept: text/event-stream',
      'content-length: 7',
    ])
    const empty = { method: 'POST', headers: { host: 'other.test', connection: 'close' } } as const
    expect(await wire((pool, port) => ask(pool, `http://localhost:${port}`, empty).outcome)).toEqual([
      'POST / HTTP/1.1',
      'host: other.test',
      'connection: close',
      'content-length: 0',
    ])
  })

  test('names an IPv6 address in brackets', async () => {
    expect(await wire((pool, port) => ask(pool, `http://[::1]:${port}/`).outcome, '::1')).toContain('host: [::1]:PORT')
  })

  test('has the user and the password of the address, unless an authorization header is given', async () => {
    const basic = `authorization: Basic ${Buffer.from('Jörg:a:b c').toString('base64')}`
    const address = (port: number) => `http://J%C3%B6rg:a%3Ab%20c@127.0.0.1:${port}/`
    const plain = await wire((pool, port) => ask(pool, address(port)).outcome)
    expect(plain).toEqual(['GET / HTTP/1.1', 'host: 127.0.0.1:PORT', 'connection: keep-alive', basic])
    const headers = { authorization: 'Bearer k' }
    const better = await wire((pool, port) => ask(pool, address(port), { headers }).outcome)
    expect(better.filter((line) => line.startsWith('authorization'))).toEqual(['authorization: Bearer k'])
  })

  test('has an encoded path, with spaces, line ends and other scripts', async () => {
    const path = '/a b\r\nx: y/Grüße/日本?q=ä b\n&r="<>'
    expect((await wire((pool, port) => ask(pool, `http://127.0.0.1:${port}${path}`).outcome))[0]).toBe(
      'GET /a%20bx:%20y/Gr%C3%BC%C3%9Fe/%E6%97%A5%E6%9C%AC?q=%C3%A4%20b&r=%22%3C%3E HTTP/1.1',
    )
  })

  test.each<[string, string, Record<string, string>]>([
    ['a line end in a value', '', { 'x-api-key': 'k\r\nx-evil: 1' }],
    ['LF in a value', '', { 'x-api-key': 'k\nx-evil: 1' }],
    ['NUL in a value', '', { 'x-api-key': 'k\0' }],
    ['another script in a value', '', { 'x-api-key': 'ключ' }],
    ['a line end in a name', '', { 'x\r\ny': 'k' }],
    ['an empty name', '', { '': 'k' }],
    ['a length that is not ours', '', { 'content-length': '1' }],
    ['an encoding that is not ours', '', { 'transfer-encoding': 'chunked' }],
    ['another protocol', 'ftp://127.0.0.1/', {}],
    ['no address', 'nowhere', {}],
  ])('%s is refused before there is a connection', async (_, url, headers) => {
    const { server, pool, url: good } = await setUp(() => {})
    const outcome = async () => ask(pool, url || good, { headers }).outcome
    expect(await outcome().catch(({ name }: Error) => ({ failure: name }))).toMatchObject({
      failure: expect.stringMatching(/^(TypeError|UND_ERR_INVALID_ARG)$/),
    })
    await turns()
    expect(server.sockets).toEqual([])
  })

  test('may be answered before all of it is sent; the connection is not used again', async () => {
    const impatient = net.createServer((socket) => {
      socket.once('data', () => {
        socket.pause()
        socket.write(answerOf('too long').replace('200 OK', '413 Too Large'))
      })
    })
    const server = await openServer(impatient)
    const { pool } = openPool(server)
    const url = `http://127.0.0.1:${server.port}/`
    const body = 'x'.repeat(50_000_000)
    expect(await ask(pool, url, { method: 'POST', body }).outcome).toMatchObject({ status: 413, body: 'too long' })
    expect((await ask(pool, url).outcome).status).toBe(413)
    expect(server.sockets).toHaveLength(2)
  })
})

describe('reading', () => {
  test('an answer that comes in pieces through a socket is the same', async () => {
    const body = 'Grüße, 日本! '
    const text = [
      'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n',
      ...Array.from(body, (letter) => `${Buffer.byteLength(letter).toString(16)};e=1\r\n${letter}\r\n`),
      '0\r\nt: 1\r\n\r\n',
    ]
    const bytes = Buffer.from(text.join(''))
    let places: number[] = []
    const { server, get } = await setUp((socket) => {
      socket.setNoDelay(true)
      const ends = [...places.map((place) => place % bytes.length).sort((a, b) => a - b), bytes.length]
      let at = 0
      const write = () => {
        const end = ends.shift()
        if (end === undefined) return
        socket.write(bytes.subarray(at, end), () => setImmediate(write))
        at = end
      }
      write()
    })
    const cuts = fc.array(fc.nat(), { maxLength: 20 })
    const property = fc.asyncProperty(cuts, async (chosen) => {
      places = chosen
      expect(await get()).toBe(body)
    })
    await fc.assert(property, { numRuns: runs(50) })
    places = Array.from(bytes, (_, i) => i)
    expect(await get()).toBe(body)
    expect(server.sockets).toHaveLength(1)
  })

  test('loses nothing of an answer whose connection ended during a pause', async () => {
    let ended = false
    const { pool, url } = await setUp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.end('x'.repeat(150_000), () => {
        ended = true
      })
    })
    const asked = ask(pool, url, {}, (call, exchange) => call === 'head' && exchange.pause())
    await until(() => ended && asked.calls.length > 0)
    await turns()
    expect(asked.calls).not.toContain('end')
    asked.exchange.resume()
    expect((await asked.outcome).body?.length).toBe(150_000)
  })

  test('stops with pause, and loses nothing', async () => {
    const total = 64 * 1024 * 1024
    let sent = 0
    const { pool, url, get } = await setUp((socket, { count }) => {
      if (count > 1) return void socket.write(answerOf('next'))
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      const write = () => {
        while (sent < total) {
          sent += 65_536
          if (!socket.write(`10000\r\n${String.fromCharCode(97 + ((sent / 65_536) % 26)).repeat(65_536)}\r\n`)) {
            return void socket.once('drain', write)
          }
        }
        socket.write('0\r\n\r\n')
      }
      write()
    })
    const large = ask(pool, url, {}, (call, exchange) => call === 'head' && exchange.pause())
    await until(() => large.calls.length > 0)
    for (let before = -1; before !== sent; await turns()) before = sent
    const received = large.received()
    expect(received).toBeLessThanOrEqual(65_536)
    expect(sent).toBeLessThan(total / 2)
    large.exchange.resume()
    const { body = '' } = await large.outcome
    const expected = Array.from({ length: total / 65_536 }, (_, i) => String.fromCharCode(97 + ((i + 1) % 26)))
    expect(body.length).toBe(total)
    expect(Array.from(expected, (_, i) => body[i * 65_536])).toEqual(expected)
    expect(await get()).toBe('next')
  })
})

describe('destroy', () => {
  const states: [string, string, string[]][] = [
    ['before the answer', '', []],
    ['in the middle of the head', 'HTTP/1.1 200 OK\r\nx:', []],
    ['after the head', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n', ['head']],
    ['in the middle of the body', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel', ['head', 'body']],
  ]

  test.each(states)('%s closes the connection, and no handler is called after it', async (_, beginning, expected) => {
    let connection: Socket | null = null
    const { server, pool, url } = await setUp((socket) => {
      connection = socket
      socket.write(beginning)
    })
    const { exchange, calls } = ask(pool, url)
    await until(() => connection !== null && calls.length === expected.length)
    exchange.destroy()
    server.sockets[0]?.write('lo\r\n0\r\n\r\n')
    await until(() => server.sockets[0]?.destroyed === true)
    exchange.pause()
    exchange.resume()
    exchange.destroy()
    expect(calls).toEqual(expected)
  })

  test('works at once, before there is a connection', async () => {
    const { server, pool, url } = await setUp((socket) => socket.write(answerOf('x')))
    const { exchange, calls } = ask(pool, url)
    exchange.destroy()
    await turns()
    expect(calls).toEqual([])
    expect(server.sockets.every((socket) => socket.destroyed)).toBe(true)
  })

  test.each([
    ['head', ['head']],
    ['body', ['head', 'body']],
  ])('works inside of %s, when the whole answer is there', async (where, expected) => {
    const { server, pool, url } = await setUp((socket) => socket.write(answerOf('x')))
    const { calls } = ask(pool, url, {}, (call, exchange) => call === where && exchange.destroy())
    await until(() => server.sockets[0]?.destroyed === true)
    expect(calls).toEqual(expected)
  })

  test('does nothing after the end: the connection belongs to the next request', async () => {
    const { server, pool, url } = await setUp((socket, { count }) => {
      if (count === 1) socket.write(answerOf('first'))
      else setImmediate(() => socket.write(answerOf('second')))
    })
    const first = ask(pool, url)
    await first.outcome
    await turns(3)
    const second = ask(pool, url)
    first.exchange.pause()
    first.exchange.destroy()
    expect((await second.outcome).body).toBe('second')
    expect(server.sockets).toHaveLength(1)
  })
})

describe('close', () => {
  test('fails the requests under way, and no new connection is made', async () => {
    const { server, pool, close, url, get } = await setUp((socket, { head }) => {
      if (head.startsWith('GET /idle')) socket.write(answerOf('x'))
      if (head.startsWith('GET /head')) socket.write('HTTP/1.1 200 OK\r\n\r\n')
    })
    await get('idle')
    const stale = ask(pool, url)
    const begun = ask(pool, `${url}head`)
    const again = ask(pool, url, {}, () => void ask(pool, url))
    await until(() => server.sockets.length === 3 && begun.calls.length === 1)
    const late = ask(pool, url)
    close()
    const asked = [stale, begun, again, late]
    expect((await Promise.all(asked.map(({ outcome }) => outcome))).map(({ failure }) => failure)).toEqual(
      Array.from(asked, () => 'ECONNRESET'),
    )
    await until(() => server.sockets.every((socket) => socket.destroyed))
    await turn()
    expect(asked.map(({ calls }) => calls)).toEqual([['failed'], ['head', 'failed'], ['failed'], ['failed']])
    expect(await ask(pool, url).outcome).toEqual({ failure: 'ECONNRESET' })
  })

  test('is not needed for a process to end: idle connections do not keep it alive', async () => {
    const { server, url } = await setUp((socket) => socket.write(answerOf('x')))
    const code = `
      await Promise.all([ask(pool, url).outcome, ask(pool, url).outcome])
      await turns(3)
      console.log((await ask(pool, url).outcome).body)`
    expect(await runInProcess(code, url)).toBe('x\n')
    expect(server.sockets).toHaveLength(2)
  })

  test('lets a process end whose exchanges are under way; without it an exchange keeps the process alive', async () => {
    const { url } = await setUp((socket, { head }) => {
      if (head.startsWith('GET /slow')) setTimeout(() => socket.write(answerOf('slow')), 50)
      else socket.write('HTTP/1.1 200 OK\r\n\r\n')
    })
    const code = `
      ask(pool, url + 'slow').outcome.then(({ body }) => {
        console.log(body)
        ask(pool, url + 'slow')
        ask(pool, url, {}, (call) => {
          console.log(call)
          if (call === 'head') connections.close()
        })
      })`
    expect(await runInProcess(code, url)).toBe('slow\nhead\nfailed\n')
  })
})
