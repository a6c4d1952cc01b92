import { serviceFailure } from './service-failure.ts'
import type { ServiceRequest } from './service-http.ts'

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export const isRedirect = (status: number): boolean => REDIRECTS.has(status)

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
