import { readFileSync } from 'node:fs'
import net from 'node:net'
import tls, { type TLSSocket } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { createConnections, type WayOut } from './connections.ts'
import { ask, turns, until } from './testing/ask.ts'
import { openProxy } from './testing/open-proxy.ts'
import { answerOf, listenRaw, openServer, type RawServer } from './testing/raw-server.ts'

const pem = (part: 'cert' | 'key') =>
  readFileSync(new URL(`../http/testing/localhost-${part}.pem`, import.meta.url), 'utf8')

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

function linesOf(way: WayOut) {
  const connections = createConnections()
  cleanups.push(connections.close)
  return connections.through(way)
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
  test('gets the whole address of an http request, and is asked again on the same connection', async () => {
    const server = await plainServer()
    const proxy = await opened(openProxy(server.port, { credentials: 'jö:a b' }))
    const variables = { HTTP_PROXY: `http://j%C3%B6:a%20b@127.0.0.1:${proxy.port}` }
    // btoa knows no ö; what counts is that it is the same text.
    const plain = await opened(openProxy(server.port, { credentials: 'me:a b' }))
    const lines = linesOf({ proxyVariables: { ...variables, http_proxy: `http://me:a%20b@127.0.0.1:${plain.port}` } })
    for (const expected of ['1', '2']) {
      expect((await ask(lines, 'http://model.test/v1/x?a=b').outcome).body).toBe(expected)
      await turns(3)
    }
    const asked = { line: 'GET http://model.test/v1/x?a=b', credentials: 'me:a b' }
    expect([plain.asked, plain.connections, proxy.connections]).toEqual([[asked, asked], 1, 0])
    expect(lines.proxies()).toEqual([{ proxy: `http://127.0.0.1:${plain.port}`, from: 'http_proxy' }])
  })

  test('is asked for all http servers on the same connections', async () => {
    const server = await plainServer()
    const proxy = await opened(openProxy(server.port))
    const lines = linesOf({ proxy: `127.0.0.1:${proxy.port}` })
    for (const expected of ['1', '2', '3']) {
      expect((await ask(lines, `http://${expected}.model.test/`).outcome).body).toBe(expected)
      await turns(3)
    }
    expect(proxy.connections).toBe(1)
    expect(proxy.asked.map(({ line }) => line)).toEqual([1, 2, 3].map((n) => `GET http://${n}.model.test/`))
  })

  test('makes a tunnel for https, which is used again; it sees nothing but the name', async () => {
    const server = await secureServer({}, (socket) => String(socket.servername))
    const proxy = await opened(openProxy(server.port, { credentials: 'me:word' }))
    const lines = linesOf({ proxy: `http://me:word@127.0.0.1:${proxy.port}`, tls: { ca: pem('cert') } })
    for (let i = 0; i < 2; i += 1) {
      expect((await ask(lines, 'https://localhost/v1').outcome).body).toBe('localhost')
      await turns(3)
    }
    expect(proxy.asked).toEqual([{ line: 'CONNECT localhost:443', credentials: 'me:word' }])
  })

  test('does not vouch for the server behind it', async () => {
    const server = await secureServer({}, () => 'x')
    const proxy = await opened(openProxy(server.port))
    const variables = { https_proxy: `127.0.0.1:${proxy.port}` }
    const lines = linesOf({ proxyVariables: variables, tls: { ca: pem('cert') } })
    expect(await ask(lines, 'https://model.test/').outcome).toEqual({ failure: 'ERR_TLS_CERT_ALTNAME_INVALID' })
    expect(proxy.asked).toEqual([{ line: 'CONNECT model.test:443', credentials: null }])
  })

  test.each([
    ['wants a password', { credentials: 'me:word' }, 'PROXY_REFUSED_407', 'PROXY_REFUSED_407'],
    ['forbids the server', { connectStatus: 403 }, 'PROXY_REFUSED_403', undefined],
    ['cannot reach the server', { connectStatus: 502 }, 'PROXY_REFUSED_502', undefined],
  ])('that %s says so', async (_, answer, secure, plain) => {
    const server = await plainServer()
    const proxy = await opened(openProxy(server.port, answer))
    const lines = linesOf({ proxy: `http://me:wrong@127.0.0.1:${proxy.port}` })
    expect((await ask(lines, 'https://model.test/').outcome).failure).toBe(secure)
    expect((await ask(lines, 'http://model.test/').outcome).failure).toBe(plain)
  })

  test('that is not there, hangs up or keeps silent fails the request', async () => {
    const gone = await plainServer()
    await gone.close()
    const refused = linesOf({ proxy: `http://127.0.0.1:${gone.port}` })
    for (const url of ['http://model.test/', 'https://model.test/']) {
      expect((await ask(refused, url).outcome).failure).toBe('ECONNREFUSED')
    }
    const rude = await opened(openServer(net.createServer((socket) => socket.once('data', () => socket.destroy()))))
    const reset = linesOf({ proxy: `http://127.0.0.1:${rude.port}` })
    for (const url of ['http://model.test/', 'https://model.test/']) {
      expect((await ask(reset, url).outcome).failure).toBe('ECONNRESET')
    }
    const silent = await opened(openProxy(gone.port, { isSilent: true }))
    const waiting = linesOf({ proxy: `http://127.0.0.1:${silent.port}`, connectTimeoutMs: 100 })
    expect((await ask(waiting, 'https://model.test/').outcome).failure).toBe('CONNECT_TIMEOUT')
  })

  test('is not asked by `fetch` either for this machine', async () => {
    const server = await plainServer()
    const proxy = await opened(openProxy(server.port))
    const lines = linesOf({ proxyVariables: { HTTP_PROXY: `127.0.0.1:${proxy.port}` } })
    for (const [url, expected] of [
      ['http://model.test/a', '1'],
      [`http://127.0.0.1:${server.port}/b`, '2'],
    ] as const) {
      expect(await (await lines.fetch(url)).text()).toBe(expected)
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
    const { fetch } = linesOf({})
    const headers = { 'x-api-key': 'secret' }
    expect(await (await fetch(`${origin}/here`, { headers })).text()).toBe('there')
    const elsewhere = `${origin} redirects to http://127.0.0.1:${other.port}. Nothing is sent there: set the address to where it leads.`
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
    const way = { tls: { cert: pem('cert'), key: pem('key'), ca: pem('cert') } }
    const url = `https://localhost:${server.port}/`
    expect((await ask(linesOf(way), url).outcome).body).toMatch(/^true /)
    expect((await ask(linesOf({ ...way, proxy: `127.0.0.1:${proxy.port}` }), url).outcome).body).toMatch(/^true /)
    const { failure } = await ask(linesOf({ tls: { ca: pem('cert') } }), url).outcome
    expect(failure).toMatch(/CERTIFICATE_REQUIRED|ECONNRESET/)
    expect((await ask(linesOf({}), url).outcome).failure).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
  })
})

describe('a black hole', () => {
  test('is let go of by close, with and without a proxy before it', async () => {
    const hole = await opened(openServer(net.createServer((socket) => socket.resume())))
    const proxy = await opened(openProxy(hole.port))
    const url = `https://localhost:${hole.port}/`
    for (const proxies of [{}, { proxy: `127.0.0.1:${proxy.port}` }]) {
      const connections = createConnections()
      const asked = ask(connections.through({ ...proxies, connectTimeoutMs: 600_000 }), url)
      await until(() => hole.sockets.length === 1)
      connections.close()
      expect(await asked.outcome).toEqual({ failure: 'ECONNRESET' })
      await until(() => hole.sockets.every((socket) => socket.destroyed))
      hole.sockets.length = 0
    }
  })

  test('costs as long as a connection may take, and is called what it is', async () => {
    // It takes the connection and never says a word of TLS: in-process there is no darker hole.
    const hole = await opened(openServer(net.createServer(() => {})))
    const lines = linesOf({ connectTimeoutMs: 100 })
    const { outcome, calls } = ask(lines, `https://localhost:${hole.port}/`)
    expect([await outcome, calls]).toEqual([{ failure: 'CONNECT_TIMEOUT' }, ['failed']])
  })
})
