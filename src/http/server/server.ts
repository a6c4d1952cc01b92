// The HTTP server: node's, with our limits, our answers to what node refuses by itself, and an orderly end.

import { randomBytes } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ByteBudget, createByteBudget, READERS_BYTES } from '../../domain/byte-budget.ts'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import type { Auth } from '../auth/auth.ts'
import { createUsageLimits } from '../auth/usage-limits.ts'
import type { TempFolder } from '../body/temp-file.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { registerHttpMetrics } from '../metrics/server-metrics.ts'
import type { ErrorShape } from '../problem.ts'
import type { Door, Route } from '../route.ts'
import type { ServerState } from '../server-state.ts'
import { answerRaw, refusalOf } from './client-error.ts'
import { createDispatch, type Exchange, isOutside } from './dispatch.ts'
import type { Guard } from './guard.ts'
import { type Listening, type ListenTarget, listen } from './listen.ts'
import { createOpenStreams } from './open-streams.ts'
import { createRouter } from './router.ts'
import type { TlsPair } from './tls-pair.ts'
import { dropUnlessReceived } from './unread-body.ts'

// Not imported: as an ES module node:http brings all of undici along, 13 MB and 50 ms that nobody here uses.
const { createServer } = process.getBuiltinModule('node:http')
const { createServer: createTlsServer } = process.getBuiltinModule('node:https')

export interface HttpServerOptions {
  /** What answers until `serve`. */
  routes: readonly Route[]
  /** In front of every path; see `readBasePath`. */
  basePath?: string
  auth: Auth
  guard: Guard
  log: Logger
  clock: Clock
  ids: Ids
  metrics: Metrics
  /** The open doors. */
  doors: readonly Door[]
  /** Advanced by `close`; before `ready` only routes marked `anytime` answer. */
  state: ServerState
  /** For what bodies with files bring and memory cannot hold. */
  tempFolder: TempFolder
  /** What large answers hold in memory, all together. */
  room?: ByteBudget
  limits?: Partial<HttpLimits>
  /** With it the server speaks https, and nothing else. */
  tls?: TlsPair
  /** By the first segment of the path: how doors with an error format of their own answer failures. */
  errorShapes?: Readonly<Record<string, ErrorShape>>
}

export interface HttpLimits {
  connections: number
  headerBytes: number
  headersMs: number
  requestMs: number
  keepAliveMs: number
  /** Of a JSON body; where it may bring files, of what it is without them. */
  bodyBytes: number
  /** Of all bodies that are being read. */
  allBodiesBytes: number
  bodyGraceMs: number
  minBodyBytesPerSecond: number
  /** What brings files has no total time, but in each of these windows it must come this fast on average. */
  uploadWindowMs: number
  minUploadBytesPerSecond: number
  /** Per user; null = none. */
  postsPerMinute: number | null
  streamsPerUser: number | null
  /** Requests that one connection may have in work (pipelining). */
  pipelined: number
}

export const defaultHttpLimits: HttpLimits = {
  connections: 5_000,
  headerBytes: 16 * 1024,
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 5_000,
  bodyBytes: 10 * 1024 * 1024,
  allBodiesBytes: 256 * 1024 * 1024,
  bodyGraceMs: 10_000,
  minBodyBytesPerSecond: 500,
  uploadWindowMs: 30_000,
  minUploadBytesPerSecond: 8_000,
  postsPerMinute: null,
  streamsPerUser: null,
  pipelined: 32,
}

export interface HttpServer {
  /** From now on these routes answer. */
  serve(routes: readonly Route[]): void
  /** Resolves when connections are taken. Throws `config_invalid` when it cannot be: port in use, no such address. */
  listen(where: ListenTarget): Promise<{ host: string; port: number }>
  /**
   * Refuses new work with 503, lets answers in work complete for `drainMs`, then ends the streams that are still open and
   * closes every connection. Idle connections go at once. May be called again.
   */
  close(options: { drainMs: number }): Promise<void>
  /**
   * Answers a request that the server of another program has taken. What lies outside of the base path is left to `next`, where
   * there is one.
   */
  handle(request: IncomingMessage, response: ServerResponse, next?: () => void): void
  stats(): HttpStats
}

export interface HttpStats {
  connections: number
  /** Requests that are not answered completely, streams included. */
  inWork: number
  streams: number
}

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { log, clock, ids, state, basePath = '' } = options
  const limits = { ...defaultHttpLimits, ...options.limits }
  const streams = createOpenStreams(clock)
  const connections = new Map<Socket, Set<Exchange>>()
  /** As the kernel knows them. Under TLS the one a request comes on is another, and exists once hands have been shaken. */
  const accepted = new Set<Socket>()
  /** On connections of another program's server. */
  const mounted = new Set<Exchange>()
  let inWork = 0
  let isClosing = false
  let closing: Promise<void> | null = null
  let onIdle: (() => void) | null = null

  const stats = (): HttpStats => ({ connections: connections.size, inWork, streams: streams.size })
  const onAnswer = registerHttpMetrics(options.metrics, stats, () => state.current)

  const doors = new Set(options.doors)
  let router = createRouter(options.routes, doors)
  const dispatch = createDispatch({
    router: () => router,
    basePath,
    guard: options.guard,
    auth: options.auth,
    state,
    usage: createUsageLimits({ postsPerMinute: limits.postsPerMinute, streams: limits.streamsPerUser, clock }),
    body: {
      limits: {
        maxBytes: limits.bodyBytes,
        totalMs: limits.requestMs,
        graceMs: limits.bodyGraceMs,
        minBytesPerSecond: limits.minBodyBytesPerSecond,
      },
      budget: { used: 0, max: limits.allBodiesBytes },
      pace: { windowMs: limits.uploadWindowMs, minBytesPerSecond: limits.minUploadBytesPerSecond },
      clock,
      tempFolder: options.tempFolder,
      secret: () => randomBytes(16).toString('hex'),
    },
    reply: {
      clock,
      streams,
      room: options.room ?? createByteBudget(READERS_BYTES, clock),
      errorShapes: new Map(Object.entries(options.errorShapes ?? {})),
      isClosing: () => isClosing,
    },
    log,
    clock,
    ids,
    onAnswer,
  })

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    const open = connections.get(socket) ?? new Set()
    const exchange = dispatch(request, response)
    open.add(exchange)
    inWork += 1
    // Later, because node reads on when it has parsed the request at hand.
    if (open.size >= limits.pipelined) clock.soon(() => open.size >= limits.pipelined && socket.pause())
    exchange.onClosed = () => {
      if (!request.complete) dropUnlessReceived(request, clock, limits.requestMs)
      open.delete(exchange)
      inWork -= 1
      if (open.size === limits.pipelined - 1) socket.resume()
      if (inWork === 0) onIdle?.()
    }
  }

  function handle(request: IncomingMessage, response: ServerResponse, next?: () => void): void {
    if (next !== undefined && isOutside(basePath, request)) {
      next()
      return
    }
    const exchange = dispatch(request, response, true)
    mounted.add(exchange)
    inWork += 1
    exchange.onClosed = () => {
      if (!request.complete) dropUnlessReceived(request, clock, limits.requestMs)
      mounted.delete(exchange)
      inWork -= 1
      if (inWork === 0) onIdle?.()
    }
  }

  /** What node's parser or its timers refuse. It is answered where the answer can only be meant for this very request. */
  function onClientError(error: Error, socket: Socket): void {
    const failure = refusalOf(error)
    const open = [...(connections.get(socket) ?? [])]
    const [only] = open
    if (failure === null || !socket.writable) socket.destroy()
    else if (only === undefined) refuse(socket, failure)
    else if (open.length === 1 && !only.reply.raw.headersSent && !only.reply.raw.req.complete) only.reply.fail(failure)
    else socket.destroy()
  }

  function refuse(socket: Duplex, failure: ServerError): void {
    const correlationId = ids.uuid()
    const problem = answerRaw(socket, failure, correlationId, clock)
    onAnswer({ method: '-', route: '-', status: problem.status, seconds: 0 })
    const fields = { method: '-', route: '-', status: problem.status, latency_ms: 0, code: failure.code }
    log.info('request', { correlation_id: correlationId, ...fields })
  }

  const nodeOptions = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    // The whole body is for its reader to time: a large upload may take longer than any other request.
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: Math.min(1_000, limits.headersMs),
    // The guard looks at Host itself, so that the refusal has a body.
    requireHostHeader: false,
  }
  const { tls } = options
  const server: Server =
    tls === undefined
      ? createServer(nodeOptions)
      : createTlsServer({ ...nodeOptions, ...tls, handshakeTimeout: limits.headersMs })
  // Before node's own listener: it counts only what it has taken itself.
  server.prependListener('connection', (socket: Socket) => {
    if (accepted.size >= limits.connections) {
      log.warn('connection refused: too many are open', { limit: limits.connections })
      socket.destroy()
      return
    }
    accepted.add(socket)
    socket.once('close', () => accepted.delete(socket))
  })
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    connections.set(socket, new Set())
    socket.once('close', () => connections.delete(socket))
  })
  server.on('request', onRequest)
  // The body is asked for when a handler wants it, and not at all when the request is refused.
  server.on('checkContinue', onRequest)
  server.on('checkExpectation', onRequest)
  server.on('clientError', (error, socket) => {
    if (socket instanceof Socket) onClientError(error, socket)
  })
  server.on('connect', (_request, socket) => refuse(socket, noTunnels()))

  function whenIdle(ms: number): Promise<void> {
    if (inWork === 0) return Promise.resolve()
    return new Promise((resolve) => {
      onIdle = () => {
        cancel()
        onIdle = null
        resolve()
      }
      const cancel = clock.after(ms, () => onIdle?.())
    })
  }

  let listening: Listening | null = null

  async function shutDown(drainMs: number): Promise<void> {
    state.advance('shutting_down')
    server.closeIdleConnections()
    await whenIdle(drainMs)
    for (const open of [...connections.values(), mounted]) for (const exchange of open) exchange.abort()
    streams.endAll()
    await whenIdle(FLUSH_MS)
    await new Promise<void>((resolve) => {
      listening?.close()
      server.close(() => resolve())
      server.closeAllConnections()
      for (const socket of accepted) socket.destroy()
    })
    state.advance('stopped')
  }

  return {
    serve(routes) {
      router = createRouter(routes, doors)
    },
    async listen(where) {
      // It goes on with what it has.
      listening = await listen(server, where, (error) => log.error('a connection could not be taken', { error }))
      return { host: listening.host, port: listening.port }
    },
    close({ drainMs }) {
      isClosing = true
      closing ??= shutDown(drainMs)
      return closing
    },
    handle,
    stats,
  }
}

/** Streams that are ended when the server stops have this long to reach their readers. */
const FLUSH_MS = 500

function noTunnels(): ServerError {
  return new ServerError('method_not_allowed', 'This server is no proxy; it does not answer CONNECT.', {
    details: { allow: ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'] },
  })
}
