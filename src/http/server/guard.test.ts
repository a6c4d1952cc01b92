import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import {
  openRaw,
  problemOfText,
  route,
  startServer,
  statusOfText,
  type TestServerOptions,
} from '../testing/server-fixture.ts'
import { createGuard } from './guard.ts'

const hello = route('GET /hello', (_request, reply) => reply.json(200, 'hello'))

async function ask(
  options: Partial<TestServerOptions>,
  headers: (port: number) => string[],
  line = 'GET /hello HTTP/1.1',
) {
  await using server = await startServer({ routes: [hello], ...options })
  const client = await openRaw(server.port)
  client.send([line, ...headers(server.port), 'Connection: close', '', ''].join('\r\n'))
  const text = await client.closed()
  return { text, status: statusOfText(text), cors: text.match(/^(?:access-control|vary)[^\r]*/gim) ?? [] }
}

describe('Host', () => {
  test.each(['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]'])(
    'answers for %s with the port it listens on',
    async (name) => {
      expect(await ask({}, (port) => [`Host: ${name}:${port}`])).toMatchObject({ status: 200 })
    },
  )

  test.each([
    'evil.example',
    'localhost.',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.0.0.2',
    '0.0.0.0',
    '[::2]',
    'a@localhost',
    '',
  ])('does not answer for %j', async (name) => {
    const { status, text } = await ask({}, (port) => [`Host: ${name}:${port}`])

    expect(status).toBe(421)
    expect(problemOfText(text)).toMatchObject({ code: 'host_not_allowed', instance: '/hello' })
  })

  test('another port is another host', async () => {
    expect(await ask({}, (port) => [`Host: localhost:${port + 1}`])).toMatchObject({ status: 421 })
    expect(await ask({}, () => ['Host: localhost'])).toMatchObject({ status: 421 })
  })

  test('a name that was allowed on one port is checked again on another', () => {
    const settings = { tokenRequired: false, allowedHosts: [], origins: [], publicUrl: null }
    const guard = createGuard({ host: '127.0.0.1', loopbackOnly: true, ...settings })
    const on = (localPort: number, host: string) =>
      guard.check(
        {
          httpVersion: '1.1',
          headers: { host },
          rawHeaders: ['Host', host],
          socket: { localPort, localAddress: '127.0.0.1' },
        } as IncomingMessage,
        null,
      )

    expect([on(8000, 'localhost:8000'), on(8000, 'localhost:8000')]).toEqual([[], []])
    expect(() => on(8001, 'localhost:8000')).toThrow('does not answer for the host')
    expect(() => on(8000, 'evil.example:8000')).toThrow('does not answer for the host')
  })

  test('there must be exactly one', async () => {
    expect(await ask({}, (port) => [`Host: localhost:${port}`, 'Host: evil.example'])).toMatchObject({ status: 400 })
    expect(await ask({}, () => [])).toMatchObject({ status: 400 })
  })

  test('HTTP/1.0 needs none', async () => {
    expect(await ask({}, () => [], 'GET /hello HTTP/1.0')).toMatchObject({ status: 200 })
  })

  test('an absolute target follows the same rule', async () => {
    const host = (port: number) => [`Host: localhost:${port}`]

    expect(await ask({}, host, 'GET http://evil.example/hello HTTP/1.1')).toMatchObject({ status: 421 })
    const allowedHosts = ['proxied.example']
    expect(await ask({ guard: { allowedHosts } }, host, 'GET http://proxied.example/hello HTTP/1.1')).toMatchObject({
      status: 200,
    })
  })

  test('listed hosts are allowed, with any port unless one is given', async () => {
    const guard = { allowedHosts: ['agents.example', 'Other.example:8443'] }

    expect(await ask({ guard }, () => ['Host: agents.example'])).toMatchObject({ status: 200 })
    expect(await ask({ guard }, () => ['Host: agents.example:99'])).toMatchObject({ status: 200 })
    expect(await ask({ guard }, () => ['Host: other.example:8443'])).toMatchObject({ status: 200 })
    expect(await ask({ guard }, () => ['Host: other.example'])).toMatchObject({ status: 421 })
  })

  test('beyond loopback, the address of the connection is allowed as a host, names are not', async () => {
    const guard = { loopbackOnly: false, host: '0.0.0.0' }

    expect(await ask({ guard }, (port) => [`Host: 127.0.0.1:${port}`])).toMatchObject({ status: 200 })
    expect(await ask({ guard }, (port) => [`Host: 192.0.2.1:${port}`])).toMatchObject({ status: 421 })
    expect(await ask({ guard }, (port) => [`Host: 0.0.0.0:${port}`])).toMatchObject({ status: 421 })
    expect(await ask({ guard }, (port) => [`Host: rebound.example:${port}`])).toMatchObject({ status: 421 })
  })

  test('the configured host name is allowed', async () => {
    const guard = { host: 'My-Laptop.local' }

    expect(await ask({ guard }, (port) => [`Host: my-laptop.local:${port}`])).toMatchObject({ status: 200 })
  })

  test('"*" needs a token', async () => {
    await expect(ask({ guard: { allowedHosts: ['*'] } }, () => [])).rejects.toThrow('only if every request needs')
  })
})

describe('Origin', () => {
  const from = (origin: string) => (port: number) => [`Host: localhost:${port}`, `Origin: ${origin}`]
  const granted = (origin: string) => [
    `Access-Control-Allow-Origin: ${origin}`,
    ...(origin === '*' ? [] : ['Vary: Origin']),
    'Access-Control-Expose-Headers: X-Correlation-ID, Location, Link, X-Total-Count, Retry-After, Mcp-Session-Id',
  ]

  test.each(['http://localhost:3000', 'https://localhost', 'http://127.0.0.1:5173', 'http://[::1]:80'])(
    'pages of this machine are allowed: %s',
    async (origin) => {
      expect(await ask({}, from(origin))).toMatchObject({ status: 200, cors: granted(origin) })
    },
  )

  test.each([
    'https://evil.example',
    'null',
    'http://localhost.evil.example',
    'http://localhost:3000.evil.example',
    'http://localhost:80@evil.example',
    'file://',
    'http://127.0.0.1:5173/path',
  ])('other pages are refused without CORS headers: %s', async (origin) => {
    const { status, cors, text } = await ask({}, from(origin))

    expect({ status, cors }).toEqual({ status: 403, cors: [] })
    expect(problemOfText(text)).toMatchObject({ code: 'origin_not_allowed' })
  })

  test('a list replaces the pages of this machine', async () => {
    const guard = { origins: ['https://app.example'] }

    expect(await ask({ guard }, from('https://app.example'))).toMatchObject({
      status: 200,
      cors: granted('https://app.example'),
    })
    expect(await ask({ guard }, from('http://localhost:3000'))).toMatchObject({ status: 403, cors: [] })
  })

  test('a list with "local" keeps them', async () => {
    const guard = { origins: ['local', 'https://app.example'] }

    expect(await ask({ guard }, from('https://app.example'))).toMatchObject({ status: 200 })
    expect(await ask({ guard }, from('http://localhost:3000'))).toMatchObject({ status: 200 })
    expect(await ask({ guard }, from('https://evil.example'))).toMatchObject({ status: 403 })
    expect(await ask({ guard }, from('local'))).toMatchObject({ status: 403 })
  })

  test('pages of the server itself are always allowed', async () => {
    const guard = { allowedHosts: ['agents.example'], origins: [] }
    const own = () => ['Host: agents.example', 'Origin: https://agents.example']

    expect(await ask({ guard }, own)).toMatchObject({ status: 200 })
  })

  test('"*" is sent literally, and only if a token is required', async () => {
    const token = (port: number) => [
      ...from('https://any.example')(port),
      'Authorization: Bearer user-token-of-these-tests',
    ]
    const auth = { tokenRequired: true }

    expect(await ask({ auth, guard: { origins: ['*'] } }, token)).toMatchObject({ status: 200, cors: granted('*') })
    await expect(ask({ guard: { origins: ['*'] } }, token)).rejects.toThrow('only if every request needs a token')
  })

  test('an allowed page can read a refusal for another reason', async () => {
    expect(await ask({ auth: { tokenRequired: true } }, from('http://localhost:3000'))).toMatchObject({
      status: 401,
      cors: granted('http://localhost:3000'),
    })
  })
})

describe('preflight', () => {
  const preflight = (origin: string) => (port: number) => [
    `Host: localhost:${port}`,
    `Origin: ${origin}`,
    'Access-Control-Request-Method: POST',
    'Access-Control-Request-Headers: content-type, X-CopilotKit-Runtime-Client-GQL-Version, traceparent, no name, x-ü, ',
    'Access-Control-Request-Private-Network: true',
  ]

  test('needs no token and lists allowed methods and headers, without credentials or private networks', async () => {
    const auth = { tokenRequired: true }

    const { status, cors } = await ask({ auth }, preflight('http://localhost:3000'), 'OPTIONS /hello HTTP/1.1')

    expect(status).toBe(204)
    expect(cors).toEqual([
      'Access-Control-Allow-Origin: http://localhost:3000',
      'Vary: Origin',
      'Access-Control-Expose-Headers: X-Correlation-ID, Location, Link, X-Total-Count, Retry-After, Mcp-Session-Id',
      'Access-Control-Allow-Methods: GET, HEAD, POST, PATCH, DELETE, OPTIONS',
      'Access-Control-Allow-Headers: authorization, content-type, accept, last-event-id, idempotency-key, x-on-busy, ' +
        'x-correlation-id, x-session-id, x-copilotkit-runtime-client-gql-version, traceparent',
      'Access-Control-Max-Age: 600',
    ])
  })

  test('of a foreign page is refused', async () => {
    expect(await ask({}, preflight('https://evil.example'), 'OPTIONS /hello HTTP/1.1')).toMatchObject({
      status: 403,
      cors: [],
    })
  })
})
