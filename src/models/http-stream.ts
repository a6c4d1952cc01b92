// The socket side of the model wires: one POST, its server-sent events, a pool of connections. Knows no provider.

import type { Clock } from '../domain/clock.ts'
import { type ConnectionPool, createConnectionPool } from './http/connection-pool.ts'
import { type BodyTaker, collectBody, HttpConnectionError, HttpStatusError } from './http-answer.ts'
import { createPayloadStream, type PayloadStream } from './payload-stream.ts'

export interface HttpRequest {
  url: string
  headers: Readonly<Record<string, string>>
  /** Sent as JSON. */
  body: unknown
}

export interface ModelHttp {
  /**
   * Begins with the first pull. Throws `HttpStatusError` for a status of 300 and more, `HttpContentError` for a body that is
   * no event stream, `HttpConnectionError` for the network. An abort destroys the socket and ends the iteration.
   */
  stream(request: HttpRequest, signal: AbortSignal): PayloadStream
  /** GETs and throws away the answer; throws like `stream`. */
  probe(request: Omit<HttpRequest, 'body'>, signal: AbortSignal): Promise<void>
  /** Closes the pool. */
  close(): void
}

export function createModelHttp({ clock }: { clock: Clock }): ModelHttp {
  const pool = createConnectionPool({ clock })
  return {
    stream({ url, headers, body }, signal) {
      const request = {
        method: 'POST',
        url,
        headers: { ...headers, accept: 'text/event-stream', 'content-type': 'application/json' },
        body: wholeCharacters(JSON.stringify(body)),
      } as const
      return createPayloadStream((handlers) => pool.send(request, handlers), clock, signal)
    },
    probe: (request, signal) => probe(pool, request, clock, signal),
    close: pool.close,
  }
}

/**
 * Half a surrogate pair, as a tool or a cut through a text leaves it, is `\\ud83d` in JSON. Strict providers refuse the whole request
 * for it, and so every further one of the conversation. A backslash of the text itself is two in JSON.
 */
const wholeCharacters = (json: string): string =>
  json.includes('\\ud')
    ? json.replace(/\\(?:\\|ud[89a-f][0-9a-f]{2})/g, (found) => (found === '\\\\' ? found : '\ufffd'))
    : json

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
    const exchange = pool.send(
      { method: 'GET', ...request },
      {
        head(head) {
          const isGood = head.status >= 200 && head.status < 300
          if (isGood) settle(null)
          // Also read when nobody wants it: then the connection can be used again.
          taker = collectBody(clock, (body) => {
            exchange.destroy()
            if (!isGood) settle(new HttpStatusError({ ...head, body }))
          })
        },
        body: (bytes) => taker?.body(bytes),
        end: () => taker?.end(),
        failed(error) {
          if (taker === null) settle(new HttpConnectionError(error, false))
          else taker.lost(error)
        },
      },
    )
    const abort = () => {
      taker?.cancel()
      exchange.destroy()
      settle(null)
    }
    signal.addEventListener('abort', abort)
  })
}
