// One request and its answer, decompressed: no streams and no promises in between.

import type { AnswerHandler, Controller } from './answer-reader.ts'
import { type BodyDecoder, createBodyDecoder, decoderFor } from './body-decoder.ts'
import { connectionFailure, isUnsendable } from './connection-failure.ts'
import { basicAuth, type ConnectionPool, type Upstream } from './connections.ts'
import type { StreamRequest } from './direct-client.ts'

export interface ExchangeRequest {
  method: 'GET' | 'POST'
  /** http: or https:. A user and a password in it become the `authorization` header. */
  url: URL
  /** Names in lower case. `host`, `content-length` and `connection` are added. */
  headers: Readonly<Record<string, string>>
  body?: string
}

export interface AnswerHead {
  status: number
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>
}

/** Called in this order. Nothing is called after `end` or `failed`, nor before `exchange` has returned. */
export interface ExchangeHandlers {
  head(head: AnswerHead): void
  /** Decompressed if we know the encoding. */
  body(bytes: Buffer): void
  end(): void
  failed(error: NodeJS.ErrnoException): void
}

export interface Flow {
  /** A few bytes may still arrive. */
  pause(): void
  resume(): void
  /** Closes the connection, unless the exchange is over. No handler is called after it. */
  destroy(): void
}

/** How many idle connections that the server had closed are tried, one after the other. */
const MAX_STALE = 5
const RESET: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE'])

/** Throws for a protocol other than http and https. */
export function exchange(pool: ConnectionPool, request: ExchangeRequest, handlers: ExchangeHandlers): Flow {
  const { url } = request
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new TypeError(`Cannot send a request by ${url.protocol}`)
  const options = optionsOf(request)
  let attempt: Attempt | null = null
  let isOver = false
  let failures = 0

  const once: ExchangeHandlers = {
    head: handlers.head,
    body: handlers.body,
    end() {
      isOver = true
      handlers.end()
    },
    failed(error) {
      isOver = true
      handlers.failed(error)
    },
  }

  const fail = (error: unknown): void => {
    queueMicrotask(() => {
      if (!isOver) once.failed(error instanceof Error ? error : new Error(String(error)))
    })
  }

  const begin = (upstream: Upstream): void => {
    if (isOver) return
    attempt = new Attempt(once, (error, isStale) => {
      // Not a failure of the network: HTTP cannot carry what we wanted to send.
      if (isUnsendable(error)) return fail(error)
      const failure = connectionFailure(error, upstream, url)
      failures += 1
      // The server may close an idle connection at the moment we use it again. That is not a failure.
      if (isStale && RESET.has(failure.code) && failures <= MAX_STALE) return begin(upstream)
      fail(failure)
    })
    // A copy, because a proxy's dispatcher changes the options.
    upstream.streams.dispatch({ ...options }, attempt)
  }

  const upstream = pool.upstreamFor(url)
  if (upstream instanceof Promise) upstream.then(begin).catch(fail)
  else begin(upstream)

  return {
    pause: () => attempt?.pause(),
    resume: () => attempt?.resume(),
    destroy() {
      if (isOver) return
      isOver = true
      attempt?.destroy()
    },
  }
}

function optionsOf({ method, url, headers, body }: ExchangeRequest): StreamRequest {
  const needsAuth = (url.username !== '' || url.password !== '') && headers.authorization === undefined
  return {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method,
    headers: needsAuth ? { ...headers, authorization: basicAuth(url.username, url.password) } : headers,
    body: body ?? '',
  }
}

class Attempt implements AnswerHandler, Flow {
  isReused = false
  /** Some of the answer has come, so the server has read the request. */
  #isAnswered = false
  #isOver = false
  #controller: Controller | null = null
  #decoder: BodyDecoder | null = null
  readonly #to: ExchangeHandlers
  readonly #failed: (error: Error, isStale: boolean) => void

  constructor(to: ExchangeHandlers, failed: (error: Error, isStale: boolean) => void) {
    this.#to = to
    this.#failed = failed
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(gone())
  }

  onResponseStarted(): void {
    this.#isAnswered = true
  }

  onResponseStart(_: unknown, status: number, headers: AnswerHead['headers']): void {
    this.#isAnswered = true
    // An informational answer (1xx): the real one follows.
    if (this.#isOver || status < 200) return
    const encoding = headers['content-encoding']
    const decoder = encoding === undefined ? null : decoderFor(String(encoding))
    if (decoder) {
      const source = { pause: () => this.#controller?.pause(), resume: () => this.#controller?.resume(), destroy() {} }
      this.#decoder = createBodyDecoder(decoder(), source, {
        body: (bytes) => void (this.#isOver || this.#to.body(bytes)),
        end: () => this.#end(),
        failed: (error) => this.#fail(error),
      })
    }
    this.#to.head({ status, headers })
  }

  onResponseData(_: unknown, bytes: Buffer): void {
    if (this.#isOver) return
    if (this.#decoder === null) this.#to.body(bytes)
    else this.#decoder.body(bytes)
  }

  onResponseEnd(): void {
    // The connection belongs to the next request now.
    this.#controller = null
    if (this.#decoder === null) this.#end()
    else this.#decoder.end()
  }

  onResponseError(_: unknown, error: Error): void {
    this.#fail(error)
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#to.end()
  }

  #fail(error: Error): void {
    if (this.#isOver) return
    this.destroy()
    this.#failed(error, this.isReused && !this.#isAnswered)
  }

  pause(): void {
    if (this.#decoder === null) this.#controller?.pause()
    else this.#decoder.pause()
  }

  resume(): void {
    if (this.#decoder === null) this.#controller?.resume()
    else this.#decoder.resume()
  }

  destroy(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#decoder?.destroy()
    this.#controller?.abort(gone())
  }
}

const gone = (): Error => new Error('Nobody waits for this answer any longer.')
