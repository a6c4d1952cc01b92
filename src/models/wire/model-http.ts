// HTTP for the model wires: one POST and its server-sent events, or its JSON. Knows nothing about providers.

import type { Clock } from '../../domain/clock.ts'
import { ACCEPTED_ENCODINGS } from '../../outgoing/body-decoder.ts'
import { ConnectionFailure } from '../../outgoing/connection-failure.ts'
import type { ConnectionOptions, ConnectionPool, Connections } from '../../outgoing/connections.ts'
import { type ExchangeRequest, exchange } from '../../outgoing/exchange.ts'
import {
  type BodyTaker,
  collectBody,
  type HttpAnswer,
  HttpConnectionError,
  HttpContentError,
  HttpStatusError,
} from './http-errors.ts'
import { createPayloadStream, type PayloadStream, type TakePayloads } from './payload-stream.ts'

export interface HttpRequest {
  url: URL
  headers: Readonly<Record<string, string>>
  /** Sent as JSON. */
  body: unknown
}

export interface ModelHttp {
  /**
   * Sends the request. Fails with `HttpStatusError` for a status of 300 or more, `HttpContentError` for a body that is
   * not an event stream, `HttpConnectionError` for a failure of the network. An abort destroys the socket and ends the stream.
   */
  stream(request: HttpRequest, signal: AbortSignal, take: TakePayloads): PayloadStream
  /**
   * Sends the request and resolves with the whole answer. Throws like `stream`, and `HttpContentError` for a body that is too large.
   * An abort rejects with its reason.
   */
  post(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>
  /** Sends a GET and ignores the body of the answer. Throws like `stream`. */
  probe(request: Omit<HttpRequest, 'body'>, signal: AbortSignal): Promise<void>
  /** Throws `config_invalid` when a request to `url` would use a proxy whose address is not valid. */
  checkProxy(url: URL): void
  /** The same with connections of its own, for a model that needs other options. */
  withConnections(options: ConnectionOptions): ModelHttp
  /** For provider packages, which send their own requests. */
  readonly fetch: typeof fetch
  /** The proxies that were used so far, without passwords, and the setting or variable that named each. */
  proxies(): readonly { proxy: string; from: string }[]
}

interface ModelHttpDeps {
  connections: Connections
  clock: Clock
  /** Some gateways refuse requests without one. */
  userAgent: string
}

export function createModelHttp(deps: ModelHttpDeps): ModelHttp {
  return createHttp(deps, { proxyVariables: null }, new Set())
}

/** `pools` are shared: `proxies` reports on all of them. */
function createHttp(deps: ModelHttpDeps, options: ConnectionOptions, pools: Set<ConnectionPool>): ModelHttp {
  const { clock } = deps
  const pool = deps.connections.pool(options)
  pools.add(pool)
  const common = { 'user-agent': deps.userAgent, 'accept-encoding': ACCEPTED_ENCODINGS }
  const requestOf = ({ url, headers, body }: HttpRequest, accept: string): ExchangeRequest => ({
    method: 'POST',
    url,
    headers: { ...common, ...headers, accept, 'content-type': 'application/json' },
    body: wholeCharacters(JSON.stringify(body)),
  })
  return {
    stream(request, signal, take) {
      const sent = requestOf(request, 'text/event-stream')
      return createPayloadStream((handlers) => exchange(pool, sent, handlers), clock, signal, take)
    },
    post: (request, signal) => post(pool, requestOf(request, 'application/json'), clock, signal),
    probe: ({ url, headers }, signal) => probe(pool, { url, headers: { ...common, ...headers } }, clock, signal),
    checkProxy: (url) => void pool.isProxied(url),
    withConnections: (other) => createHttp(deps, other, pools),
    fetch: pool.fetch,
    proxies: () => [...pools].flatMap((one) => one.proxies()),
  }
}

/**
 * A tool, or a cut through a text, may leave half a surrogate pair, which JSON writes as `\\ud83d`. Strict providers refuse such a
 * request, and so every later one of the conversation. The pattern also matches `\\\\`, a backslash of the text itself, to skip it.
 */
const wholeCharacters = (json: string): string =>
  json.includes('\\ud')
    ? json.replace(/\\(?:\\|ud[89a-f][0-9a-f]{2})/g, (found) => (found === '\\\\' ? found : '\ufffd'))
    : json

/** More than 256 long vectors need, written as decimal numbers. */
const MAX_ANSWER = 64 * 1024 * 1024

function post(pool: ConnectionPool, request: ExchangeRequest, clock: Clock, signal: AbortSignal): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    let taker: BodyTaker | null = null
    const settle = (work: () => void) => {
      signal.removeEventListener('abort', abort)
      sent.destroy()
      work()
    }
    const fail = (error: unknown) => settle(() => reject(error))
    const sent = exchange(pool, request, {
      head(head) {
        const isGood = head.status >= 200 && head.status < 300
        taker = isGood
          ? wholeBody({
              done: (body) => settle(() => resolve({ ...head, body })),
              tooLarge: () => fail(new HttpContentError({ ...head, body: '' })),
              lost: (error) => fail(new HttpConnectionError(error, true)),
            })
          : collectBody(clock, (body) => fail(new HttpStatusError({ ...head, body })))
      },
      body: (bytes) => taker?.body(bytes),
      end: () => taker?.end(),
      failed(error) {
        if (taker !== null) taker.lost(error)
        else fail(error instanceof ConnectionFailure ? new HttpConnectionError(error, false) : error)
      },
    })
    const abort = () => fail(signal.reason)
    signal.addEventListener('abort', abort)
  })
}

interface WholeBody {
  done(body: string): void
  tooLarge(): void
  lost(error: NodeJS.ErrnoException): void
}

function wholeBody({ done, tooLarge, lost }: WholeBody): BodyTaker {
  const pieces: Buffer[] = []
  let size = 0
  return {
    body(bytes) {
      size += bytes.length
      if (size > MAX_ANSWER) tooLarge()
      else pieces.push(bytes)
    },
    end: () => done(Buffer.concat(pieces).toString('utf8')),
    lost,
  }
}

function probe(
  pool: ConnectionPool,
  request: Omit<HttpRequest, 'body'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return resolve()
    let taker: (BodyTaker & { cancel(): void }) | null = null
    const settle = (error: Error | null) => {
      signal.removeEventListener('abort', abort)
      if (error === null) resolve()
      else reject(error)
    }
    const sent = exchange(
      pool,
      { method: 'GET', ...request },
      {
        head(head) {
          const isGood = head.status >= 200 && head.status < 300
          if (isGood) settle(null)
          // The body is read even if nobody needs it, so that the connection can be used again.
          taker = collectBody(clock, (body) => {
            sent.destroy()
            if (!isGood) settle(new HttpStatusError({ ...head, body }))
          })
        },
        body: (bytes) => taker?.body(bytes),
        end: () => taker?.end(),
        failed(error) {
          if (taker !== null) taker.lost(error)
          else settle(error instanceof ConnectionFailure ? new HttpConnectionError(error, false) : error)
        },
      },
    )
    const abort = () => {
      taker?.cancel()
      sent.destroy()
      settle(null)
    }
    signal.addEventListener('abort', abort)
  })
}
