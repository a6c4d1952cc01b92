import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import type { Route } from '../route.ts'
import {
  createManualClock,
  echo,
  exchange,
  openRaw,
  operatorToken,
  problemOfText,
  route,
  startServer,
  statusOfText,
  until,
  userToken,
} from '../testing/server-fixture.ts'

const hello = route('GET /hello', (_request, reply) => reply.json(200, 'hello'))
const get = (port: number, path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...headers, '', ''].join('\r\n')

describe('requests', () => {
  test('a handler sees path, parameters, query, headers and caller', async () => {
    const all = route('GET /runs/:id', (request, reply) => {
      const { method, path, params, principal, correlationId } = request
      const query = [...request.query]
      reply.json(200, { method, path, params, query, principal, correlationId, own: request.header('X-Own') })
    })
    await using server = await startServer({ routes: [all] })
    const headers = { 'x-own': 'yes', 'x-correlation-id': 'c-1', authorization: `Bearer ${userToken.token}` }

    const answer = await fetch(`${server.url}/runs/a%20b?after=3&x=%26`, { headers })

    expect(answer.headers.get('x-correlation-id')).toBe('c-1')
    expect(await answer.json()).toEqual({
      method: 'GET',
      path: '/runs/a%20b',
      params: { id: 'a b' },
      query: [
        ['after', '3'],
        ['x', '&'],
      ],
      principal: { owner: 'ada', role: 'user', hasToken: true },
      correlationId: 'c-1',
      own: 'yes',
    })
  })

  test('those that wait too long are refused, and their handlers go on', async () => {
    const clock = createManualClock()
    const confirmed = Promise.withResolvers<void>()
    const ended: string[] = []
    const slow = (name: string, more: Partial<Route> = {}) => ({
      ...route(name, async (_request, reply) => {
        await confirmed.promise
        reply.json(200, name)
        ended.push(name)
      }),
      ...more,
    })
    const routes = [slow('GET /early'), slow('GET /late'), slow('GET /probe', { anytime: true })]
    await using server = await startServer({ routes, clock })
    const error = new ServerError('storage_failed', 'Not confirmed.')
    const open = async (path: string) => {
      const { status, headers } = await fetch(`${server.url}${path}`)
      return [status, headers.get('retry-after')]
    }
    const [first, probe] = [open('/early'), open('/probe')]
    await until(() => server.server.stats().inWork === 2)
    clock.advance(4_000)
    const second = open('/late')
    await until(() => server.server.stats().inWork === 3)

    server.server.refuseWaiting(4_000, error)

    expect(await first).toEqual([503, '1'])
    expect(ended).toEqual([])
    confirmed.resolve()
    expect(await Promise.all([second, probe])).toEqual([
      [200, null],
      [200, null],
    ])
    expect(ended.toSorted()).toEqual(['GET /early', 'GET /late', 'GET /probe'])
    expect(server.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('each one has a line in the log, with the pattern of its route and without its query', async () => {
    const noted = route('GET /runs/:id', (_request, reply) => {
      reply.note({ session_id: 's-1', run_id: 'r-1' })
      reply.json(200, {})
    })
    await using server = await startServer({ routes: [noted] })
    const headers = { 'x-correlation-id': 'c-1' }

    await fetch(`${server.url}/runs/7?token=secret`, { headers })
    await fetch(`${server.url}/secret`, { headers })
    await server.server.close({ drainMs: 0 })

    const line = {
      level: 'info',
      message: 'request',
      correlation_id: 'c-1',
      method: 'GET',
      latency_ms: expect.any(Number),
    }
    expect(server.lines.filter(({ message }) => message === 'request')).toEqual([
      { ...line, route: '/runs/:id', status: 200, session_id: 's-1', run_id: 'r-1' },
      { ...line, route: '-', status: 404, code: 'route_not_found' },
    ])
  })

  test('unknown paths, wrong methods and closed doors are problems', async () => {
    const threads = route('GET /threads', (_request, reply) => reply.json(200, []), { door: 'threads' })
    await using server = await startServer({ routes: [hello, threads], doors: ['ag-ui'] })
    const ask = async (path: string, method = 'GET') => {
      const answer = await fetch(`${server.url}${path}`, { method })
      const { code, instance, ...rest }: Record<string, unknown> = JSON.parse(await answer.text())
      expect(answer.headers.get('content-type')).toBe('application/problem+json')
      expect(rest.correlation_id).toBe(answer.headers.get('x-correlation-id'))
      return [answer.status, code, instance, answer.headers.get('allow')]
    }

    expect(await ask('/hallo?x=1')).toEqual([404, 'route_not_found', '/hallo', null])
    expect(await ask('/hello', 'PUT')).toEqual([405, 'method_not_allowed', '/hello', 'GET, HEAD, OPTIONS'])
    expect(await ask('/threads')).toEqual([404, 'door_closed', '/threads', null])
    expect(await ask('/%')).toEqual([404, 'route_not_found', '/%', null])
  })

  test('OPTIONS lists the methods of a path', async () => {
    await using server = await startServer({ routes: [hello] })

    const answer = await fetch(`${server.url}/hello`, { method: 'OPTIONS' })
    const nowhere = await fetch(`${server.url}/nowhere`, { method: 'OPTIONS' })
    const star = await exchange(
      server.port,
      `OPTIONS * HTTP/1.1\r\nHost: localhost:${server.port}\r\nConnection: close\r\n\r\n`,
    )

    expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
    expect(nowhere.status).toBe(404)
    expect(star).toMatch(/^HTTP\/1.1 204 No Content\r\n.*allow: GET, HEAD, POST, PATCH, DELETE, OPTIONS\r\n/is)
  })
})

describe('limits per user', () => {
  const limits = { postsPerMinute: 2, streamsPerUser: 1 }
  const as = ({ token }: { token: string }) => ({ authorization: `Bearer ${token}` })

  test('posts are counted for each user and minute', async () => {
    const clock = createManualClock()
    await using server = await startServer({ routes: [echo('POST /echo')], limits, clock })
    const post = async (headers: Record<string, string>) => {
      const init = { method: 'POST', body: '{}', headers: { ...headers, 'content-type': 'application/json' } }
      const answer = await fetch(`${server.url}/echo`, init)
      return [answer.status, answer.headers.get('retry-after')]
    }

    expect(await post(as(userToken))).toEqual([200, null])
    expect(await post(as(userToken))).toEqual([200, null])
    expect(await post(as(userToken))).toEqual([429, '60'])
    expect(await post(as(operatorToken))).toEqual([200, null])
    clock.advance(60_000)
    expect(await post(as(userToken))).toEqual([200, null])
  })

  test('an open stream is counted until it ends', async () => {
    const end = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let opened = 0
    const events = route('GET /events', (_request, reply) => {
      reply.sse()
      return end[opened++]?.promise
    })
    await using server = await startServer({ routes: [events], limits })
    const open = () => fetch(`${server.url}/events`, { headers: as(userToken) })

    const first = await open()
    expect((await open()).status).toBe(429)
    expect((await fetch(`${server.url}/events`, { headers: as(operatorToken) })).status).toBe(200)
    for (const { resolve } of end) resolve()
    await first.text()
    expect((await open()).status).toBe(200)
  })
})

describe('stopping a server', () => {
  test('lets answers in work complete, refuses new work, then closes', async () => {
    const work = Promise.withResolvers<void>()
    const slow = route('GET /slow', async (_request, reply) => {
      await work.promise
      reply.json(200, 'done')
    })
    await using server = await startServer({ routes: [hello, slow] })
    const inWork = await openRaw(server.port)
    inWork.send(get(server.port, '/slow'))
    await until(() => server.server.stats().inWork > 0)

    const closed = server.server.close({ drainMs: 5_000 })
    const refused = await exchange(server.port, get(server.port, '/hello'))
    work.resolve()
    await closed

    expect(problemOfText(refused)).toMatchObject({ status: 503, code: 'shutting_down' })
    expect(refused).toMatch(/^retry-after: 5\r$/im)
    expect(await inWork.closed()).toMatch(/^HTTP\/1.1 200 OK\r\n.*connection: close\r\n.*"done"$/is)
    expect(server.state.current).toBe('stopped')
    await expect(fetch(`${server.url}/hello`)).rejects.toThrow()
  })

  test('idle connections close at once, while others are still served', async () => {
    const work = Promise.withResolvers<void>()
    const slow = route('GET /slow', async (_request, reply) => {
      await work.promise
      reply.json(200, 'done')
    })
    await using server = await startServer({ routes: [hello, slow], limits: { keepAliveMs: 60_000 } })
    const idle = await openRaw(server.port)
    idle.send(get(server.port, '/hello'))
    await idle.until(/"hello"$/)
    const busy = await openRaw(server.port)
    busy.send(get(server.port, '/slow'))
    await until(() => server.server.stats().inWork > 0)

    const closed = server.server.close({ drainMs: 60_000 })
    await idle.closed()
    work.resolve()
    await closed

    expect(await busy.closed()).toMatch(/"done"$/)
  })

  test('streams that are still open after the drain time end properly, and their handlers are told', async () => {
    const aborted = Promise.withResolvers<void>()
    const events = route('GET /events', (request, reply) => {
      request.signal.addEventListener('abort', () => aborted.resolve())
      reply.sse()
      return aborted.promise
    })
    await using server = await startServer({ routes: [events] })
    const reader = await openRaw(server.port)
    reader.send(get(server.port, '/events'))
    await reader.until(/ok\n\n\r\n$/)

    await server.server.close({ drainMs: 10 })

    expect(await reader.closed()).toMatch(/ok\n\n\r\n0\r\n\r\n$/)
    await aborted.promise
  })

  test('closing twice is the same as closing once', async () => {
    await using server = await startServer({ routes: [hello] })

    await Promise.all([server.server.close({ drainMs: 0 }), server.server.close({ drainMs: 0 })])

    expect(server.lines.map(({ state }) => state)).toEqual(['ready', 'shutting_down', 'stopped'])
  })
})

describe('a server that cannot listen', () => {
  test('names the port that is in use', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const address = other.address()
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0
    await using server = await startServer({ routes: [hello] })
    await server.server.close({ drainMs: 0 })

    await expect(server.server.listen({ hosts: ['127.0.0.1'], port })).rejects.toMatchObject({
      code: 'config_invalid',
      message: `Port ${port} on 127.0.0.1 is already in use. Choose another with --port, or --port 0 for any free one.`,
      details: { host: '127.0.0.1', port, reason: 'EADDRINUSE' },
    })
    other.close()
  })

  test('names an address that does not exist', async () => {
    await using server = await startServer({ routes: [hello] })
    await server.server.close({ drainMs: 0 })

    await expect(server.server.listen({ hosts: ['192.0.2.1'], port: 0 })).rejects.toThrow(
      '192.0.2.1 is not an address of this machine.',
    )
  })
})

describe('status of raw answers', () => {
  test('is read by the test client as node reads it', async () => {
    await using server = await startServer({ routes: [hello] })

    expect(statusOfText(await exchange(server.port, get(server.port, '/hello', 'Connection: close')))).toBe(200)
  })
})
