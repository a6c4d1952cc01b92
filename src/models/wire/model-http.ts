// The socket side of the model wires: one POST and its server-sent events. Knows no provider.

import type { Clock } from '../../domain/clock.ts'
import { ACCEPTED_ENCODINGS } from '../../outgoing/body-decoder.ts'
import { ConnectionFailure } from '../../outgoing/connection-failure.ts'
import type { Connections, Lines, WayOut } from '../../outgoing/connections.ts'
import { exchange } from '../../outgoing/exchange.ts'
import { type BodyTaker, collectBody, HttpConnectionError, HttpStatusError } from './http-errors.ts'
import { createPayloadStream, type PayloadStream } from './payload-stream.ts'

export interface HttpRequest {
  url: URL
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
  /** Throws `config_invalid` where a request for it would go through a proxy that is none. */
  checkProxy(url: URL): void
  /** The same with connections of its own, for a model that is reached in its own way. */
  through(way: WayOut): ModelHttp
  /** For provider packages, which speak for themselves. */
  readonly fetch: typeof fetch
  /** The proxies that were used so far, without their passwords, and who named them. */
  proxies(): readonly { proxy: string; from: string }[]
}

interface ModelHttpDeps {
  connections: Connections
  clock: Clock
  /** Some gateways refuse who does not say it. */
  userAgent: string
}

export function createModelHttp(deps: ModelHttpDeps): ModelHttp {
  return createWay(deps, {}, new Set())
}

/** `used` are the lines of all ways. */
function createWay(deps: ModelHttpDeps, way: WayOut, used: Set<Lines>): ModelHttp {
  const { clock } = deps
  const lines = deps.connections.through(way)
  used.add(lines)
  const common = { 'user-agent': deps.userAgent, 'accept-encoding': ACCEPTED_ENCODINGS }
  return {
    stream({ url, headers, body }, signal) {
      const request = {
        method: 'POST',
        url,
        headers: { ...common, ...headers, accept: 'text/event-stream', 'content-type': 'application/json' },
        body: wholeCharacters(JSON.stringify(body)),
      } as const
      return createPayloadStream((handlers) => exchange(lines, request, handlers), clock, signal)
    },
    probe: ({ url, headers }, signal) => probe(lines, { url, headers: { ...common, ...headers } }, clock, signal),
    checkProxy: (url) => void lines.isProxied(url),
    through: (other) => createWay(deps, other, used),
    fetch: lines.fetch,
    proxies: () => [...used].flatMap((one) => one.proxies()),
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

function probe(lines: Lines, request: Omit<HttpRequest, 'body'>, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return resolve()
    let taker: (BodyTaker & { cancel(): void }) | null = null
    const settle = (error: Error | null) => {
      signal.removeEventListener('abort', abort)
      if (error === null) resolve()
      else reject(error)
    }
    const asked = exchange(
      lines,
      { method: 'GET', ...request },
      {
        head(head) {
          const isGood = head.status >= 200 && head.status < 300
          if (isGood) settle(null)
          // Also read when nobody wants it: then the connection can be used again.
          taker = collectBody(clock, (body) => {
            asked.destroy()
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
      asked.destroy()
      settle(null)
    }
    signal.addEventListener('abort', abort)
  })
}
