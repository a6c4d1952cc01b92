// One request, from its headers to its line in the log: guard, route, state, credential, limits, handler. In that order,
// so that what is refused costs little and nothing runs before the caller is known.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import type { Access, Auth } from '../auth/auth.ts'
import type { UsageLimits } from '../auth/usage-limits.ts'
import { declaredLength, tooLarge } from '../body/body.ts'
import { RequestLog } from '../logging/request-log.ts'
import { type BodyClass, bodyClassBytes, type Route } from '../route.ts'
import type { ServerState } from '../server-state.ts'
import { pathUnder } from './base-path.ts'
import { correlationOf } from './correlation.ts'
import { type Guard, isLoopback } from './guard.ts'
import { HttpReply, type ReplyServices } from './reply.ts'
import { HttpRequest, type RequestContext } from './request.ts'
import type { Match, Router } from './router.ts'
import { parseTarget, type Target } from './target.ts'

export interface DispatchOptions {
  router: () => Router
  /** In front of every path; see `readBasePath`. */
  basePath: string
  guard: Guard
  auth: Auth
  state: ServerState
  usage: UsageLimits
  body: RequestContext['body']
  reply: ReplyServices
  log: Logger
  clock: Clock
  ids: Ids
  onAnswer: (answer: Answer) => void
}

/** What is counted of an answered request. `route` is a pattern of the table, or `-`: nothing a client can invent. */
export interface Answer {
  method: string
  route: string
  status: number
  /** Until the answer began. */
  seconds: number
}

export interface Exchange {
  readonly reply: HttpReply
  /** Tells the handler that its work is wanted no longer. */
  abort(): void
  /** Called when the answer has left or the client has gone. */
  onClosed: () => void
}

// nginx's word for "the client closed before we answered"; only in logs and metrics.
const CLIENT_CLOSED = 499

/** `isMounted`: the request comes from the server of another program. */
export type Dispatch = (raw: IncomingMessage, response: ServerResponse, isMounted?: boolean) => Exchange

export function createDispatch(options: DispatchOptions): Dispatch {
  const { router, basePath, guard, auth, state, usage, clock, ids } = options
  const readers = bodyReaders(options.body)

  return (raw, response, isMounted = false) => {
    const startedAt = clock.mono()
    const correlationId = correlationOf(raw.headers['x-correlation-id'], ids)
    const notes = { correlation_id: correlationId }
    const log = new RequestLog(options.log, notes)
    const method = raw.method ?? ''
    const url = isMounted ? askedUrl(raw) : (raw.url ?? '')
    const asked = pathOf(url)
    const path = pathUnder(basePath, asked) ?? asked
    const reply = new HttpReply(
      { response, path, instance: asked, basePath, isMounted, correlationId, log, notes },
      options.reply,
    )
    const exchange: Exchange = { reply, abort: () => request?.abort(), onClosed() {} }
    let route: Route | null = null
    let request: HttpRequest | null = null
    let answeredAt: number | null = null
    reply.onHead = () => {
      answeredAt = clock.mono()
    }

    response.on('error', (error) => log.error('unexpected error', { error }))
    response.on('close', () => {
      const isCut = !response.writableFinished
      // Who asked for the head of a stream will not read it.
      if (isCut || method === 'HEAD') request?.abort()
      const status = response.headersSent ? response.statusCode : CLIENT_CLOSED
      const pattern = route?.path ?? '-'
      const now = clock.mono()
      options.onAnswer({ method, route: pattern, status, seconds: ((answeredAt ?? now) - startedAt) / 1000 })
      log.info('request', {
        method,
        route: pattern,
        status,
        latency_ms: Math.round((now - startedAt) * 10) / 10,
        ...(isCut && response.headersSent ? { cut: true } : {}),
      })
      exchange.onClosed()
    })

    function begin(): Promise<void> | undefined {
      const whole = parseTarget(url)
      reply.cors = guard.check(raw, whole.authority)
      const inside = pathUnder(basePath, whole.path)
      if (inside === null) throw outside(whole.path, basePath)
      const target = { ...whole, path: inside }
      if (method === 'OPTIONS') {
        answerOptions(target)
        return
      }
      const match = find(target)
      route = match.route
      if (!route.anytime && !state.takesWork) throw notNow(state)
      const access =
        signedAccess(match, raw, target) ??
        auth.authenticate(raw.headers.authorization, raw.socket.remoteAddress ?? '', route.role, {
          isLocal: !isMounted || isFromHere(raw),
        })
      const { principal } = access
      reply.isAllowed = access.isValid
      reply.owner = principal.owner
      if (method === 'POST') usage.takePost(principal)
      const body = readers[route.body]
      if (route.body in bodyClassBytes) refuseLarge(raw, body.limits.maxBytes)
      reply.onStream = () => usage.takeStream(principal, response)
      request = new HttpRequest({
        raw,
        response,
        path: target.path,
        query: target.query,
        params: match.params,
        principal,
        correlationId,
        log,
        body,
        isAllowed: access.isValid,
        isMounted,
      })
      return route.handle(request, reply)
    }

    function find(target: Target): Match {
      try {
        return router().find(method, target.path)
      } catch (error) {
        // Most routes come when the server has started.
        throw state.current === 'initializing' ? notNow(state) : error
      }
    }

    function answerOptions(target: Target): void {
      const granted = guard.preflight(raw)
      if (granted !== null) {
        reply.cors = [...reply.cors, ...granted]
        reply.empty(204)
        return
      }
      const allow = router().methods(target.path)
      // Says that there is no such route, with a hint.
      if (allow.length === 0) find(target)
      reply.empty(204, { Allow: allow.join(', ') })
    }

    function fail(error: unknown): void {
      try {
        reply.fail(error)
      } catch (bug) {
        // A shape or details that cannot be written. One caller is left without an answer, the others are not.
        log.error('unexpected error', { error: bug })
        raw.socket.destroy()
      }
    }

    try {
      begin()?.then(
        () => {
          request?.releaseBody()
          reply.settle()
        },
        (error: unknown) => {
          request?.releaseBody()
          fail(error)
        },
      )
    } catch (error) {
      fail(error)
    }
    return exchange
  }
}

function signedAccess({ route, params }: Match, raw: IncomingMessage, { query }: Target): Access | null {
  if (route.signedOwner === undefined || raw.headers.authorization !== undefined) return null
  const owner = route.signedOwner({ params, query: new URLSearchParams(query) })
  return owner === null ? null : { principal: { owner, role: 'user', hasToken: false }, isValid: () => true }
}

/** By the class of the route; each has the same budget. */
function bodyReaders(body: RequestContext['body']): Record<BodyClass, RequestContext['body']> {
  const reader = (name: BodyClass) => {
    const maxBytes = Math.min(body.limits.maxBytes, bodyClassBytes[name] ?? Number.POSITIVE_INFINITY)
    return { ...body, limits: { ...body.limits, maxBytes } }
  }
  return { none: reader('none'), control: reader('control'), message: reader('message'), files: reader('files') }
}

/** What says that it is too large is refused before its route does anything. What says nothing is counted while it is read. */
function refuseLarge(raw: IncomingMessage, maxBytes: number): void {
  if ((declaredLength(raw) ?? 0) > maxBytes) throw tooLarge(maxBytes)
}

/** Express takes the path it has mounted us under away from `url`, and keeps the whole. */
export function askedUrl(raw: IncomingMessage): string {
  const { url = '', originalUrl } = raw as IncomingMessage & { originalUrl?: unknown }
  return typeof originalUrl === 'string' ? originalUrl : url
}

/** True for what is the other program's to answer. An absolute target (`GET http://host/path`) is ours by its path, too. */
export function isOutside(basePath: string, raw: IncomingMessage): boolean {
  const path = pathOf(askedUrl(raw).replace(/^https?:\/\/[^/?#]*/i, ''))
  return pathUnder(basePath, path) === null
}

/** Our own server listens where the settings say. Another program's may listen anywhere, or behind a proxy on this machine. */
function isFromHere({ socket, headers }: IncomingMessage): boolean {
  if (headers.forwarded !== undefined || headers.via !== undefined) return false
  // Next writes the first of them itself, with the address of its own caller.
  const forwarded = [headers['x-forwarded-for'] ?? [], headers['x-real-ip'] ?? []]
    .flat()
    .flatMap((list) => list.split(','))
  return [socket.remoteAddress ?? '', ...forwarded].every((address) =>
    isLoopback(address.trim().replace(/^::ffff:/, '')),
  )
}

const outside = (path: string, basePath: string): ServerError =>
  new ServerError('route_not_found', `There is no route ${path.slice(0, 255)}: all begin with ${basePath}.`)

export function pathOf(url: string): string {
  const mark = url.indexOf('?')
  return mark < 0 ? url : url.slice(0, mark)
}

function notNow(state: ServerState): ServerError {
  return state.current === 'initializing'
    ? new ServerError('not_ready', 'The server is starting; try again in a moment.')
    : new ServerError('shutting_down', 'The server is stopping; try again when it is back.', {
        details: { retry_after_seconds: 5 },
      })
}
