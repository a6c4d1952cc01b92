import type { Upstream } from './connections.ts'

/** Why there is no answer, or only a part of one. `code` is the system's error code, or one of those below. */
export class ConnectionFailure extends Error {
  readonly code: string
  /** The proxy that was used, without its password. */
  readonly proxy: string | null
  readonly connectTimeoutMs: number
  /** Host and port of the server. */
  readonly address: string

  constructor(code: string, cause: Error, { proxy, connectTimeoutMs }: Upstream, address: string) {
    super(cause.message, { cause })
    this.name = 'ConnectionFailure'
    this.code = code
    this.proxy = proxy
    this.connectTimeoutMs = connectTimeoutMs
    this.address = address
  }
}

export const CONNECT_TIMEOUT = 'CONNECT_TIMEOUT'
/** Followed by the proxy's status. */
export const PROXY_REFUSED = 'PROXY_REFUSED_'
export const BAD_HTTP = 'BAD_HTTP'
export const BAD_ENCODING = 'BAD_ENCODING'

/** Translates undici's errors into our codes, which do not change with its version. */
export function connectionFailure(
  error: Error & { code?: unknown },
  upstream: Upstream,
  { host, port, protocol }: URL,
) {
  const address = port === '' ? `${host}:${protocol === 'https:' ? 443 : 80}` : host
  return new ConnectionFailure(connectionCode(error), error, upstream, address)
}

/** A header or a path that HTTP cannot carry. */
export const isUnsendable = (error: Error & { code?: unknown }): boolean =>
  error.code === UNSENDABLE && refusedByProxy(error) === undefined

/** undici's code. */
const UNSENDABLE = 'UND_ERR_INVALID_ARG'

export const unsendable = (what: string): Error => Object.assign(new TypeError(what), { code: UNSENDABLE })

const refusedByProxy = ({ message }: { message: string }): string | undefined =>
  /^Proxy (?:response|Authentication Required) \((\d+)\)/.exec(message)?.[1]

/** Codes of the system stay as they are. */
export function connectionCode(error: { code?: unknown; message: string; name?: string }): string {
  const status = refusedByProxy(error)
  if (status !== undefined) return `${PROXY_REFUSED}${status}`
  const { code, message } = error
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'UND_ERR_HEADERS_TIMEOUT': // Only a request for a tunnel has this limit.
    case 'ETIMEDOUT':
      return CONNECT_TIMEOUT
    case 'UND_ERR_SOCKET':
      return message.startsWith('bad ') ? BAD_HTTP : 'ECONNRESET'
    case 'UND_ERR_PRX_CONN':
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
    case 'UND_ERR_DESTROYED':
    case 'UND_ERR_CLOSED':
      return 'ECONNRESET'
    case 'ERR_ASSERTION': // How undici reports a status that no server may send.
    case 'UND_ERR_HEADERS_OVERFLOW':
      return BAD_HTTP
  }
  if (error.name === 'HTTPParserError') return /EOF/.test(message) ? 'ECONNRESET' : BAD_HTTP
  if (typeof code !== 'string') return 'UNKNOWN'
  return /^Z_|^ERR__?ERROR|^ERR_BROTLI|BROTLI/.test(code) ? BAD_ENCODING : code
}
