// One request to somebody else's service: the address judged before it is connected to, redirects followed with care, the answer
// bounded. Knows no tools.

import type { LookupAddress } from 'node:dns'
import type { IncomingMessage } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import { type AnswerBody, readAnswerBody } from './answer-body.ts'
import { isRedirect, redirected } from './redirect.ts'
import { isPublicAddress } from './safe-address.ts'
import { serviceFailure } from './service-failure.ts'

// As an ES module node:http brings all of undici along: 13 MB and 50 ms that nobody here uses.
const http = process.getBuiltinModule('node:http')
const https = process.getBuiltinModule('node:https')

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
  lookup: Lookup
  /** `isPublicAddress`, but for tests, whose only network is this machine. */
  isPublic?: (ip: string) => boolean
  /** How much of an answer is read; 1 MB when nothing is said. */
  maxBytes?: number
}

const MAX_REDIRECTS = 5

export function createServiceHttp({ lookup, isPublic = isPublicAddress, maxBytes }: ServiceHttpDeps): ServiceHttp {
  const send = async (request: ServiceRequest, signal: AbortSignal): Promise<ServiceAnswer> => {
    let current = request
    for (let redirects = 0; ; redirects += 1) {
      signal.throwIfAborted()
      const addresses = await addressesOf(current.url, lookup, signal)
      if (!current.allowPrivate && !addresses.every(({ address }) => isPublic(address)))
        throw serviceFailure('private_address')
      const message = await exchange(current, addresses, signal)
      const status = message.statusCode ?? 0
      const location = isRedirect(status) ? message.headers.location : undefined
      if (location === undefined) return await readAnswer(message, status, maxBytes)
      message.destroy()
      if (redirects === MAX_REDIRECTS) throw serviceFailure('too_many_redirects')
      current = redirected(current, status, location)
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
  const found = isIP(literal) === 0 ? await orAbort(resolved(url.hostname, lookup), signal) : [literal]
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

/** A name server that does not answer cannot be told to stop. */
function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

function exchange(
  request: ServiceRequest,
  addresses: readonly LookupAddress[],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = {
      method: request.method,
      headers: request.headers,
      // A connection of its own: one that is kept could belong to an address that was judged for somebody else.
      agent: false,
      lookup: alreadyKnown(addresses),
      signal,
    } as const
    const { url } = request
    const outgoing = url.protocol === 'https:' ? https.request(url, options) : http.request(url, options)
    outgoing.once('response', (message) => {
      // The reader hears of it too; this one is for a failure while nobody reads.
      message.on('error', () => {})
      resolve(message)
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) =>
      reject(serviceFailure(isTlsError(error) ? 'insecure' : 'unreachable', error)),
    )
    outgoing.end(request.body ?? undefined)
  })
}

/** The socket connects to what was judged; a second question to the name server could have another answer. */
function alreadyKnown(addresses: readonly LookupAddress[]): LookupFunction {
  return (_hostname, options, done) => {
    const [first] = addresses
    if (options.all === true || first === undefined) done(null, [...addresses])
    else done(null, first.address, first.family)
  }
}

const isTlsError = ({ code = '' }: NodeJS.ErrnoException): boolean =>
  /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|EPROTO|ERR_SSL/.test(code)

async function readAnswer(message: IncomingMessage, status: number, maxBytes?: number): Promise<ServiceAnswer> {
  const length = message.headers['content-length']
  return {
    status,
    contentType: (message.headers['content-type'] ?? '').toLowerCase(),
    contentLength: length === undefined ? null : Number(length),
    ...(await readAnswerBody(message, message.headers['content-encoding'] ?? '', maxBytes)),
  }
}
