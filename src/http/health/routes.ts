import { z } from 'zod'
import { abortAfter, untilAborted, within } from '../../domain/abort.ts'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { createMask } from '../../domain/text/mask.ts'
import { answer, exampleOf } from '../describe-answer.ts'
import type { Reply, Request, Route } from '../route.ts'
import { type ServerState, serverStates } from '../server-state.ts'
import { type CheckResult, type Health, HealthSchema } from './schema.ts'

/** Resolves if the part works. A `ServerError` says why it does not. Any other error is logged and reported as a failure. */
type HealthCheck = (signal: AbortSignal) => Promise<void>

export interface HealthOptions {
  version: string
  agentName: string
  /** Provider of the agent's model. */
  provider: string
  /** Without storage the server is unhealthy. Without any other part it is degraded. */
  checks: { storage: HealthCheck; model: HealthCheck } & Record<string, HealthCheck>
  /** Other servers that the agents need. `trouble` is null if the server works. If one does not, the health is degraded. */
  servers: () => readonly { name: string; trouble: string | null }[]
  /** Number of sessions within their TTL. */
  activeSessions: () => Promise<number>
  /** Names of hosted agents that no sandbox confines. */
  unconfined: readonly string[]
  /** The server accepts requests from anybody, anywhere. */
  insecure: boolean
  state: ServerState
  /** Monotonic ms. */
  startedAt: number
  clock: Clock
  log: Logger
}

const MAX_AGE_MS = 5_000
const CHECK_TIMEOUT_MS = 3_000
/** How long an answer waits for new results. After that it uses the last ones. */
const WAIT_MS = 20
/** The same for storage while there is no result yet. A database on another machine takes longer than 20 ms, and is not down. */
const FIRST_WAIT_MS = 1_000
/** A result of storage that is older says nothing about now. Behind a proxy each server is asked rarely, and all would say "up" once. */
const OLD_MS = 15_000
/** A server's error message may contain the key that it was given. */
const masked = createMask([])
const tag = 'Operations'

const healthContent = {
  'application/json': {
    schema: HealthSchema,
    example: exampleOf(HealthSchema),
  },
  'text/plain; charset=utf-8': { schema: z.string(), example: 'ok' },
}

const readySchema = (ready: boolean) =>
  z
    .strictObject({ ready: z.literal(ready), state: z.enum(serverStates).optional() })
    .meta({ example: { ready, state: ready ? 'running' : 'shutting_down' } })
const LiveSchema = z.strictObject({ live: z.literal(true) }).meta({ example: { live: true } })

export function healthRoutes(options: HealthOptions): Route[] {
  const { version, agentName, provider, insecure, state, startedAt, clock, log } = options
  const cache = { clock, maxAgeMs: MAX_AGE_MS }
  const sessions = createCached(countSessions, cache)
  const checks = Object.entries(options.checks).map(([name, check]) => ({
    name,
    result: createCached(() => run(name, check, clock, log), name === 'storage' ? { ...cache, oldMs: OLD_MS } : cache),
  }))

  async function countSessions(): Promise<number> {
    try {
      return await options.activeSessions()
    } catch (error) {
      log.error('the sessions cannot be counted', { error })
      throw error
    }
  }

  /** While the server starts, all answers have this header. */
  const headers = () => (state.current === 'initializing' ? { 'Retry-After': '1' } : undefined)

  async function results(): Promise<Record<string, CheckResult>> {
    // Before the start is done there is nothing to check, and the result would be cached for seconds.
    const isStarting = state.current === 'initializing'
    const read = checks.map(async ({ name, result }): Promise<[string, CheckResult]> => {
      const known = isStarting ? undefined : await result.read(WAIT_MS, name === 'storage' ? FIRST_WAIT_MS : WAIT_MS)
      return [name, known ?? { status: 'down', error: isStarting ? 'the server is starting' : 'no answer yet' }]
    })
    const servers = options.servers().map(({ name, trouble }): [string, CheckResult] => {
      return [name, trouble === null ? { status: 'up' } : { status: 'down', error: masked(trouble) }]
    })
    const all: Record<string, CheckResult> = Object.fromEntries([...(await Promise.all(read)), ...servers])
    return provider === 'google' && all.model !== undefined ? { ...all, gemini_api: all.model } : all
  }

  async function answerHealth(request: Request, reply: Reply): Promise<void> {
    const count = state.current === 'initializing' ? undefined : sessions.read(WAIT_MS)
    const [all, active = 0] = await Promise.all([results(), count])
    const status = statusOfAll(all)
    const code = status === 'unhealthy' ? 503 : 200
    if (prefersText(request.header('accept'))) {
      reply.text(code, status === 'unhealthy' ? status : 'ok', 'text/plain; charset=utf-8', headers())
      return
    }
    // Callers without a token learn only what a load balancer needs.
    if (request.principal.role === 'public') return reply.json(code, { status }, headers())
    const body = {
      status,
      version,
      uptime_seconds: Math.floor((clock.mono() - startedAt) / 1000),
      agent_name: agentName,
      agent_ready: state.takesWork,
      active_sessions: active,
      thread_count: active,
      checks: all,
      insecure: insecure || undefined,
      unconfined: options.unconfined.length === 0 ? undefined : options.unconfined,
    }
    reply.json(code, body, headers())
  }

  async function answerReady(request: Request, reply: Reply): Promise<void> {
    const { storage } = await results()
    const ready = state.takesWork && storage?.status === 'up'
    const stranger = request.principal.role === 'public'
    reply.json(ready ? 200 : 503, stranger ? { ready } : { ready, state: state.current }, headers())
  }

  const shared = { method: 'GET', door: null, role: 'public', body: 'none', anytime: true } as const
  const health = {
    ...shared,
    describe: () => ({
      tag,
      description:
        'If the server needs a token and the caller has none, the answer has only `status`. `Accept: text/plain` returns one word.',
      responses: {
        200: {
          description: 'The server works; `degraded` if the model or an MCP server cannot be reached.',
          content: healthContent,
        },
        503: { description: 'The server cannot store anything.', content: healthContent },
      },
      errors: [],
    }),
    handle: answerHealth,
  }
  return [
    { ...health, path: '/health', summary: 'Says whether the server and its dependencies work.' },
    { ...health, path: '/health/agent', summary: 'Says whether the agent can answer.' },
    {
      ...shared,
      path: '/ready',
      summary: 'Says whether the server accepts work.',
      describe: () => ({
        tag,
        responses: {
          200: answer('The server accepts work.', readySchema(true)),
          503: answer('The server is starting, stopping, or cannot store anything.', readySchema(false)),
        },
        errors: [],
      }),
      handle: answerReady,
    },
    {
      ...shared,
      path: '/live',
      summary: 'Says that the process answers.',
      describe: () => ({
        tag,
        description:
          'Answers 200 from the moment the port is open, also while the server starts, stops or has no store.',
        responses: { 200: answer('The process answers.', LiveSchema) },
        errors: [],
      }),
      // It asks nothing and nobody: a restart would not bring back a database that is away, and would cut off all readers.
      handle: async (_request, reply) => reply.json(200, { live: true }),
    },
  ]
}

async function run(name: string, check: HealthCheck, clock: Clock, log: Logger): Promise<CheckResult> {
  const startedAt = clock.mono()
  const reason = () => new ServerError('request_timeout', `no answer within ${CHECK_TIMEOUT_MS / 1000} s`)
  using late = abortAfter(clock, CHECK_TIMEOUT_MS, { reason })
  try {
    await untilAborted(check(late.signal), late.signal)
    return { status: 'up', latency_ms: Math.round(clock.mono() - startedAt) }
  } catch (error) {
    if (error instanceof ServerError) return { status: 'down', error: error.message }
    log.error('health check failed', { check: name, error })
    return { status: 'down', error: 'the check failed; the log says why' }
  }
}

function statusOfAll(checks: Record<string, CheckResult>): Health['status'] {
  if (checks.storage?.status === 'down') return 'unhealthy'
  return Object.values(checks).some(({ status }) => status === 'down') ? 'degraded' : 'healthy'
}

/** `curl` and browsers get JSON. A client whose Accept names text first gets text. */
function prefersText(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const types = accept.split(',').map((type) => type.split(';', 1)[0]?.trim().toLowerCase())
  return types.find((type) => type === 'text/plain' || type === 'application/json') === 'text/plain'
}

/** Never runs two loads at once. After a failed load, the last value stays. */
export function createCached<T>(load: () => Promise<T>, options: { clock: Clock; maxAgeMs: number; oldMs?: number }) {
  const { clock, maxAgeMs, oldMs = Number.POSITIVE_INFINITY } = options
  let value: T | undefined
  let loadedAt = Number.NEGATIVE_INFINITY
  let loading: Promise<void> | null = null

  async function reload(): Promise<void> {
    try {
      value = await load()
    } catch {
      // The loader reports its own failures.
    }
    loadedAt = clock.mono()
    loading = null
  }

  const usable = (): T | undefined => (clock.mono() - loadedAt < oldMs ? value : undefined)

  return {
    /**
     * Loads the value again if it is older than `maxAgeMs`, but waits at most `waitMs` for it, and `firstMs` if there is none yet. Then
     * returns the last value, if there is one. A value that is older than `oldMs` counts as none.
     */
    async read(waitMs: number, firstMs = waitMs): Promise<T | undefined> {
      if (clock.mono() - loadedAt < maxAgeMs) return value
      loading ??= reload()
      await within(clock, usable() === undefined ? firstMs : waitMs, loading)
      return usable()
    },
  }
}
