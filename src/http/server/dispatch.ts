// One request, from its headers to its line in the log. The steps are guard, route, state, credential, limits, handler. Cheap
// checks come first, and nothing runs before the caller is known.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../domain/clock.ts'
import { type ErrorCode, hasCode, ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import { type RequestSpan, type Telemetry, traceFields } from '../../domain/telemetry.ts'
import type { Access, Auth } from '../auth/auth.ts'
import type { ProxyAuth } from '../auth/identity/proxy-auth.ts'
import { PASSPHRASE_HEADER } from '../auth/passphrase/require-passphrase.ts'
import { refuseWithoutScope } from '../auth/tokens/scopes.ts'
import type { UsageLimits } from '../auth/usage-limits.ts'
import { declaredLength, tooLarge } from '../body/body.ts'
import { RequestLog } from '../logging/request-log.ts'
import { type BodyClass, bodyClassBytes, type Principal, type Route, type Via } from '../route.ts'
import type { ServerState } from '../server-state.ts'
import type { Guard } from './guard.ts'
import { type Entrance, identify, withProof } from './identify.ts'
import type { LaterRouter } from './later-router.ts'
import { HttpReply, type ReplyServices } from './reply.ts'
import { HttpRequest, type RequestContext } from './request.ts'
import type { Match } from './router.ts'
import { originalUrl, parseTarget, pathOf, pathUnder, type Target } from './target.ts'

/** What requests are answered with now. */
export interface Answering {
  router: LaterRouter
  auth: Auth
  usage: UsageLimits
  onRefused: OnRefused
}

export interface DispatchOptions {
  answering: () => Answering
  /** Comes before every path; see `readBasePath`. */
  basePath: string
  guard: Guard
  /** Null: no proxy says who people are. */
  proxyAuth: ProxyAuth | null
  /** Before `ready`, only routes marked `anytime` answer. */
  state: ServerState
  body: RequestContext['body']
  reply: ReplyServices
  log: Logger
  telemetry: Telemetry
  clock: Clock
  ids: Ids
  onAnswer: (answer: Answer) => void
}

/** A request that would have changed something, from somebody who may not do that. */
export interface RefusedRequest {
  route: Pick<Route, 'method' | 'path' | 'role'>
  params: Readonly<Record<string, string>>
  /** Null: nobody knows who it was. */
  principal: Principal | null
  via: Via
  failure: ServerError
  /** The session that it is about, if that is known. */
  sessionId: string | null
  /** The body. Null: nobody has read it. */
  body: Promise<unknown> | null
}

export type OnRefused = (refused: RefusedRequest) => void

/** What is counted for an answered request. `route` is a pattern from the route table, or `-`, so clients cannot invent labels. */
export interface Answer {
  method: string
  route: string
  status: number
  /** Time until the answer began. */
  seconds: number
  /** Of the problem that it was answered with. Null: with none. */
  code: string | null
}

/** The caller may not do this. `passphrase_required` is none: with it the server asks for the passphrase, and `ctl` then asks the person. */
const refusals: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'unauthorized',
  'forbidden',
  'passkey_required',
  'passphrase_wrong',
])

// nginx's status for "the client closed before we answered". It appears only in logs and metrics.
const CLIENT_CLOSED = 499

type Dispatch = (raw: IncomingMessage, response: ServerResponse, via: Entrance) => Exchange

export function createDispatch(options: DispatchOptions): Dispatch {
  const bodies = bodyReaders(options.body)
  return (raw, response, via) => {
    const exchange = new Exchange(raw, response, via, options, bodies)
    exchange.start()
    return exchange
  }
}

/** One request and its answer. */
export class Exchange {
  readonly reply: HttpReply
  /** Called when the answer has been sent or the client has gone. */
  onClosed: () => void = () => {}
  readonly #raw: IncomingMessage
  readonly #response: ServerResponse
  readonly #via: Entrance
  readonly #options: DispatchOptions
  readonly #answering: Answering
  readonly #bodies: BodyReaders
  readonly #method: string
  readonly #url: string
  readonly #correlationId: string
  readonly #log: Logger
  readonly #notes: Record<string, string>
  readonly #startedAt: number
  #answeredAt: number | null = null
  #match: Match | null = null
  #principal: Principal | null = null
  #request: HttpRequest | null = null
  #span: RequestSpan | null = null

  constructor(
    raw: IncomingMessage,
    response: ServerResponse,
    via: Entrance,
    options: DispatchOptions,
    bodies: BodyReaders,
  ) {
    const { basePath, clock, ids } = options
    const isMounted = via === 'mounted'
    this.#startedAt = clock.mono()
    this.#raw = raw
    this.#response = response
    this.#via = via
    this.#options = options
    this.#answering = options.answering()
    this.#bodies = bodies
    this.#method = raw.method ?? ''
    this.#url = isMounted ? originalUrl(raw) : (raw.url ?? '')
    const correlationId = correlationOf(raw.headers['x-correlation-id'], ids)
    const notes: Record<string, string> = { correlation_id: correlationId }
    const log = new RequestLog(options.log, notes)
    this.#correlationId = correlationId
    this.#log = log
    this.#notes = notes
    const instance = pathOf(this.#url)
    const path = pathUnder(basePath, instance) ?? instance
    this.reply = new HttpReply(
      { response, path, instance, basePath, isMounted, correlationId, log, notes },
      options.reply,
    )
    this.reply.onFail = (failure) => this.#noteRefused(failure)
    this.reply.onHead = () => {
      this.#answeredAt = clock.mono()
    }
    response.on('error', (error) => log.error('unexpected error', { error }))
    response.on('close', () => this.#close())
  }

  start(): void {
    try {
      this.#handle()?.then(
        () => {
          this.#request?.releaseBody()
          this.reply.settle()
        },
        (error: unknown) => this.#fail(error),
      )
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Tells the handler that nobody needs its work any more. */
  abort(): void {
    this.#request?.abort()
  }

  /** Answers with this error if nothing was answered for `ms`, although the whole request is here. The handler goes on with its work. */
  refuseAfter(ms: number, error: ServerError): void {
    const isWaiting = this.#raw.complete && !this.#response.headersSent && this.#match?.route.anytime !== true
    if (isWaiting && this.#options.clock.mono() - this.#startedAt >= ms) this.reply.fail(error)
  }

  #handle(): Promise<void> | undefined {
    const { basePath, guard } = this.#options
    const sent = parseTarget(this.#url)
    // No web page can open the local socket, so there is nothing to guard, and no address that a Host header could name.
    if (this.#via !== 'ctl') {
      this.reply.cors = guard.check(this.#raw, sent.authority)
      refusePassphrase(this.#raw)
    }
    const path = pathUnder(basePath, sent.path)
    if (path === null) throw outsideBasePath(sent.path, basePath)
    const loading = this.#answering.router.load(path)
    return loading === null ? this.#answerAt(path, sent) : this.#whenHere(loading, () => this.#answerAt(path, sent))
  }

  /** Unless nobody waits for the answer any more. */
  async #whenHere<T>(waiting: Promise<T>, go: (found: T) => Promise<void> | undefined): Promise<void> {
    const found = await waiting
    if (!this.#response.destroyed) await go(found)
  }

  #answerAt(path: string, sent: Target): Promise<void> | undefined {
    const { proxyAuth, state } = this.#options
    if (this.#method === 'OPTIONS') {
      this.#answerOptions(path)
      return
    }
    const match = this.#findRoute(path)
    const { route } = match
    this.#match = match
    // Probes come every few seconds, and nobody looks for their traces.
    if (!route.anytime) this.#trace(route)
    if (!route.anytime && !state.takesWork) throw unavailable(state)
    const { auth } = this.#answering
    const access = identify(match, sent, this.#raw, this.#via, { auth, proxyAuth })
    if (!(access instanceof Promise)) return this.#serve(match, access, path, sent)
    return this.#whenHere(access, (known) => this.#serve(match, known, path, sent))
  }

  #serve({ route, params }: Match, { principal, isValid }: Access, path: string, sent: Target): Promise<void> {
    this.#principal = principal
    const { guard } = this.#options
    const { usage } = this.#answering
    // Browsers send the cookies of the proxy with requests of any page. A page that anybody may open has to stay reachable by a link.
    const isOfBrowser = principal.source === 'proxy' ? !mayBeOpened(route, this.#raw) : principal.isConsole
    if (isOfBrowser && this.#via !== 'ctl') guard.checkOwnPage(this.#raw)
    refuseWithoutScope(principal, route)
    this.reply.isAllowed = isValid
    this.reply.owner = principal.owner
    if (this.#method === 'POST') usage.takePost(principal)
    const body = this.#bodies[route.body]
    if (route.body in bodyClassBytes) refuseLarge(this.#raw, body.limits.maxBytes)
    this.reply.onStream = () => usage.takeStream(principal, this.#response)
    this.#request = new HttpRequest({
      raw: this.#raw,
      response: this.#response,
      path,
      query: sent.query,
      params,
      principal: withProof(principal, this.#raw),
      correlationId: this.#correlationId,
      log: this.#log,
      body,
      isAllowed: isValid,
      isMounted: this.#via === 'mounted',
      via: this.#via === 'ctl' ? 'ctl' : 'http',
    })
    const request = this.#request
    return this.#span === null
      ? route.handle(request, this.reply)
      : this.#span.within(() => route.handle(request, this.reply))
  }

  #trace({ path }: Route): void {
    const span = this.#options.telemetry.request(this.#method, path, this.#raw.headers)
    const fields = traceFields(span.trace)
    if (fields === null) return
    this.#span = span
    Object.assign(this.#notes, fields)
  }

  #findRoute(path: string): Match {
    const { state } = this.#options
    try {
      return this.#answering.router.find(this.#method, path)
    } catch (error) {
      // Most routes are added only when the server has started.
      throw state.current === 'initializing' ? unavailable(state) : error
    }
  }

  #answerOptions(path: string): void {
    const { guard } = this.#options
    const granted = guard.preflight(this.#raw)
    if (granted !== null) {
      this.reply.cors = [...this.reply.cors, ...granted]
      this.reply.empty(204)
      return
    }
    const allow = this.#answering.router.methods(path)
    // Throws that there is no such route, with a hint.
    if (allow.length === 0) this.#findRoute(path)
    this.reply.empty(204, { Allow: allow.join(', ') })
  }

  #fail(error: unknown): void {
    const { state } = this.#options
    this.#request?.releaseBody()
    // Tokens that are kept in the store are known only when it is open.
    const isEarly = state.current === 'initializing' && hasCode(error, 'unauthorized')
    try {
      this.reply.fail(isEarly ? unavailable(state) : error)
    } catch (bug) {
      // The error's shape or details cannot be written. This caller gets no answer; the others are not affected.
      this.#log.error('unexpected error', { error: bug })
      this.#raw.socket.destroy()
    }
  }

  #noteRefused(failure: ServerError): void {
    if (this.#match === null || this.#match.route.method === 'GET' || !refusals.has(failure.code)) return
    const { route, params } = this.#match
    const principal = this.#principal ?? this.#answering.auth.whoWas(failure)
    const via = this.#via === 'ctl' ? 'ctl' : 'http'
    const [sessionId = null, body = null] = [this.#notes.session_id, this.#request?.body]
    this.#answering.onRefused({ route, params, principal, via, failure, sessionId, body })
  }

  #close(): void {
    const response = this.#response
    const isCut = !response.writableFinished
    // A client that sent HEAD does not read the stream.
    if (isCut || this.#method === 'HEAD') this.abort()
    const status = response.headersSent ? response.statusCode : CLIENT_CLOSED
    const route = this.#match?.route.path ?? '-'
    const now = this.#options.clock.mono()
    const seconds = ((this.#answeredAt ?? now) - this.#startedAt) / 1000
    this.#options.onAnswer({ method: this.#method, route, status, seconds, code: this.#notes.code ?? null })
    this.#log.info('request', {
      method: this.#method,
      route,
      status,
      latency_ms: Math.round((now - this.#startedAt) * 10) / 10,
      cut: (isCut && response.headersSent) || undefined,
    })
    this.#span?.end({ status, isCut })
    this.onClosed()
  }
}

// The id goes into headers, log lines and problems, so it may have only characters that mean nothing in any of them.
const SAFE_ID = /^[A-Za-z0-9._:@/+=-]{1,128}$/

/** The id that the caller chose for its request, or a new one if it chose none or an unsafe one. */
export function correlationOf(header: string | string[] | undefined, ids: Ids): string {
  return typeof header === 'string' && SAFE_ID.test(header) ? header : ids.uuid()
}

/** Whether a link, or a person who types the address, may lead there. It shows something, and changes nothing. */
function mayBeOpened({ method, role }: Route, { headers }: IncomingMessage): boolean {
  return role === 'public' || (method === 'GET' && headers['sec-fetch-site'] === 'none')
}

type BodyReaders = Record<BodyClass, RequestContext['body']>

/** One reader for each body class. All of them share one budget. */
function bodyReaders(body: RequestContext['body']): BodyReaders {
  const reader = (name: BodyClass) => {
    const maxBytes = Math.min(body.limits.maxBytes, bodyClassBytes[name] ?? Number.POSITIVE_INFINITY)
    const decides = name === 'control' || name === 'edit'
    return { ...body, limits: { ...body.limits, maxBytes }, hasKeysOnce: decides ? () => true : undefined }
  }
  return {
    none: reader('none'),
    control: reader('control'),
    edit: reader('edit'),
    message: reader('message'),
    files: reader('files'),
  }
}

/** Refuses a body whose declared length is too large before its route does anything. Other bodies are counted while they are read. */
function refuseLarge(raw: IncomingMessage, maxBytes: number): void {
  if ((declaredLength(raw) ?? 0) > maxBytes) throw tooLarge(maxBytes)
}

/** The passphrase never crosses the network, where it could be logged or sent to a wrong server. */
function refusePassphrase({ headers }: IncomingMessage): void {
  if (headers[PASSPHRASE_HEADER] === undefined) return
  throw new ServerError(
    'invalid_request',
    'The passphrase is taken only through the local socket: use quarterdeck ctl.',
  )
}

const outsideBasePath = (path: string, basePath: string): ServerError =>
  new ServerError('route_not_found', `There is no route ${path.slice(0, 255)}: all routes begin with ${basePath}.`)

function unavailable(state: ServerState): ServerError {
  return state.current === 'initializing'
    ? new ServerError('not_ready', 'The server is starting; try again in a moment.')
    : new ServerError('shutting_down', 'The server is stopping; try again when it is back.', {
        details: { retry_after_seconds: 5 },
      })
}
