import type { ServerResponse } from 'node:http'
import type { ByteBudget } from '../../domain/byte-budget.ts'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { ClientGone, rejectAsGone } from '../client-gone.ts'
import { asServerError, type ErrorShape, helpLink, problemHeaders, problemOf, problemShape } from '../problem.ts'
import type { ByteStream, Reply } from '../route.ts'
import { sseComment } from '../sse.ts'
import { statusOf } from '../status.ts'
import { endAfterSkipping, hasUnreadBody } from './request.ts'
import { dropUnlessSent, type OpenStreams, ResponseStream } from './response-stream.ts'
import { headerUnder } from './target.ts'

/** What all replies of a server share. */
export interface ReplyServices {
  clock: Clock
  streams: OpenStreams
  /** Error formats of doors that have their own, keyed by the first segment of their paths (`v1`) or by the whole one (`/messages`). */
  errorShapes: ReadonlyMap<string, ErrorShape>
  /** Memory that all large answers together may hold. */
  budget: ByteBudget
  /** True while the server stops. Then connections are not kept alive. */
  isClosing: () => boolean
}

interface ReplyContext {
  response: ServerResponse
  /** The path without the base path, as routes see it. */
  path: string
  /** The path as the client sent it. */
  instance: string
  basePath: string
  /** Another program's server received the request. */
  isMounted: boolean
  correlationId: string
  log: Logger
  /** Fields for every log line of the request. */
  notes: Record<string, string>
}

const COMMON_HEADERS = ['X-Content-Type-Options', 'nosniff', 'Referrer-Policy', 'no-referrer']
const POLICY = 'Content-Security-Policy'
/** The policy of every answer that does not set its own. Such an answer is not a page. */
const NOTHING_LOADS = "default-src 'none'"
const STREAM_HEADERS = ['Cache-Control', 'no-cache', 'X-Accel-Buffering', 'no']
/** Without `no-transform`, a compression in front of us would hold events back until it has enough of them. */
const MOUNTED_STREAM_HEADERS = ['Cache-Control', 'no-cache, no-transform', 'X-Accel-Buffering', 'no']
const LARGE_CHARS = 64 * 1024
const OPENING_COMMENT = sseComment('ok')
const KEEP_ALIVE_COMMENT = sseComment('keep-alive')

/** For HEAD requests: they get the headers of a stream, and nobody reads it. */
const UNREAD_STREAM: ByteStream = { write: rejectAsGone, end() {}, drop() {} }

/** The JSON of an object, cut between the items of its lists. */
function* piecesOf(body: object): Generator<string, undefined> {
  let text = '{'
  for (const [n, [key, value]] of Object.entries(body).entries()) {
    text += `${n === 0 ? '' : ','}${JSON.stringify(key)}:`
    if (!Array.isArray(value)) {
      text += JSON.stringify(value)
      continue
    }
    text += '['
    for (const [i, item] of value.entries()) {
      text += `${i === 0 ? '' : ','}${JSON.stringify(item)}`
      if (text.length < LARGE_CHARS) continue
      yield text
      text = ''
    }
    text += ']'
  }
  yield `${text}}`
}

/** One by one: Next's `writeHead` misreads a flat list as pairs and sends the letters of the names. */
function setHeaders(response: ServerResponse, list: readonly string[]): ServerResponse {
  for (let i = 0; i < list.length; i += 2) response.removeHeader(list[i] ?? '')
  for (let i = 0; i < list.length; i += 2) response.appendHeader(list[i] ?? '', list[i + 1] ?? '')
  return response
}

export class HttpReply implements Reply {
  readonly raw: ServerResponse
  /** CORS headers from the guard. Empty until it has checked the request. */
  cors: readonly string[] = []
  /** False once the caller's credential has been revoked. */
  isAllowed: () => boolean = () => true
  /** The caller, once it is known. */
  owner = ''
  /** Called once, before a stream opens. Throws when the caller has too many. */
  onStream: () => void = () => {}
  #isClaimed = false
  /** Called when the headers of the answer are sent. */
  onHead: () => void = () => {}
  /** Called with what the answer says went wrong. */
  onFail: (failure: ServerError) => void = () => {}
  readonly #context: ReplyContext
  readonly #services: ReplyServices
  #opened: ResponseStream | null = null
  /** The rest of the request will not arrive, so this connection cannot be used again. */
  #mustClose = false
  /** A problem has been sent. The connection can fail while the handler still works; then the handler's answer is ignored. */
  #hasFailed = false

  constructor(context: ReplyContext, services: ReplyServices) {
    this.raw = context.response
    this.#context = context
    this.#services = services
  }

  note(fields: Record<string, string>): void {
    Object.assign(this.#context.notes, fields)
  }

  json(status: number, body: unknown, headers?: Record<string, string>): void {
    this.text(status, JSON.stringify(body), 'application/json', headers)
  }

  async jsonPieces(status: number, body: object, headers?: Record<string, string>): Promise<void> {
    const pieces = piecesOf(body)
    const first = pieces.next()
    const second = pieces.next()
    const start = first.value ?? ''
    if (second.done === true) return this.text(status, start, 'application/json', headers)
    const own = ['Content-Type', 'application/json', 'Cache-Control', 'no-store']
    if (!this.#head(status, own, headers)) return
    if (this.raw.req.method === 'HEAD') return void this.raw.end()
    const stream = this.#open(null)
    await stream.write(start)
    await stream.write(second.value)
    for (const piece of pieces) await stream.write(piece)
    stream.end()
  }

  async reserve(bytes: number): Promise<() => void> {
    const onOverdue = () => void this.raw.req.socket.destroy()
    const leave = await this.#services.budget.take(bytes, { owner: this.owner, onOverdue })
    this.raw.once('close', leave)
    if (!this.raw.destroyed) await this.#services.budget.turn()
    if (this.raw.destroyed) {
      leave()
      throw new ClientGone()
    }
    return leave
  }

  text(status: number, body: string, contentType: string, headers?: Record<string, string>): void {
    this.#send(status, body, contentType, headers)
  }

  bytes(status: number, body: Uint8Array, contentType: string, headers?: Record<string, string>): void {
    this.#send(status, body, contentType, headers)
  }

  #send(status: number, body: string | Uint8Array, contentType: string, headers?: Record<string, string>): void {
    const length = String(Buffer.byteLength(body))
    const own = ['Content-Type', contentType, 'Content-Length', length, 'Cache-Control', 'no-store']
    if (!this.#head(status, own, headers)) return
    const { streams, clock } = this.#services
    if (body.length > LARGE_CHARS) {
      const stream = this.#open(null)
      stream.write(body)
      stream.end()
    } else if (this.#leavesBody()) {
      this.raw.write(body)
      endAfterSkipping(this.raw, clock)
    } else {
      this.raw.end(body)
      if (this.raw.writableLength > 0) dropUnlessSent(this.raw, streams, clock)
    }
  }

  empty(status: number, headers?: Record<string, string>): void {
    // A 304 would say the length of what it leaves out.
    const own = status === 204 || status === 304 ? [] : ['Content-Length', '0']
    if (this.#head(status, [...own, 'Cache-Control', 'no-store'], headers)) this.raw.end()
  }

  fail(error: unknown, shape: ErrorShape = this.#ownShape()): void {
    if (error instanceof ClientGone) return
    const { instance, correlationId, log } = this.#context
    const failure = asServerError(error, log)
    if (this.#hasFailed) return
    if (failure.code === 'request_timeout') this.#mustClose = true
    // Failures that the caller cannot fix are logged for whoever runs the server.
    if (error instanceof ServerError && (statusOf[error.code] >= 500 || this.raw.headersSent)) {
      log.warn('request failed', { error })
    }
    this.note({ code: failure.code })
    this.onFail(failure)
    if (this.raw.headersSent) {
      // A stream that failed must not look complete.
      if (!this.raw.writableEnded) this.raw.req.socket.destroy()
      return
    }
    const problem = problemOf(failure, { path: instance, correlationId })
    const { status, contentType, body } = shape(problem)
    const headers = { ...problemHeaders({ ...problem, status }), Link: helpLink(problem.code) }
    this.text(status, JSON.stringify(body), contentType, headers)
    this.#hasFailed = true
  }

  claimStream(): void {
    if (this.#isClaimed) return
    this.onStream()
    this.#isClaimed = true
  }

  sse(headers?: Record<string, string>): ByteStream {
    return this.#start('text/event-stream', KEEP_ALIVE_COMMENT, OPENING_COMMENT, headers)
  }

  stream(contentType: string, headers?: Record<string, string>): ByteStream {
    return this.#start(contentType, null, null, headers)
  }

  /** Called when the handler is done. Ends a stream that it left open, and answers with an error if it did not answer. */
  settle(): void {
    if (this.#opened !== null) this.#opened.end()
    else if (!this.raw.headersSent && !this.raw.destroyed) this.fail(new Error('the handler gave no answer'))
  }

  #start(
    contentType: string,
    keepAlive: string | null,
    opening: string | null,
    headers?: Record<string, string>,
  ): ByteStream {
    this.claimStream()
    const shared = this.#context.isMounted ? MOUNTED_STREAM_HEADERS : STREAM_HEADERS
    if (!this.#head(200, ['Content-Type', contentType, ...shared], headers)) return UNREAD_STREAM
    if (this.raw.req.method === 'HEAD') {
      this.raw.end()
      return UNREAD_STREAM
    }
    const stream = this.#open(keepAlive)
    if (opening === null) this.raw.flushHeaders()
    else stream.write(opening)
    return stream
  }

  #open(keepAlive: string | null): ResponseStream {
    const { streams, clock } = this.#services
    const { isMounted } = this.#context
    const isAllowed = () => this.isAllowed()
    this.#opened = new ResponseStream({ response: this.raw, streams, clock, keepAlive, isAllowed, isMounted })
    return this.#opened
  }

  /** Returns false when the client has gone and nothing more should be sent. */
  #head(status: number, own: readonly string[], headers: Record<string, string> | undefined): boolean {
    if (this.raw.destroyed || this.#hasFailed) return false
    if (this.raw.headersSent) throw new Error('a request was answered twice')
    const { basePath, isMounted } = this.#context
    const list = [...own, ...COMMON_HEADERS, POLICY, NOTHING_LOADS]
    const usual = list.length
    list.push('X-Correlation-ID', this.#context.correlationId, ...this.cors)
    for (const name in headers) {
      const value = headerUnder(basePath, name, headers[name] ?? '')
      // Replaces the usual value: a browser would obey both of two policies.
      const at = list.indexOf(name)
      if (at >= 0 && at < usual) list[at + 1] = value
      else list.push(name, value)
    }
    if (this.#services.isClosing() || this.#leavesBody()) list.push('Connection', 'close')
    this.onHead()
    if (isMounted) setHeaders(this.raw, list).writeHead(status)
    else this.raw.writeHead(status, list)
    return true
  }

  #leavesBody(): boolean {
    return this.#mustClose || hasUnreadBody(this.raw.req)
  }

  #ownShape(): ErrorShape {
    const { path } = this.#context
    const { errorShapes } = this.#services
    return errorShapes.get(path) ?? errorShapes.get(path.split('/', 2)[1] ?? '') ?? problemShape
  }
}
