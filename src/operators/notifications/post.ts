// One POST to a service that takes notifications. It fails in the words of the outbox: later, or never.

import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { ServiceHttp } from '../../tools/http/service/service-http.ts'
import { DeliveryFailed } from '../operator.ts'

interface PostRequest {
  url: URL
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array
  /** The address comes from our own settings, so it may lie in a private network. */
  isOurs: boolean
}

interface PostAnswer {
  status: number
  text: string
}

/** Resolves for 2xx and for what `isExpected` names. Throws `DeliveryFailed` for everything else. */
export type Post = (
  request: PostRequest,
  signal: AbortSignal,
  isExpected?: (status: number) => boolean,
) => Promise<PostAnswer>

export function createPost({ http, clock }: { http: ServiceHttp; clock: Pick<Clock, 'now'> }): Post {
  return async ({ url, headers, body, isOurs }, signal, isExpected = () => false) => {
    const request = { method: 'POST', url, headers, body, allowPrivate: isOurs, followRedirects: false }
    const answer = await http.send(request, signal).catch((error: unknown) => {
      throw unsent(error, url)
    })
    const { status, retryAfter } = answer
    if ((status >= 200 && status < 300) || isExpected(status)) return { status, text: answer.body.toString() }
    throw new DeliveryFailed(`${url.host} answered ${status}.${hint(status)}`, {
      retryAfterMs: retryAfter === null ? 0 : retryAfterMs(retryAfter, clock.now()),
    })
  }
}

function unsent(error: unknown, { host }: URL): DeliveryFailed {
  const reason = error instanceof ServerError ? error.details.reason : null
  if (reason === 'private_address') {
    return new DeliveryFailed(`${host} is in a private network, so nothing is sent there.`, {
      giveUp: true,
      cause: error,
    })
  }
  const why = reason === 'took_too_long' ? 'took too long to answer' : 'could not be reached'
  return new DeliveryFailed(`${host} ${why}.`, { cause: error })
}

function hint(status: number): string {
  if (status === 401 || status === 403) return ' Check the credential.'
  if (status >= 300 && status < 400) return ' It redirects: set the address that it redirects to.'
  return ''
}

/** A service may fail once in a while. After so many failures in a row something is wrong. */
const TROUBLE_AFTER = 3

/** Looks how sending to a service goes, under the name of its channel. */
export function createTroubleWatch(channel: string) {
  let failures = 0
  let last = ''
  return {
    async watched<T>(work: Promise<T>): Promise<T> {
      try {
        const result = await work
        failures = 0
        return result
      } catch (error) {
        failures += 1
        last = error instanceof DeliveryFailed ? error.message : 'The last messages could not be sent.'
        throw error
      }
    },
    /** Why nobody is reached; null: it works. `isOver`: after one failure already. */
    trouble: (isOver = false): string | null => (isOver || failures >= TROUBLE_AFTER ? `${channel}: ${last}` : null),
  }
}

/** `Retry-After` is a number of seconds or a date. 0 for anything else. */
export function retryAfterMs(text: string, now: number): number {
  if (/^\s*\d{1,9}\s*$/.test(text)) return Number(text) * 1_000
  // `Date.parse` finds a date in almost everything.
  const at = /GMT\s*$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? 0 : Math.max(at - now, 0)
}
