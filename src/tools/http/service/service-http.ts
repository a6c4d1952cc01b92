// Sends one request to a service outside. Checks the address before it connects, follows redirects with care, and limits the
// answer. It knows nothing about tools.

import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { Dispatcher } from 'undici'
import type { ConnectionPool, Connections } from '../../../outgoing/connections.ts'
import { untilAborted } from '../../until-aborted.ts'
import { type AnswerBody, readAnswerBody } from './answer-body.ts'
import { isRedirect, redirected } from './redirect.ts'
import { isPublicAddress } from './safe-address.ts'
import { serviceFailure } from './service-failure.ts'

export interface ServiceRequest {
  method: string
  /** An http or https URL without a user or password. */
  url: URL
  headers: Readonly<Record<string, string>>
  body: string | null
  /** Whether addresses that are not public may be called too. */
  allowPrivate: boolean
}

export interface ServiceAnswer extends AnswerBody {
  status: number
  /** In lower case. Empty when the service names none. */
  contentType: string
  /** What the service says. Null when it does not say. */
  contentLength: number | null
}

export interface ServiceHttp {
  /**
   * Resolves with the answer, of any status, after at most five redirects. When there is no answer, throws a `ServerError` whose
   * details hold the `reason`. An abort closes the connection.
   */
  send(request: ServiceRequest, signal: AbortSignal): Promise<ServiceAnswer>
}

/** All addresses of a host name. Rejects when there is none. */
export type Lookup = (hostname: string) => Promise<readonly string[]>

export const systemLookup: Lookup = async (hostname) => {
  const found = await process.getBuiltinModule('node:dns').promises.lookup(hostname, { all: true })
  return found.map(({ address }) => address)
}

interface ServiceHttpDeps {
  connections: Connections
  /** For requests that use a proxy. Left out: none does. The proxy resolves the name again, and we cannot check what it finds. */
  proxied?: ConnectionPool | null
  lookup: Lookup
  /** For tests, whose only network is this machine. Default: `isPublicAddress`. */
  isPublic?: (ip: string) => boolean
  /** How much of an answer is read. Default: 1 MB. */
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
          ? (await proxied.upstreamFor(current.url)).dispatcher
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

/** Makes the socket connect to the addresses that were checked. A second lookup could give other ones. */
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
