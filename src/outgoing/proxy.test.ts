import { readFileSync } from 'node:fs'
import net from 'node:net'
import tls, { type TLSSocket } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { type ConnectionOptions, createConnections } from './connections.ts'
import { ask, turns, until } from './testing/ask.ts'
import { openProxy } from './testing/open-proxy.ts'
import { answerOf, listenRaw, openServer, type RawServer } from './testing/raw-server.ts'

const pem = (part: 'cert' | 'key') =>
  readFileSync(new URL(`../http/testing/localhost-${part}.pem`, import.meta.url), 'utf8')

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

function poolOf(options: Partial<ConnectionOptions>) {
  const connections = createConnections()
  cleanups.push(connections.close)
  return connections.pool({ proxyVariables: null, ...options })
}

async function opened<T extends { close(): unknown }>(opening: Promise<T>): Promise<T> {
  const server = await opening
  cleanups.push(() => server.close())
  return server
}

const plainServer = (): Promise<RawServer> =>
  opened(listenRaw((socket, { count }) => socket.write(answerOf(String(count)))))

function secureServer(options: tls.TlsOptions, answer: (socket: TLSSocket) => string): Promise<RawServer> {
  const server = tls.createServer({ cert: pem('cert'), key: pem('key'), ...options }, (socket) => {
    socket.on('error', () => {})
    socket.on('data', () => socket.write(answerOf(answer(socket))))
  })
  return opened(openServer(server))
}

describe('a proxy', () => {
  test('gets the whole address of an http request, and the next one on the same connection', async () => {
    const server = await plainServer()
    const proxy = await opened(openProxy(server.port, { credentials: 'jö:a b' }))
    const variables = { HTTP_PROXY: `http://j%C3%B6:a%20b@127.0.0.1:${proxy.port}` }
    // btoa cannot encode ö; what counts is that the text is the same.
    const plain = await opened(openProxy(server.port, { credentials: 'me:a b' }))
    const pool = poolOf({ proxyVariables: { ...variables, http_proxy: `http://me:a%20b@127.0.0.1:${plain.port}` } })
    for (const expected of ['1', '2']) {
      expect((await ask(pool, 'http://model.test/v1/x?a=b').outcome).body).toBe(expected)
      await turns(3)
    }
    const asked = { line: 'GET http://model.test/v1/x?a=b', credentials: 'me:a b' }
    expect([plain.asked, plain.connections, proxy.connections]).toEqual([[asked, asked], 1, 0])
    expect(pool.proxies()).toEqual([{ proxy: `http://127.0.0.1:${plain.port}`, from: 'http_proxy' }])
  })

  test('gets the requests for all http servers on the same connections', async () => {
    const server = await plainServer()
    const proxy = await opened(openProxy(server.port))
    const pool = poolOf({ proxy: `127.0.0.1:${proxy.port}` })
    for (const expected of ['1', '2', '3']) {
      expect((await ask(pool, `http://${expected}.model.test/`).outcome).body).toBe(expected)
      await turns(3)
    }
    expect(proxy.connections).toBe(1)
    expect(proxy.asked.map(({ line }) => line)).toEqual([1, 2, 3].map((n) => `GET http://${n}.model.test/`))
  })

  test('that closes a connection while it is used again gets the request on a new one', async () => {
    const proxy = await opened(
      listenRaw((socket, { connection, count }) => {
        if (count === 2) socket.resetAndDestroy()
        else socket.write(answerOf(`${connection} ${count}`))
      }),
    )
    const pool = poolOf({ proxy: `127.0.0.1:${proxy.port}` })
    const bodies: unknown[] = []
    for (let i = 0; i < 2; i += 1) {
      bodies.push((await ask(pool, 'http://model.test/').outcome).body)
      await turns(3)
    }
    expect(bodies).toEqual(['1 1', '2 3'])
  })

  test('makes a tunnel for https, which is used again; it sees only the name of the server', async () => {
    const server = await secureServer({}, (socket) => String(socket.servername))
    const proxy = await opened(openProxy(server.port, { credentials: 'me:word' }))
    const pool = poolOf({ proxy: `http://me:word@127.0.0.1:${proxy.port}`, tls: { ca: pem('cert') } })
    for (let i = 0; i < 2; i += 1) {
      expect((await ask(pool, 'https://localhost/v1').outcome).body).toBe('localhost')
      await turns(3)
    }
    expect(proxy.asked).toEqual([{ line: 'CONNECT localhost:443', credentials: 'me:word' }])
  })

  test('does not make the certificate of the server trusted', async () => {
    const server = await secureServer({}, () => 'x')
    const proxy = await opened(openProxy(server.port))
    const variables = { https_proxy: `127.0.0.1:${proxy.port}` }
    const pool = poolOf({ proxyVariables: variables, tls: { ca: pem('cert') } })
    expect(await ask(pool, 'https://model.test/').outcome).toEqual({ failure: 'ERR_TLS_CERT_ALTNAME_INVALID' })
    expect(proxy.asked).toEqual([{ line: 'CONNECT model.test:443', credentials: null }])
  })

  test.each([
    ['wants a password', { credentials: 'me:word' }, 'PROXY_REFUSED_407', 'PROXY_REFUSED_407'],
    ['forbids the server', { connectStatus: 403 }, 'PROXY_REFUSED_403', undefined],
    ['cannot reach the server', { connectStatus: 502 }, 'PROXY_REFUSED_502', undefined],
  ])('that %s: the failure says so', async (_, answer, secure, plain) => {
    const server = await plainServer()
    const proxy = await opened(openProxy(server.port, answer))
    const pool = poolOf({ proxy: `http://me:wrong@127.0.0.1:${proxy.port}` })
    expect((await ask(pool, 'https://model.test/').outcome).failure).toBe(secure)
    expect((await ask(pool, 'http://model.test/').outcome).failure).toBe(plain)
  })

  test('that is not there, hangs up or does not answer fails the request', async () => {
    const gone = await plainServer()
    await gone.close()
    const refused = poolOf({ proxy: `http://127.0.0.1:${gone.port}` })
    for (const url of ['http://model.test/', 'https://model.test/']) {
      expect((await ask(refused, url).outcome).failure).toBe('ECONNREFUSED')
    }
    const rude = await opened(openServer(net.createServer((socket) => socket.once('data', () => socket.destroy()))))
    const reset = poolOf({ proxy: `http://127.0.0.1:${rude.port}` })
    for (const url of ['http://model.test/', 'https://model.test/']) {
      expect((await ask(reset, url).outcome).failure).toBe('ECONNRESET')
    }
    const silent = await opened(openProxy(gone.port, { isSilent: true }))
    const waiting = poolOf({ proxy: `http://127.0.0.1:${silent.port}`, connectTimeoutMs: 100 })
    expect((await ask(waiting, 'https://model.test/').outcome).failure).toBe('CONNECT_TIMEOUT')
  })

  test('is not used by `fetch` either for this machine', async () => {
    const server = await plainServer()
    const proxy = await opened(openProxy(server.port))
    const pool = poolOf({ proxyVariables: { HTTP_PROXY: `127.0.0.1:${proxy.port}` } })
    for (const [url, expected] of [
      ['http://model.test/a', '1'],
      [`http://127.0.0.1:${server.port}/b`, '2'],
    ] as const) {
      expect(await (await pool.fetch(url)).text()).toBe(expected)
    }
    expect(proxy.asked.map(({ line }) => line)).toEqual(['GET http://model.test/a'])
  })
})

describe('fetch', () => {
  test('follows a redirect within the server, and sends nothing to another one', async () => {
    const other = await plainServer()
    const server = await opened(
      listenRaw((socket, { head }) => {
        const to = head.startsWith('GET /here') ? '/there' : `http://127.0.0.1:${other.port}/`
        const moved = `HTTP/1.1 307 Moved\r\nlocation: ${to}\r\ncontent-length: 0\r\n\r\n`
        socket.write(head.startsWith('GET /there') ? answerOf('there') : moved)
      }),
    )
    const origin = `http://127.0.0.1:${server.port}`
    const { fetch } = poolOf({})
    const headers = { 'x-api-key': 'secret' }
    expect(await (await fetch(`${origin}/here`, { headers })).text()).toBe('there')
    const elsewhere = `${origin} redirects to http://127.0.0.1:${other.port}. Nothing was sent there. Set the address to http://127.0.0.1:${other.port} if you trust it.`
    const failed = await fetch(`${origin}/away`, { headers }).catch((error: Error) => error.cause)
    expect(failed).toMatchObject({ code: 'config_invalid', message: elsewhere })
    expect(other.sockets).toEqual([])
  })
})

describe('a server with TLS', () => {
  test('gets the certificate that it asks for, directly and through a proxy', async () => {
    const who = (socket: TLSSocket) => `${socket.authorized} ${socket.getPeerCertificate().subject.CN}`
    const server = await secureServer({ ca: pem('cert'), requestCert: true, rejectUnauthorized: true }, who)
    const proxy = await opened(openProxy(server.port))
    const options = { tls: { cert: pem('cert'), key: pem('key'), ca: pem('cert') } }
    const url = `https://localhost:${server.port}/`
    expect((await ask(poolOf(options), url).outcome).body).toMatch(/^true /)
    expect((await ask(poolOf({ ...options, proxy: `127.0.0.1:${proxy.port}` }), url).outcome).body).toMatch(/^true /)
    const { failure } = await ask(poolOf({ tls: { ca: pem('cert') } }), url).outcome
    expect(failure).toMatch(/CERTIFICATE_REQUIRED|ECONNRESET/)
    expect((await ask(poolOf({}), url).outcome).failure).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
  })
})

describe('a server that never answers', () => {
  test('is closed by close, with and without a proxy before it', async () => {
    const hole = await opened(openServer(net.createServer((socket) => socket.resume())))
    const proxy = await opened(openProxy(hole.port))
    const url = `https://localhost:${hole.port}/`
    for (const proxies of [{}, { proxy: `127.0.0.1:${proxy.port}` }]) {
      const connections = createConnections()
      const asked = ask(connections.pool({ proxyVariables: null, ...proxies, connectTimeoutMs: 600_000 }), url)
      await until(() => hole.sockets.length === 1)
      connections.close()
      expect(await asked.outcome).toEqual({ failure: 'ECONNRESET' })
      await until(() => hole.sockets.every((socket) => socket.destroyed))
      hole.sockets.length = 0
    }
  })

  test('costs the connect timeout, and the failure says so', async () => {
    // It accepts the connection and never answers by TLS: the closest thing to a black hole inside one process.
    const hole = await opened(openServer(net.createServer(() => {})))
    const pool = poolOf({ connectTimeoutMs: 100 })
    const { outcome, calls } = ask(pool, `https://localhost:${hole.port}/`)
    expect([await outcome, calls]).toEqual([{ failure: 'CONNECT_TIMEOUT' }, ['failed']])
  })
})
