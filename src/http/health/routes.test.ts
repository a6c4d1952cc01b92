import { describe, expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import { createServerState } from '../server-state.ts'
import {
  collectLines,
  createManualClock,
  type LogLine,
  route,
  startServer,
  userToken,
} from '../testing/server-fixture.ts'
import { createCached, type HealthOptions, healthRoutes } from './routes.ts'

async function start(options: Partial<HealthOptions> = {}, tokenRequired = false) {
  const lines: LogLine[] = []
  const clock = createManualClock()
  const state = createServerState(collectLines([]))
  state.advance('ready')
  const routes = healthRoutes({
    version: '1.2.3',
    agentName: 'helper',
    provider: 'openai',
    checks: { storage: async () => {}, model: async () => {} },
    servers: () => [],
    activeSessions: async () => 4,
    unconfined: [],
    insecure: false,
    state,
    startedAt: clock.mono(),
    clock,
    log: collectLines(lines),
    ...options,
  })
  const server = await startServer({ routes, auth: { tokenRequired } })
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${server.url}${path}`, { headers })
    const type = answer.headers.get('content-type')
    return { status: answer.status, body: type === 'application/json' ? await answer.json() : await answer.text() }
  }
  return { ask, clock, state, lines, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

const up = { status: 'up', latency_ms: 0 }
const wellBody = {
  status: 'healthy',
  version: '1.2.3',
  uptime_seconds: 0,
  agent_name: 'helper',
  agent_ready: true,
  active_sessions: 4,
  thread_count: 4,
  checks: { storage: up, model: up },
}
const modelDown = async () => {
  throw new ServerError('model_unreachable', 'api.example does not answer')
}

describe('health', () => {
  test('is healthy if the server and its agent work', async () => {
    await using server = await start()

    expect(await server.ask('/health')).toEqual({ status: 200, body: wellBody })
    server.clock.advance(2_500)
    expect(await server.ask('/health/agent')).toEqual({ status: 200, body: { ...wellBody, uptime_seconds: 2 } })
  })

  test('without the model the server is degraded', async () => {
    await using server = await start({ checks: { storage: async () => {}, model: modelDown } })

    expect(await server.ask('/health')).toEqual({
      status: 200,
      body: {
        ...wellBody,
        status: 'degraded',
        checks: { storage: up, model: { status: 'down', error: 'api.example does not answer' } },
      },
    })
    expect(await server.ask('/health', { accept: 'text/plain' })).toEqual({ status: 200, body: 'ok' })
    expect(await server.ask('/ready')).toEqual({ status: 200, body: { ready: true, state: 'ready' } })
  })

  test('without storage the server is unhealthy, and the reason stays in the log', async () => {
    const storage = async () => {
      throw new Error('SQLITE_IOERR at /home/ada/secret')
    }
    await using server = await start({ checks: { storage, model: async () => {} } })

    expect(await server.ask('/health')).toEqual({
      status: 503,
      body: {
        ...wellBody,
        status: 'unhealthy',
        checks: { storage: { status: 'down', error: 'the check failed; the log says why' }, model: up },
      },
    })
    expect(await server.ask('/health', { accept: 'text/plain' })).toEqual({ status: 503, body: 'unhealthy' })
    expect(await server.ask('/ready')).toEqual({ status: 503, body: { ready: false, state: 'ready' } })
    expect(await server.ask('/live')).toEqual({ status: 200, body: { live: true } })
    expect(server.lines).toMatchObject([{ level: 'error', check: 'storage' }])
  })

  test('with Google the model is also called gemini_api', async () => {
    await using server = await start({ provider: 'google' })

    expect(await server.ask('/health')).toMatchObject({ body: { checks: { storage: up, model: up, gemini_api: up } } })
  })

  test('an insecure server says so', async () => {
    await using server = await start({ insecure: true })

    expect(await server.ask('/health')).toEqual({ status: 200, body: { ...wellBody, insecure: true } })
  })

  test('hosted agents that no sandbox confines are named', async () => {
    await using server = await start({ unconfined: ['coder'] })

    expect(await server.ask('/health')).toEqual({ status: 200, body: { ...wellBody, unconfined: ['coder'] } })
  })

  test('callers without a token learn only the status, if a token is required', async () => {
    await using server = await start({}, true)
    const known = { authorization: `Bearer ${userToken.token}` }

    expect(await server.ask('/health')).toEqual({ status: 200, body: { status: 'healthy' } })
    expect(await server.ask('/ready')).toEqual({ status: 200, body: { ready: true } })
    expect(await server.ask('/health', { authorization: 'Bearer wrong' })).toEqual({
      status: 200,
      body: { status: 'healthy' },
    })
    expect(await server.ask('/health', known)).toEqual({ status: 200, body: wellBody })
  })

  test('a look at storage that is old does not count', async () => {
    let { promise: asked, resolve: ask } = Promise.withResolvers<void>()
    let work: Promise<void> = Promise.resolve()
    const storage = () => {
      ask()
      return work
    }
    await using server = await start({ checks: { storage, model: async () => {} } })
    expect(await server.ask('/ready')).toMatchObject({ status: 200 })

    // The database has been away for a while, and nobody has asked.
    server.clock.advance(20_000)
    ;({ promise: asked, resolve: ask } = Promise.withResolvers<void>())
    work = new Promise<void>(() => {})
    const health = server.ask('/health')
    await asked
    await new Promise((resolve) => setImmediate(resolve))
    server.clock.advance(1_000)
    expect(await health).toMatchObject({
      status: 503,
      body: { status: 'unhealthy', checks: { storage: { status: 'down', error: 'no answer yet' } } },
    })
  })

  test('checks run once in five seconds, and a hanging one is down after three', async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    let asks = 0
    const model = () => {
      asks += 1
      resolve()
      return new Promise<void>(() => {})
    }
    await using server = await start({ checks: { storage: async () => {}, model } })
    const first = server.ask('/health')
    await asked

    server.clock.advance(20)
    expect(await first).toMatchObject({ body: { checks: { model: { status: 'down', error: 'no answer yet' } } } })
    server.clock.advance(3_000)
    expect(await server.ask('/health')).toMatchObject({
      status: 200,
      body: { status: 'degraded', checks: { model: { status: 'down', error: 'no answer within 3 s' } } },
    })
    server.clock.advance(4_999)
    await server.ask('/health')
    expect(asks).toBe(1)
  })

  test('each server that an agent needs is listed with its current state', async () => {
    const servers = [
      { name: 'mcp:helper/files', trouble: null as string | null },
      { name: 'mcp:helper/web', trouble: null },
    ]
    await using server = await start({ servers: () => servers })
    const checks = { ...wellBody.checks, 'mcp:helper/files': { status: 'up' }, 'mcp:helper/web': { status: 'up' } }
    expect(await server.ask('/health')).toEqual({ status: 200, body: { ...wellBody, checks } })

    servers.splice(0, 1, { name: 'mcp:helper/files', trouble: 'It says: bad key sk-abcdefgh1234.' })
    const down = { status: 'down', error: 'It says: bad key [masked].' }
    expect(await server.ask('/health')).toEqual({
      status: 200,
      body: { ...wellBody, status: 'degraded', checks: { ...checks, 'mcp:helper/files': down } },
    })
  })
})

describe('server states', () => {
  test('before ready and while stopping only health answers', async () => {
    let checked = 0
    const state = createServerState(collectLines([]))
    const clock = createManualClock()
    const routes = [
      ...healthRoutes({
        version: '1',
        agentName: 'a',
        provider: 'demo',
        checks: {
          async storage() {
            checked += 1
          },
          model: async () => {},
        },
        servers: () => [],
        activeSessions: async () => 0,
        unconfined: [],
        insecure: false,
        state,
        startedAt: clock.mono(),
        clock,
        log: collectLines([]),
      }),
      route('GET /chat', (_request, reply) => reply.json(200, 'hello')),
      { ...route('GET /figures', (_request, reply) => reply.json(200, 1)), role: 'operator' as const, anytime: true },
    ]
    await using server = await startServer({ routes, ready: false })
    const ask = async (path: string, headers = {}) => {
      const answer = await fetch(`${server.url}${path}`, { headers })
      const { code }: { code?: string } = JSON.parse(await answer.text())
      return [answer.status, code, answer.headers.get('retry-after')]
    }

    expect(await ask('/chat')).toEqual([503, 'not_ready', '1'])
    expect(await ask('/comes-later')).toEqual([503, 'not_ready', '1'])
    // Nobody can say yet that the token is wrong: it may be one of those that are kept in the store.
    expect(await ask('/figures', { authorization: 'Bearer of-the-store' })).toEqual([503, 'not_ready', '1'])
    expect(await ask('/health', { authorization: 'Bearer of-the-store' })).toEqual([503, undefined, '1'])
    expect(await ask('/ready')).toEqual([503, undefined, '1'])
    expect(checked).toBe(0)
    server.state.advance('ready')
    state.advance('running')
    expect(await ask('/chat')).toEqual([200, undefined, null])
    expect(await ask('/comes-later')).toEqual([404, 'route_not_found', null])
    server.server.serve({
      routes: [...routes, route('GET /comes-later', (_request, reply) => reply.json(200, 'now'))],
    })
    expect(await ask('/comes-later')).toEqual([200, undefined, null])
    // The answer of the start is not cached.
    expect(await ask('/health')).toEqual([200, undefined, null])
    expect(await ask('/ready')).toEqual([200, undefined, null])
    expect(checked).toBe(1)
    server.state.advance('shutting_down')
    server.state.advance('running')
    expect(await ask('/chat')).toEqual([503, 'shutting_down', '5'])
  })
})

describe('cached value', () => {
  test('loads once while the value is fresh, then again', async () => {
    const clock = createManualClock()
    let loads = 0
    const cached = createCached(async () => ++loads, { clock, maxAgeMs: 5_000 })

    expect(await Promise.all([cached.read(20), cached.read(20)])).toEqual([1, 1])
    clock.advance(4_999)
    expect(await cached.read(20)).toBe(1)
    clock.advance(1)
    expect(await cached.read(20)).toBe(2)
  })

  test('returns the last value if the next one takes too long, and the next one once it is there', async () => {
    const clock = createManualClock()
    const slow = Promise.withResolvers<string>()
    const loads = [Promise.resolve('old'), slow.promise]
    const cached = createCached(() => loads.shift() ?? Promise.reject(new Error('loaded too often')), {
      clock,
      maxAgeMs: 5_000,
    })
    await cached.read(20)
    clock.advance(5_000)

    const early = cached.read(20)
    clock.advance(20)
    expect(await early).toBe('old')
    const late = cached.read(20)
    slow.resolve('new')
    expect(await late).toBe('new')
  })

  test('waits longer for the first value than for later ones', async () => {
    const clock = createManualClock()
    const first = Promise.withResolvers<string>()
    const loads = [first.promise, new Promise<string>(() => {})]
    const cached = createCached(() => loads.shift() ?? Promise.reject(new Error('loaded too often')), {
      clock,
      maxAgeMs: 5_000,
    })

    const early = cached.read(20, 1_000)
    clock.advance(999)
    first.resolve('first')
    expect(await early).toBe('first')
    clock.advance(5_000)
    const late = cached.read(20, 1_000)
    clock.advance(20)
    expect(await late).toBe('first')
  })

  test('keeps the last value when loading fails', async () => {
    const clock = createManualClock()
    const loads = [Promise.resolve('old'), Promise.reject(new Error('down'))]
    loads[1]?.catch(() => {})
    const cached = createCached(() => loads.shift() ?? Promise.resolve('new'), { clock, maxAgeMs: 5_000 })
    await cached.read(20)
    clock.advance(5_000)

    expect(await cached.read(20)).toBe('old')
  })
})
