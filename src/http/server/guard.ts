// Decides which web pages may use this server. A browser sends the name it connected to (Host) and the page that sends the request
// (Origin). A Host that is not ours means DNS rebinding. An Origin that is not allowed is a page of somebody else.

import type { IncomingMessage } from 'node:http'
import { ServerError } from '../../domain/errors.ts'
import { refuseForeignPage } from '../auth/console/own-origin.ts'
import { countHeader, isEncrypted } from './target.ts'

export interface GuardOptions {
  /** The address or name the server was told to listen on. */
  host: string
  /** True when only this machine can reach `host`. */
  loopbackOnly: boolean
  tokenRequired: boolean
  /** More names: `name` (any port) or `name:port`. `*` allows any name, but only if a token is required. */
  allowedHosts: readonly string[]
  /** `local` allows pages of this machine on any port. `*` allows any page, but only if a token is required. */
  origins: readonly string[]
  /** Where people open this server, if the settings say so. */
  publicUrl: string | null
}

export interface Guard {
  /** Returns headers for the answer as a flat list of names and values. Throws `host_not_allowed`, `origin_not_allowed` or `invalid_request`. */
  check(request: IncomingMessage, authority: string | null): readonly string[]
  /** For requests with a console token. Throws `origin_not_allowed` unless a page of this server sent it, or no page at all. */
  checkOwnPage(request: IncomingMessage): void
  /** Returns more headers if the request is a preflight, otherwise null. */
  preflight(request: IncomingMessage): readonly string[] | null
}

const LOOPBACK_NAMES = new Set(['127.0.0.1', 'localhost', '[::1]'])
// Browsers connect these addresses to this machine, so a page could use them as a Host.
const ANY_ADDRESS = new Set(['0.0.0.0', '::'])
const LOCAL_ORIGIN = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/
const EXPOSED = [
  'Access-Control-Expose-Headers',
  'X-Correlation-ID, Location, Link, X-Total-Count, Retry-After, Mcp-Session-Id',
]
const METHODS = 'GET, HEAD, POST, PATCH, DELETE, OPTIONS'
const REQUEST_HEADERS = [
  'authorization',
  'content-type',
  'accept',
  'last-event-id',
  'idempotency-key',
  'x-on-busy',
  'x-correlation-id',
  'x-session-id',
]
/** A header name as RFC 9110 defines it. Nothing else may get into our headers. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/
const MAX_ASKED = 64

export function createGuard(options: GuardOptions): Guard {
  const { loopbackOnly, tokenRequired } = options
  const allowedHosts = new Set(options.allowedHosts.map((name) => name.toLowerCase()))
  const allowedOrigins = new Set(options.origins.map((origin) => origin.toLowerCase()))
  // Without a token, only the guard protects the agent from web pages.
  if (!tokenRequired && allowedOrigins.has('*')) throw needsToken('cors.origins')
  if (!tokenRequired && allowedHosts.has('*')) throw needsToken('allowed hosts')
  const ownName = bareAddress(options.host.toLowerCase())
  const anyOrigin = allowedOrigins.has('*')

  /** What was allowed last: nearly all requests come to the same place under the same name. */
  let last: { host: string; place: Place } | null = null

  function isAllowedHost(host: string, { socket }: IncomingMessage): boolean {
    const place = { port: socket.localPort, address: socket.localAddress ?? '', isSecure: isEncrypted(socket) }
    if (last !== null && last.host === host && isSamePlace(last.place, place)) return true
    const isAllowed = isOurName(host, place)
    if (isAllowed) last = { host, place }
    return isAllowed
  }

  function isOurName(host: string, place: Place): boolean {
    const { name, port } = splitHost(host, place.isSecure ? 443 : 80)
    if (name === '') return false
    if (allowedHosts.has('*') || allowedHosts.has(name) || allowedHosts.has(`${name}:${port}`)) return true
    if (port !== place.port) return false
    const address = bareAddress(name)
    if (LOOPBACK_NAMES.has(name) || (address === ownName && !ANY_ADDRESS.has(address))) return true
    // Only names can be rebound. A page that uses the same address that it connected to was loaded from there.
    return !loopbackOnly && address === bareAddress(place.address)
  }

  function checkHost(request: IncomingMessage, authority: string | null): void {
    const count = countHeader(request, 'host')
    const host = request.headers.host
    if (count > 1) throw new ServerError('invalid_request', 'The request has more than one Host header.')
    if (host === undefined) {
      // Old health checkers send none. A browser always does.
      if (request.httpVersion === '1.0') return
      throw new ServerError('invalid_request', 'The request has no Host header.')
    }
    if (!isAllowedHost(host, request)) throw hostNotAllowed(host)
    if (authority !== null && !isAllowedHost(authority, request)) throw hostNotAllowed(authority)
  }

  function isAllowedOrigin(origin: string, host: string | undefined): boolean {
    if (anyOrigin || (origin !== 'local' && allowedOrigins.has(origin))) return true
    if (allowedOrigins.has('local') && LOCAL_ORIGIN.test(origin)) return true
    // A page of this server. Behind a proxy the scheme may differ, so only the host is compared.
    return host !== undefined && /^https?:\/\/(.+)$/.exec(origin)?.[1] === host.toLowerCase()
  }

  return {
    check(request, authority) {
      checkHost(request, authority)
      const { origin, host } = request.headers
      if (origin === undefined) return []
      if (countHeader(request, 'origin') > 1 || !isAllowedOrigin(origin.toLowerCase(), host)) {
        throw originNotAllowed(origin)
      }
      if (anyOrigin) return ['Access-Control-Allow-Origin', '*', ...EXPOSED]
      return ['Access-Control-Allow-Origin', origin, 'Vary', 'Origin', ...EXPOSED]
    },
    checkOwnPage: (request) => refuseForeignPage(request, options.publicUrl),
    preflight(request) {
      if (request.method !== 'OPTIONS' || request.headers.origin === undefined) return null
      if (request.headers['access-control-request-method'] === undefined) return null
      return [
        'Access-Control-Allow-Methods',
        METHODS,
        'Access-Control-Allow-Headers',
        [...new Set([...REQUEST_HEADERS, ...askedHeaders(request)])].join(', '),
        'Access-Control-Max-Age',
        '600',
      ]
    },
  }
}

/** Where a request has reached us. */
interface Place {
  port: number | undefined
  address: string
  isSecure: boolean
}

const isSamePlace = (one: Place, other: Place): boolean =>
  one.port === other.port && one.address === other.address && one.isSecure === other.isSecure

/** Clients send their own headers (traces, tenants). An allowed page may send any header. */
function askedHeaders(request: IncomingMessage): string[] {
  const asked = request.headers['access-control-request-headers'] ?? ''
  const names = asked.toLowerCase().split(',', MAX_ASKED)
  return names.map((name) => name.trim()).filter((name) => HEADER_NAME.test(name))
}

function splitHost(host: string, defaultPort: number): { name: string; port: number } {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/.exec(host.toLowerCase())
  return { name: match?.[1] ?? '', port: Number(match?.[2] ?? defaultPort) }
}

const bareAddress = (address: string): string => address.replace(/^\[|\]$/g, '').replace(/^::ffff:/, '')

function hostNotAllowed(host: string): ServerError {
  return new ServerError(
    'host_not_allowed',
    `This server does not answer for the host ${JSON.stringify(host.slice(0, 255))}. Add it to the allowed hosts if it should.`,
  )
}

function originNotAllowed(origin: string): ServerError {
  return new ServerError(
    'origin_not_allowed',
    `Pages of ${JSON.stringify(origin.slice(0, 255))} may not use this server. Start it with --cors-origins to allow them.`,
  )
}

function needsToken(setting: string): ServerError {
  return new ServerError('config_invalid', `"*" in ${setting} is allowed only if every request needs a token.`)
}
