// Node's HTTP server with our limits, our own answers to what node refuses, and an orderly stop.

import { randomBytes } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { ownCounts, type SharedCounts } from '../../replicas/shared-counts.ts'
import type { Auth } from '../auth/auth.ts'
import { createUsageLimits } from '../auth/usage-limits.ts'
import type { TempFolder } from '../body/temp-file.ts'
import { type Metrics, registerHttpMetrics } from '../metrics/metrics.ts'
import type { ErrorShape } from '../problem.ts'
import type { Door, Route, RouteGroup } from '../route.ts'
import { answerRaw, refusalOf } from './client-error.ts'
import { type Answering, createDispatch, type DispatchOptions, type Exchange, type OnRefused } from './dispatch.ts'
import { createLaterRouter } from './later-router.ts'
import { defaultHttpLimits, type HttpLimits } from './limits.ts'
import { type Listening, type ListenTarget, listen, startListening } from './listen.ts'
import type { ReplyServices } from './reply.ts'
import { dropUnlessReceived, type RequestContext } from './request.ts'
import { createOpenStreams } from './response-stream.ts'
import { isOutside } from './target.ts'
import type { TlsPair } from './tls-pair.ts'

// Not imported: as an ES module node:http loads all of undici, 13 MB and 50 ms for nothing.
const { createServer } = process.getBuiltinModule('node:http')

/** What requests are answered with. */
export interface Served {
  routes: readonly Route[]
  groups: readonly RouteGroup[]
  auth: Auth
  counts: SharedCounts
  /** Hears of whoever may not do what they ask for. */
  onRefused: OnRefused
}

/** `routes` and `auth` answer until `serve` is called. `close` advances `state`. */
export interface HttpServerOptions
  extends Pick<Served, 'routes' | 'auth'>,
    Pick<DispatchOptions, 'basePath' | 'guard' | 'proxyAuth' | 'state' | 'log' | 'telemetry' | 'clock' | 'ids'>,
    Pick<ReplyServices, 'budget'> {
  metrics: Metrics
  /** The open doors. */
  doors: readonly Door[]
  /** For uploads in JSON bodies that are too large for memory. */
  tempFolder: TempFolder
  /** The defaults count for what is not given. */
  limits: Partial<HttpLimits>
  /** If set, the server speaks https only. */
  tls: TlsPair | null
  /** Error formats of doors that have their own, keyed by the first segment of their paths or by the whole one. */
  errorShapes: Readonly<Record<string, ErrorShape>>
}

export interface HttpServer {
  /** From now on requests are answered with this. What is left out stays as it was. */
  serve(served: Partial<Served>): void
  /** Resolves when the server accepts connections. Throws `config_invalid` when it cannot: port in use, no such address. */
  listen(target: ListenTarget): Promise<{ host: string; port: number }>
  /**
   * Also answers on a local socket, always without TLS. The caller makes sure that only this OS user can open it. Throws what the
   * system throws.
   */
  listenLocal(path: string): Promise<void>
  /**
   * Refuses new work with 503 and gives answers in work `drainMs` to complete. Then it ends the streams that are still open and
   * closes every connection. Idle connections close at once. Safe to call again.
   */
  close(options: { drainMs: number }): Promise<void>
  /** Answers a request that another program's server received. Calls `next`, if given, for paths outside the base path. */
  handle(request: IncomingMessage, response: ServerResponse, next?: () => void): void
  /**
   * Answers all requests with this error that have waited this long for an answer. Their handlers go on: what was asked for is done,
   * and nobody hears of it.
   */
  refuseWaiting(ms: number, error: ServerError): void
  stats(): HttpStats
}

export interface HttpStats {
  connections: number
  /** Requests that are not completely answered, including streams. */
  inWork: number
  streams: number
}

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { log, clock, ids, state, basePath } = options
  const limits = { ...defaultHttpLimits, ...options.limits }
  const streams = createOpenStreams(clock)
  const work = createWorkCounter(clock)
  const server = createNodeServer(limits, options.tls)
  const local = createNodeServer(limits, null)
  const fronts = [
    { server, via: 'port' as const, ...trackConnections(server, options.tls !== null, limits, log) },
    { server: local, via: 'ctl' as const, ...trackConnections(local, false, limits, log) },
  ]
  /** Exchanges on connections of another program's server. */
  const mounted: Exchange[] = []
  let listening: Listening | null = null
  let closing: Promise<void> | null = null

  const openExchanges = () => [...fronts.flatMap(({ connections }) => [...connections.values()]), mounted].flat()
  const openConnections = () => fronts.reduce((sum, { connections }) => sum + connections.size, 0)
  const stats = (): HttpStats => ({ connections: openConnections(), inWork: work.count, streams: streams.size })
  const onAnswer = registerHttpMetrics(options.metrics, stats, () => state.current)
  const doors = new Set(options.doors)
  const answeringWith = ({ routes, groups, auth, counts, onRefused }: Served): Answering => ({
    router: createLaterRouter(routes, groups, doors),
    auth,
    usage: createUsageLimits(limits, clock, counts),
    onRefused,
  })
  let served: Served = { routes: options.routes, groups: [], auth: options.auth, counts: ownCounts, onRefused() {} }
  let answering = answeringWith(served)
  const dispatch = createDispatch({
    ...options,
    answering: () => answering,
    body: bodyReader(limits, options),
    reply: {
      clock,
      streams,
      budget: options.budget,
      errorShapes: new Map(Object.entries(options.errorShapes)),
      isClosing: () => closing !== null,
    },
    onAnswer,
  })

  function track(exchange: Exchange, open: Exchange[], request: IncomingMessage, onClosed?: () => void): void {
    open.push(exchange)
    work.begin()
    exchange.onClosed = () => {
      if (!request.complete) dropUnlessReceived(request, clock, limits.requestMs)
      open.splice(open.indexOf(exchange), 1)
      onClosed?.()
      work.end()
    }
  }

  function onRequest({ connections, via }: Front, request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    const open = connections.get(socket) ?? []
    track(dispatch(request, response, via), open, request, () => {
      if (open.length === limits.pipelined - 1) socket.resume()
    })
    // Later, because node reads on after it has parsed the current request.
    if (open.length >= limits.pipelined) clock.soon(() => open.length >= limits.pipelined && socket.pause())
  }

  function handle(request: IncomingMessage, response: ServerResponse, next?: () => void): void {
    if (next !== undefined && isOutside(basePath, request)) next()
    else track(dispatch(request, response, 'mounted'), mounted, request)
  }

  /** Node's parser or timers refused something. It is answered only if the answer can be meant for no other request. */
  function onClientError({ connections }: Front, error: Error, socket: Socket): void {
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
    onAnswer({ method: '-', route: '-', status: problem.status, seconds: 0, code: failure.code })
    const fields = { method: '-', route: '-', status: problem.status, latency_ms: 0, code: failure.code }
    log.info('request', { correlation_id: correlationId, ...fields })
  }

  for (const front of fronts) {
    const handleRequest = (request: IncomingMessage, response: ServerResponse) => onRequest(front, request, response)
    front.server.on('request', handleRequest)
    // A handler asks for the body when it wants it. A refused request is never asked for its body.
    front.server.on('checkContinue', handleRequest)
    front.server.on('checkExpectation', handleRequest)
    front.server.on('clientError', (error, socket) => {
      if (socket instanceof Socket) onClientError(front, error, socket)
    })
    front.server.on('connect', (_request, socket) => refuse(socket, noTunnels()))
  }

  async function shutDown(drainMs: number): Promise<void> {
    state.advance('shutting_down')
    for (const front of fronts) front.server.closeIdleConnections()
    await work.whenIdle(drainMs)
    for (const exchange of openExchanges()) exchange.abort()
    streams.endAll()
    await work.whenIdle(FLUSH_MS)
    await listening?.close()
    await Promise.all(fronts.map(closeFront))
    state.advance('stopped')
  }

  return {
    serve(changed) {
      served = { ...served, ...changed }
      answering = answeringWith(served)
    },
    async listen(target) {
      // The server goes on with the connections it has.
      listening = await listen(server, target, (error) => log.error('a connection could not be accepted', { error }))
      return { host: listening.host, port: listening.port }
    },
    async listenLocal(path) {
      await startListening(local, { path })
      local.on('error', (error) => log.error('a connection could not be accepted', { error }))
    },
    close({ drainMs }) {
      closing ??= shutDown(drainMs)
      return closing
    },
    handle,
    refuseWaiting(ms, error) {
      for (const exchange of openExchanges()) exchange.refuseAfter(ms, error)
    },
    stats,
  }
}

/** How long streams that the server ends have to reach their readers. */
const FLUSH_MS = 500

function createNodeServer(limits: HttpLimits, tls: TlsPair | null): Server {
  const nodeOptions = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    // The reader of the body has its own timeout: a large upload may take longer than any other request.
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: Math.min(1_000, limits.headersMs),
    // The guard checks Host, so that the refusal has a body.
    requireHostHeader: false,
  }
  if (tls === null) return createServer(nodeOptions)
  // Loaded only here: it brings TLS, 5 MB.
  return process
    .getBuiltinModule('node:https')
    .createServer({ ...nodeOptions, ...tls, handshakeTimeout: limits.headersMs })
}

function trackConnections(server: Server, isTls: boolean, limits: HttpLimits, log: Logger) {
  /** Sockets as the kernel knows them. */
  const accepted = new Set<Socket>()
  /** The exchanges of each connection, in lists (see `domain/passing.ts`). Under TLS its socket is another one, which exists only after the handshake. */
  const connections = new Map<Socket, Exchange[]>()
  // Runs before node's own listener. Node's own limit counts only the connections that it accepted itself.
  server.prependListener('connection', (socket: Socket) => {
    if (accepted.size >= limits.connections) {
      log.warn('connection refused: too many are open', { limit: limits.connections })
      socket.destroy()
      return
    }
    accepted.add(socket)
    socket.once('close', () => accepted.delete(socket))
  })
  server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
    connections.set(socket, [])
    socket.once('close', () => connections.delete(socket))
  })
  return { accepted, connections }
}

/** A listening server, and how its requests reach us. */
interface Front extends ReturnType<typeof trackConnections> {
  server: Server
  via: 'port' | 'ctl'
}

const closeFront = ({ server, accepted }: Front): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
    for (const socket of accepted) socket.destroy()
  })

function createWorkCounter(clock: Clock) {
  let count = 0
  let onIdle: (() => void) | null = null
  return {
    get count(): number {
      return count
    },
    begin(): void {
      count += 1
    },
    end(): void {
      count -= 1
      if (count === 0) onIdle?.()
    },
    /** Resolves when nothing is in work, or after `ms`. */
    whenIdle(ms: number): Promise<void> {
      if (count === 0) return Promise.resolve()
      return new Promise((resolve) => {
        onIdle = () => {
          cancel()
          onIdle = null
          resolve()
        }
        const cancel = clock.after(ms, () => onIdle?.())
      })
    },
  }
}

function bodyReader(limits: HttpLimits, { clock, tempFolder }: HttpServerOptions): RequestContext['body'] {
  return {
    limits: {
      maxBytes: limits.bodyBytes,
      totalMs: limits.requestMs,
      graceMs: limits.bodyGraceMs,
      minBytesPerSecond: limits.minBodyBytesPerSecond,
    },
    budget: { used: 0, max: limits.allBodiesBytes },
    pace: { windowMs: limits.uploadWindowMs, minBytesPerSecond: limits.minUploadBytesPerSecond },
    clock,
    tempFolder,
    secret: () => randomBytes(16).toString('hex'),
  }
}

function noTunnels(): ServerError {
  return new ServerError('method_not_allowed', 'This server is not a proxy; it does not answer CONNECT.', {
    details: { allow: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS'] },
  })
}
