// For tests: a server on a free local port, a manual clock, and a client that sends raw bytes.

import { randomUUID } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createByteBudget, READERS_BYTES } from '../../domain/byte-budget.ts'
import { type Clock, createSystemClock } from '../../domain/clock.ts'
import { createIds } from '../../domain/ids.ts'
import type { LogFields, Logger } from '../../domain/logger.ts'
import { noTelemetry } from '../../domain/telemetry.ts'
import { type Door, doorNames } from '../../doors.ts'
import { ownCounts } from '../../replicas/shared-counts.ts'
import { type Auth, type AuthOptions, createAuth } from '../auth/auth.ts'
import { digestOf, type Token } from '../auth/tokens/token.ts'
import { createTempFolder, type TempFolder } from '../body/temp-file.ts'
import { createMetrics, type Metrics } from '../metrics/metrics.ts'
import type { Reply, Request, Route } from '../route.ts'
import { createGuard, type GuardOptions } from '../server/guard.ts'
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../server/server.ts'
import { createServerState, type ServerState } from '../server-state.ts'

/** A token with its text, which the server does not store. */
export const knownToken = (token: string, user: string, role: Token['role']): Token & { token: string } => ({
  id: null,
  token,
  user,
  role,
  sha256: digestOf(token),
})

export const userToken = knownToken('user-token-of-these-tests', 'ada', 'user')
/** Names the user that callers without a token are treated as. */
export const localToken = knownToken('local-token-of-these-tests', 'local_user', 'user')
export const agentToken = {
  ...knownToken('agent-token-of-these-tests', 'ada', 'agent'),
  id: 'token-of-an-agent',
  workspace: '/home/ada/shop',
}
export const operatorToken = knownToken('operator-token-of-these-tests', 'local_user', 'operator')
/** An operator who owns nothing. */
export const eveToken = { ...knownToken('token-of-eve-in-these-tests', 'eve', 'operator'), id: 'token-of-eve' }

/** An operator for one agent only. */
export const otherAgentToken = {
  ...knownToken('token-for-another-agent-in-these-tests', 'local_user', 'operator'),
  agent: 'another',
}

/** The browser of the same operator. */
export const consoleToken = {
  ...knownToken('token-of-a-browser-in-these-tests', 'local_user', 'operator'),
  id: 'token-of-a-browser',
  isConsole: true as const,
}

export interface TestServer extends AsyncDisposable {
  server: HttpServer
  state: ServerState
  metrics: Metrics
  port: number
  url: string
  lines: LogLine[]
  /** The names in the folder for large bodies, and how many files were created and are open. */
  tempFiles(): Promise<{ names: string[]; begun: number; open: number }>
}

export interface LogLine extends LogFields {
  level: string
  message: string
}

export interface TestServerOptions
  extends Partial<
    Pick<
      HttpServerOptions,
      'limits' | 'errorShapes' | 'clock' | 'metrics' | 'telemetry' | 'tls' | 'budget' | 'proxyAuth'
    >
  > {
  routes: readonly Route[]
  doors?: readonly Door[]
  auth?: Partial<AuthOptions>
  guard?: Partial<GuardOptions>
  /** False leaves it `initializing`. */
  ready?: boolean
  tempFolder?: TempFolder
}

/** Knows the tokens of these tests, and nobody else counts or makes any. */
export const testAuth = (options: Partial<AuthOptions> & Pick<AuthOptions, 'clock'>): Auth =>
  createAuth({
    tokens: () => TOKENS,
    devices: { current: () => [], used() {} },
    oidc: null,
    isSamePerson: (one, other) => one === other,
    tokenRequired: false,
    insecure: false,
    failuresPerMinute: 10,
    lookAgain: null,
    isFresh: () => true,
    counts: ownCounts,
    ...options,
  })

/** Ends with `await using`. */
export async function startServer(options: TestServerOptions): Promise<TestServer> {
  const clock = options.clock ?? createSystemClock()
  const lines: LogLine[] = []
  const log = collectLines(lines)
  const state = createServerState(log)
  const metrics = options.metrics ?? createMetrics()
  const tempDir = join(tmpdir(), `quarterdeck-spool-${randomUUID()}`)
  const counted = countTempFiles(options.tempFolder ?? createTempFolder(tempDir))
  const tokenRequired = options.auth?.tokenRequired ?? false
  const server = createHttpServer({
    routes: options.routes,
    auth: testAuth({ tokenRequired, clock, ...options.auth }),
    guard: createGuard({
      host: '127.0.0.1',
      loopbackOnly: true,
      tokenRequired,
      allowedHosts: [],
      origins: ['local'],
      publicUrl: null,
      ...options.guard,
    }),
    log,
    clock,
    ids: createIds(() => Date.now()),
    metrics,
    doors: options.doors ?? doorNames,
    state,
    tempFolder: counted.folder,
    basePath: '',
    proxyAuth: options.proxyAuth ?? null,
    limits: options.limits ?? {},
    errorShapes: options.errorShapes ?? {},
    tls: options.tls ?? null,
    budget: options.budget ?? createByteBudget(READERS_BYTES, clock),
    telemetry: options.telemetry ?? noTelemetry,
  })
  const { port } = await server.listen({ hosts: ['127.0.0.1'], port: 0 })
  if (options.ready !== false) state.advance('ready')
  const stop = async () => {
    await server.close({ drainMs: 0 })
    await rm(tempDir, { recursive: true, force: true })
  }
  const tempFiles = async () => ({ names: await readdir(tempDir).catch(() => []), ...counted.count })
  const url = `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`
  return { server, state, metrics, port, url, lines, tempFiles, [Symbol.asyncDispose]: stop }
}

/** Counts the files that were created in the folder, and those that are still open. */
function countTempFiles(folder: TempFolder): { folder: TempFolder; count: { begun: number; open: number } } {
  const count = { begun: 0, open: 0 }
  return {
    count,
    folder: {
      async create(id) {
        const file = await folder.create(id)
        count.begun += 1
        count.open += 1
        let isOpen = true
        return {
          ...file,
          async close() {
            if (isOpen) count.open -= 1
            isOpen = false
            await file.close()
          },
        }
      },
    },
  }
}

const TOKENS = [userToken, localToken, operatorToken, eveToken, consoleToken, agentToken, otherAgentToken]

export function collectLines(lines: LogLine[], bound: LogFields = {}): Logger {
  const log = (level: string) => (message: string, fields?: LogFields) => {
    lines.push({ ...bound, ...fields, level, message })
  }
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    with: (fields) => collectLines(lines, { ...bound, ...fields }),
  }
}

export function route(
  line: string,
  handle: (request: Request, reply: Reply) => void | Promise<void>,
  more: Partial<Route> = {},
): Route {
  const [method, path = '/'] = line.split(' ')
  if (method !== 'GET' && method !== 'POST' && method !== 'DELETE') throw new Error(`not a method: ${line}`)
  const body = method === 'POST' ? 'files' : 'none'
  const own = { method, path, door: null, role: 'user', body, summary: line } as const
  return { ...own, ...more, handle: async (...args) => handle(...args) }
}

/** Answers with the body of the request. */
export const echo = (line: string, more: Partial<Route> = {}): Route =>
  route(line, async (request, reply) => reply.json(200, { body: await request.json() }), more)

export interface ManualClock extends Clock {
  /** Moves the time forward and fires due timers in order. */
  advance(ms: number): void
}

export function createManualClock(): ManualClock {
  let time = 0
  const timers = new Set<{ at: number; fire: () => void }>()
  return {
    now: () => 1_800_000_000_000 + time,
    mono: () => time,
    after(ms, fire) {
      const timer = { at: time + ms, fire }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    soon: (fire) => void setImmediate(fire),
    advance(ms) {
      const until = time + ms
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)
        if (next === undefined) break
        timers.delete(next)
        time = Math.max(time, next.at)
        next.fire()
      }
      time = until
    },
  }
}

/** Moves the time on until the work is done. */
export async function whileTimePasses<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  let isDone = false
  const end = () => {
    isDone = true
  }
  work.then(end, end)
  while (!isDone) {
    clock.advance(50)
    await new Promise((resolve) => setTimeout(resolve))
  }
  return await work
}

/** A connection that sends exactly the given bytes. */
export interface RawClient {
  socket: Socket
  send(text: string | Uint8Array): void
  /** Everything received so far. */
  received(): string
  /** Resolves with everything received once it matches. */
  until(pattern: RegExp): Promise<string>
  /** Resolves with everything received when the server has closed. */
  closed(): Promise<string>
}

export async function openRaw(port: number): Promise<RawClient> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  let text = ''
  let onChange = () => {}
  const isClosed = Promise.withResolvers<string>()
  socket.setEncoding('latin1')
  socket.on('data', (chunk) => {
    text += chunk
    onChange()
  })
  // A server may close with a reset.
  socket.on('error', () => {})
  socket.on('end', () => socket.end())
  socket.on('close', () => {
    isClosed.resolve(text)
    onChange()
  })
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
  return {
    socket,
    send: (bytes) => void socket.write(bytes),
    received: () => text,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        onChange = () => {
          if (pattern.test(text)) resolve(text)
          else if (socket.closed) reject(new Error(`closed after ${JSON.stringify(text)}`))
        }
        onChange()
      }),
    closed: () => isClosed.promise,
  }
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Resolves when the condition is true. If it never is, the test times out. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn()
}

/** Sends one request and returns everything received until the server closed. */
export async function exchange(port: number, request: string | Uint8Array): Promise<string> {
  const client = await openRaw(port)
  client.send(request)
  return client.closed()
}

export const statusOfText = (text: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1])

/** The problem in the body of a raw answer. */
export function problemOfText(text: string): Record<string, unknown> {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  if (!/^content-type: application\/problem\+json$/im.test(head)) throw new Error(`not a problem: ${text}`)
  return JSON.parse(body)
}
