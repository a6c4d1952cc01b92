// Sends one request to a service outside. Checks the address before it connects, follows redirects with care, and limits the
// answer. It knows nothing about tools.

import { Buffer } from 'node:buffer'
import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { Readable, Transform } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { untilAborted } from '../../../domain/abort.ts'
import { systemErrorCode } from '../../../domain/system-error-code.ts'
import type { ConnectionPool, Connections } from '../../../outgoing/connections.ts'
import { isPublicAddress } from './safe-address.ts'
import { serviceFailure } from './service-failure.ts'

export interface ServiceRequest {
  method: string
  /** An http or https URL without a user or password. */
  url: URL
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array | null
  /** Whether addresses that are not public may be called too. */
  allowPrivate: boolean
  /** False: a redirect is the answer, and not followed. */
  followRedirects?: boolean
}

export interface ServiceAnswer extends AnswerBody {
  status: number
  /** In lower case. Empty when the service names none. */
  contentType: string
  /** What the service says. Null when it does not say. */
  contentLength: number | null
  /** The header `Retry-After`. Null when there is none. */
  retryAfter: string | null
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

/** Tests have another one: their only network is this machine. */
export interface Network {
  lookup: Lookup
  isPublic(ip: string): boolean
}

export const systemNetwork: Network = { lookup: systemLookup, isPublic: isPublicAddress }

interface ServiceHttpDeps {
  connections: Connections
  /** For requests that use a proxy. The proxy resolves the name again, and we cannot check what it finds. */
  pool: ConnectionPool
  network: Network
  /** How much of an answer is read. */
  maxBytes: number
}

const MAX_REDIRECTS = 5

export function createServiceHttp(deps: ServiceHttpDeps): ServiceHttp {
  const { connections, pool, network, maxBytes } = deps

  const send = async (request: ServiceRequest, signal: AbortSignal): Promise<ServiceAnswer> => {
    let current = request
    for (let redirects = 0; ; redirects += 1) {
      signal.throwIfAborted()
      const addresses = await addressesOf(current.url, network.lookup, signal)
      if (!current.allowPrivate && !addresses.every(({ address }) => network.isPublic(address)))
        throw serviceFailure('private_address')
      const dispatcher = pool.isProxied(current.url)
        ? (await pool.upstreamFor(current.url)).dispatcher
        : await connections.pinned(current.url, alreadyKnown(addresses), signal)
      const answer = await exchange(dispatcher, current, signal)
      const isFollowed = isRedirect(answer.statusCode) && current.followRedirects !== false
      const location = isFollowed ? answer.headers.location : undefined
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
  /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|EPROTO|ERR_SSL|PRX_TLS/.test(systemErrorCode(error))

async function readAnswer(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<ServiceAnswer> {
  const length = headers['content-length']
  const retryAfter = headers['retry-after']
  return {
    status: statusCode,
    contentType: String(headers['content-type'] ?? '').toLowerCase(),
    contentLength: length === undefined ? null : Number(length),
    retryAfter: retryAfter === undefined ? null : String(retryAfter),
    ...(await readAnswerBody(body, String(headers['content-encoding'] ?? ''), maxBytes)),
  }
}

interface AnswerBody {
  /** Decompressed, and not longer than the limit. */
  body: Buffer
  /** Whether there was more. */
  isCut: boolean
}

/** How much of the answer of a tool's service, or of a channel, is read. */
export const MAX_BODY_BYTES = 1_048_576

/** Reads up to the end or the limit. The limit holds before and after decompression. */
async function readAnswerBody(message: Readable, encoding: string, maxBytes: number): Promise<AnswerBody> {
  const raw = await collect(message, maxBytes).catch((error: unknown) => {
    throw serviceFailure('broke_off', error)
  })
  if (raw.body.length === 0) return raw
  const decoder = decoderFor(encoding.trim().toLowerCase(), raw)
  if (decoder === null) return raw
  decoder.end(raw.body)
  const plain = await collect(decoder, maxBytes).catch((error: unknown) => {
    throw serviceFailure('undecodable', error)
  })
  return { body: plain.body, isCut: raw.isCut || plain.isCut }
}

/** Leaving the loop early destroys the stream and its connection. */
async function collect(stream: Readable, maxBytes: number): Promise<AnswerBody> {
  const chunks: Buffer[] = []
  let left = maxBytes
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk)) continue
    if (chunk.length > left) {
      chunks.push(chunk.subarray(0, left))
      return { body: Buffer.concat(chunks), isCut: true }
    }
    chunks.push(chunk)
    left -= chunk.length
  }
  return { body: Buffer.concat(chunks), isCut: false }
}

function decoderFor(encoding: string, { body, isCut }: AnswerBody): Transform | null {
  // Without this, a body that we cut ourselves would count as damaged.
  const tolerant = isCut ? { finishFlush: constants.Z_SYNC_FLUSH } : {}
  switch (encoding) {
    case '':
    case 'identity':
      return null
    case 'gzip':
    case 'x-gzip':
      return createGunzip(tolerant)
    case 'deflate':
      // `deflate` means zlib's format, but some servers send raw deflate data.
      return ((body[0] ?? 0) & 0x0f) === 8 ? createInflate(tolerant) : createInflateRaw(tolerant)
    case 'br':
      return createBrotliDecompress(isCut ? { finishFlush: constants.BROTLI_OPERATION_FLUSH } : {})
    default:
      throw serviceFailure('undecodable')
  }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const isRedirect = (status: number): boolean => REDIRECTS.has(status)

// Any header of the settings may be a credential. Only these, which cannot be one, are sent to another origin.
const HARMLESS: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-type',
  'idempotency-key',
  'user-agent',
])

/** The request that a redirect asks for. Throws if it is not allowed. The new address is checked when the request is sent. */
export function redirected(request: ServiceRequest, status: number, location: string): ServiceRequest {
  const url = URL.parse(location, request.url.href)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw serviceFailure('bad_redirect')
  if (request.url.protocol === 'https:' && url.protocol === 'http:') throw serviceFailure('bad_redirect')
  url.username = ''
  url.password = ''
  url.hash = ''

  const isPost = request.method === 'POST'
  const becomesGet = (status === 303 && request.method !== 'HEAD') || (isPost && (status === 301 || status === 302))
  const method = becomesGet ? 'GET' : request.method
  const body = becomesGet ? null : request.body
  // A body may hold a key too, and we cannot tell.
  if (body !== null && url.hostname !== request.url.hostname) throw serviceFailure('bad_redirect')

  const headers = Object.entries(request.headers)
    .filter(([name]) => url.origin === request.url.origin || HARMLESS.has(name.toLowerCase()))
    .filter(([name]) => body !== null || name.toLowerCase() !== 'content-type')
  return { ...request, method, url, headers: Object.fromEntries(headers), body }
}
