import { IncomingMessage } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { TLSSocket } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { exchange, openRaw, problemOfText, route, startServer, until } from '../testing/server-fixture.ts'
import { createGuard } from './guard.ts'
import { readTlsPair } from './tls-pair.ts'

const pathOf = (name: string) => join(import.meta.dirname, '..', 'testing', name)
const paths = { cert: pathOf('localhost-cert.pem'), key: pathOf('localhost-key.pem') }
const tls = readTlsPair(paths)
const hello = route('GET /hello', (_request, reply) => reply.json(200, 'hello'))

/** A request over its own connection. The certificate is checked, unless `options` say otherwise. */
async function ask(url: string, options: RequestOptions = {}): Promise<{ status: number | undefined; body: string }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpsRequest(url, { ca: tls.cert, agent: false, ...options }, resolve)
      .on('error', reject)
      .end()
  })
  return { status: response.statusCode, body: await text(response) }
}

describe('a server with a certificate', () => {
  test('answers over https, under its name and its address', async () => {
    await using server = await startServer({ routes: [hello], tls })

    expect(await ask(`https://127.0.0.1:${server.port}/hello`)).toEqual({ status: 200, body: '"hello"' })
    expect(await ask(`https://localhost:${server.port}/hello`, { host: '127.0.0.1' })).toEqual({
      status: 200,
      body: '"hello"',
    })
    await until(() => server.server.stats().connections === 0)
  })

  test('applies the same rules as without', async () => {
    await using server = await startServer({ routes: [hello], tls })
    const failure = async (options: RequestOptions) => {
      const { status, body } = await ask(`${server.url}/hello`, options)
      const { code }: { code: string } = JSON.parse(body)
      return [status, code]
    }

    expect(await failure({ servername: 'localhost', headers: { host: 'evil.example' } })).toEqual([
      421,
      'host_not_allowed',
    ])
    expect(await failure({ headers: { origin: 'https://evil.example' } })).toEqual([403, 'origin_not_allowed'])
    expect(await failure({ method: 'PUT' })).toEqual([405, 'method_not_allowed'])
    expect((await ask(`${server.url}/hello`, { headers: { origin: 'https://localhost:1234' } })).status).toBe(200)
  })

  test('streams, and ends the streams when it stops', async () => {
    const opened = Promise.withResolvers<void>()
    const events = route('GET /events', (request, reply) => {
      reply.sse()
      opened.resolve()
      return new Promise<void>((resolve) => request.signal.addEventListener('abort', () => resolve()))
    })
    await using server = await startServer({ routes: [events], tls })
    const answer = ask(`${server.url}/events`)
    await opened.promise
    expect(server.server.stats()).toEqual({ connections: 1, inWork: 1, streams: 1 })

    await server.server.close({ drainMs: 0 })

    expect(await answer).toEqual({ status: 200, body: ': ok\n\n' })
  })

  test('also closes connections that have not finished the handshake', async () => {
    await using server = await startServer({ routes: [hello], tls, limits: { headersMs: 60_000, requestMs: 60_000 } })
    const silent = await openRaw(server.port)

    await server.server.close({ drainMs: 0 })

    expect(await silent.closed()).toBe('')
  })

  test('does not answer plain http, and goes on', async () => {
    await using server = await startServer({ routes: [hello], tls })

    expect(await exchange(server.port, 'GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n')).toBe('')
    expect((await ask(`${server.url}/hello`)).status).toBe(200)
  })

  test('without one, https is answered with a hint', async () => {
    await using server = await startServer({ routes: [hello] })

    // The first bytes of a TLS handshake.
    const answer = await exchange(server.port, new Uint8Array([0x16, 0x03, 0x01, 0x00, 0x05, 0x01, 0, 0, 1, 0]))

    expect(problemOfText(answer).detail).toBe('This port speaks plain HTTP; use http:// instead of https://.')
  })
})

test('a Host without a port means 443 over https and 80 over http', () => {
  const guard = createGuard({
    host: '127.0.0.1',
    loopbackOnly: true,
    tokenRequired: false,
    allowedHosts: [],
    origins: ['local'],
    publicUrl: null,
  })
  const check = (socket: Socket, localPort: number) => {
    Object.defineProperty(socket, 'localPort', { value: localPort })
    const request = new IncomingMessage(socket)
    request.httpVersion = '1.1'
    request.rawHeaders = ['Host', 'localhost']
    request.headers.host = 'localhost'
    return guard.check(request, null)
  }

  expect(check(new TLSSocket(new Socket()), 443)).toEqual([])
  expect(check(new Socket(), 80)).toEqual([])
  expect(() => check(new TLSSocket(new Socket()), 80)).toThrow('does not answer for the host')
  expect(() => check(new Socket(), 443)).toThrow('does not answer for the host')
})

describe('the files of a certificate', () => {
  test('the error names a file that cannot be read', () => {
    expect(() => readTlsPair({ ...paths, key: '/nowhere/key.pem' })).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        message: 'tls.key: /nowhere/key.pem cannot be read (ENOENT). Give the path of a PEM file.',
      }),
    )
  })

  test('two files that do not belong together are refused before the server listens', () => {
    const message = new RegExp(`^tls.cert ${paths.cert} and tls.key ${paths.cert} cannot be used together: .+`)

    expect(() => readTlsPair({ cert: paths.cert, key: paths.cert })).toThrow(message)
  })
})
