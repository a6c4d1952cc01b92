// One request to somebody else's service: the address judged before it is connected to, redirects followed with care, the answer
// bounded. Knows no tools.

import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { Dispatcher } from 'undici'
import type { Connections, Lines } from '../../../outgoing/connections.ts'
import { untilAborted } from '../../until-aborted.ts'
import { type AnswerBody, readAnswerBody } from './answer-body.ts'
import { isRedirect, redirected } from './redirect.ts'
import { isPublicAddress } from './safe-address.ts'
import { serviceFailure } from './service-failure.ts'

export interface ServiceRequest {
  method: string
  /** http or https, without a user or a password. */
  url: URL
  headers: Readonly<Record<string, string>>
  body: string | null
  /** Addresses that are not public may be called too. */
  allowPrivate: boolean
}

export interface ServiceAnswer extends AnswerBody {
  status: number
  /** Lower case; empty when nothing is said. */
  contentType: string
  /** As the service says it; null when it does not. */
  contentLength: number | null
}

export interface ServiceHttp {
  /**
   * Resolves with whatever status the service gives, after at most five redirects. Throws a `ServerError` with the `reason`
   * among its details where there is no answer. An abort closes the connection.
   */
  send(request: ServiceRequest, signal: AbortSignal): Promise<ServiceAnswer>
}

/** All addresses of a name; rejects where there is none. */
export type Lookup = (hostname: string) => Promise<readonly string[]>

export const systemLookup: Lookup = async (hostname) => {
  const found = await process.getBuiltinModule('node:dns').promises.lookup(hostname, { all: true })
  return found.map(({ address }) => address)
}

export interface ServiceHttpDeps {
  connections: Connections
  /** Where a proxy may be used; left out: none is. The proxy looks the name up again, and we judge only what we have seen. */
  proxied?: Lines | null
  lookup: Lookup
  /** `isPublicAddress`, but for tests, whose only network is this machine. */
  isPublic?: (ip: string) => boolean
  /** How much of an answer is read; 1 MB when nothing is said. */
  maxBytes?: number
}

const MAX_REDIRECTS = 5

export function createServiceHttp(deps: ServiceHttpDeps): ServiceHttp {
  const { connections, proxied = null, lookup, isPublic = isPublicAddress, maxBytes } = deps

  const send = async (request: ServiceRequest, signal: AbortSignal): Promise<ServiceAnswer> => {
    let current = request
    for (let redirects = 0; ; redirects += 1) {
      signal.throwIfAborted()
      const addresses = await addressesOf(current.url, lookup, signal)
      if (!current.allowPrivate && !addresses.every(({ address }) => isPublic(address)))
        throw serviceFailure('private_address')
      const dispatcher =
        proxied?.isProxied(current.url) === true
          ? (await proxied.to(current.url)).dispatcher
          : await connections.pinned(current.url, alreadyKnown(addresses), signal)
      const answer = await exchange(dispatcher, current, signal)
      const location = isRedirect(answer.statusCode) ? answer.headers.location : undefined
      if (typeof location !== 'string') return await readAnswer(answer, maxBytes)
      // Nobody reads it; this one is for what destroying it says.
      answer.body.on('error', () => {}).destroy()
      if (redirects === MAX_REDIRECTS) throw serviceFailure('too_many_redirects')
      current = redirected(current, answer.statusCode, location)
    }
  }
  return {
    async send(request, signal) {
      try {
        return await send(request, signal)
      } catch (error) {
        throw signal.aborted ? serviceFailure('took_too_long', error) : error
      }
    },
  }
}

async function addressesOf(url: URL, lookup: Lookup, signal: AbortSignal): Promise<LookupAddress[]> {
  const literal = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const found = isIP(literal) === 0 ? await untilAborted(resolved(url.hostname, lookup), signal) : [literal]
  const addresses = found.map((address) => ({ address, family: isIP(address) }))
  if (addresses.length === 0 || addresses.some(({ family }) => family === 0)) throw serviceFailure('unreachable')
  return addresses
}

async function resolved(hostname: string, lookup: Lookup): Promise<readonly string[]> {
  try {
    return await lookup(hostname)
  } catch (error) {
    throw serviceFailure('unreachable', error)
  }
}

async function exchange(
  dispatcher: Dispatcher,
  { url, method, headers, body }: ServiceRequest,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const path = `${url.pathname}${url.search}`
  try {
    return await dispatcher.request({ origin: url.origin, path, method, headers, body, signal })
  } catch (error) {
    throw serviceFailure(isTlsError(error) ? 'insecure' : 'unreachable', error)
  }
}

/** The socket connects to what was judged; a second question to the name server could have another answer. */
function alreadyKnown(addresses: readonly LookupAddress[]): LookupFunction {
  return (_hostname, options, done) => {
    const [first] = addresses
    if (options.all === true || first === undefined) done(null, [...addresses])
    else done(null, first.address, first.family)
  }
}

const isTlsError = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|EPROTO|ERR_SSL|PRX_TLS/.test(String(error.code))

async function readAnswer(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  maxBytes?: number,
): Promise<ServiceAnswer> {
  const length = headers['content-length']
  return {
    status: statusCode,
    contentType: String(headers['content-type'] ?? '').toLowerCase(),
    contentLength: length === undefined ? null : Number(length),
    ...(await readAnswerBody(body, String(headers['content-encoding'] ?? ''), maxBytes)),
  }
}
