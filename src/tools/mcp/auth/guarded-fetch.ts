import type { FetchLike } from '@modelcontextprotocol/client'
import { abortAfter } from '../../../domain/abort.ts'
import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { ServiceHttp } from '../../http/service/service-http.ts'

const ANSWER_MS = 15_000

export interface GuardedFetchDeps {
  http: ServiceHttp
  clock: Clock
  version: string
}

/**
 * A fetch for addresses that an MCP server names: each is checked before the connection, answers are short, and a redirect gets no body.
 * `server` is the address of the settings, and the only origin that may be private without `allowPrivate`.
 */
export function createGuardedFetch(
  { http, clock, version }: GuardedFetchDeps,
  server: string,
  allowPrivate: boolean,
): FetchLike {
  const own = new URL(server).origin
  return async (address, init = {}) => {
    const url = new URL(address)
    if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refused(`${url.protocol} is no address to ask`)
    const method = init.method ?? 'GET'
    const headers = { 'user-agent': `quarterdeck/${version}`, ...Object.fromEntries(new Headers(init.headers)) }
    const body = init.body === undefined || init.body === null ? null : String(init.body)
    using late = abortAfter(clock, ANSWER_MS, { hold: true })
    const answer = await http.send(
      {
        method,
        url,
        headers,
        body,
        allowPrivate: allowPrivate || url.origin === own,
        followRedirects: method === 'GET' && (allowPrivate || url.origin !== own),
      },
      late.signal,
    )
    if (answer.isCut) throw refused(`${url.origin} sent too much`)
    return new Response(noBody.has(answer.status) ? null : new Uint8Array(answer.body), {
      status: answer.status,
      headers: { 'content-type': answer.contentType },
    })
  }
}

const noBody: ReadonlySet<number> = new Set([204, 205, 304])

const refused = (why: string): ServerError => new ServerError('tool_failed', `The sign-in was stopped: ${why}.`)
