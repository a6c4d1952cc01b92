// What stands before every method of the stand-in's Web API: tokens, scopes, limits of rate, and failures on request.

import type { Clock } from '../../../domain/clock.ts'
import { type ApiArguments, type ApiMethod, SlackRefusal } from './api-methods.ts'

/**
 * How a call fails: with an error of Slack, with an HTTP status, or on the way. `lost_request` breaks the connection before anything
 * happens, `lost_answer` after the method has done its work, and `no_answer` keeps the caller waiting.
 */
export type Failure = { error: string } | { status: number } | { broken: 'lost_request' | 'lost_answer' | 'no_answer' }

export interface ApiAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/** One call of a method, as it came. */
export interface ApiRequest {
  method: string
  args: ApiArguments
  /** What it was refused with; null if it worked. */
  error: string | null
  /** Epoch milliseconds. */
  at: number
}

export type TokenState = 'valid' | 'invalid_auth' | 'token_revoked' | 'account_inactive'

export interface WebApi {
  readonly requests: readonly ApiRequest[]
  scopes: readonly string[]
  readonly tokens: { bot: TokenState; app: TokenState }
  /** Whether Slack's limits of rate are kept. */
  isRateLimited: boolean
  failNext(method: string, failure: Failure, times: number): void
  /** Every call is answered with 429 for so long. */
  storm(seconds: number): void
  /** Null: the connection breaks. Never resolves when the failure says so. */
  call(method: string, args: ApiArguments, token: string | null): Promise<ApiAnswer | null>
}

interface WebApiDeps {
  clock: Clock
  methods: Record<string, ApiMethod>
  botToken: string
  appToken: string
  scopes: readonly string[]
}

/** Calls a minute, by Slack's tiers. They may come at once. */
const PER_MINUTE: Record<string, number> = {
  'apps.connections.open': 20,
  'auth.test': 100,
  'chat.postEphemeral': 100,
  'chat.update': 50,
  'conversations.history': 50,
  'conversations.info': 50,
  'conversations.replies': 50,
  'files.completeUploadExternal': 100,
  'files.getUploadURLExternal': 100,
  'files.info': 100,
  'users.info': 100,
}
/** Of messages: one a second and channel, and a few more at once. */
const POST_BURST = 4

export function createWebApi({ clock, methods, botToken, appToken, scopes }: WebApiDeps): WebApi {
  const requests: ApiRequest[] = []
  const failures: { method: string; failure: Failure; left: number }[] = []
  const buckets = new Map<string, { level: number; at: number }>()
  let stormEnds = 0

  /** Seconds until the bucket has room; 0 takes one from it. */
  function take(name: string, size: number, perSecond: number): number {
    const bucket = buckets.get(name) ?? { level: size, at: clock.mono() }
    const level = Math.min(size, bucket.level + ((clock.mono() - bucket.at) / 1_000) * perSecond)
    const hasRoom = level >= 1
    buckets.set(name, { level: hasRoom ? level - 1 : level, at: clock.mono() })
    return hasRoom ? 0 : Math.ceil((1 - level) / perSecond)
  }

  function secondsToWait(method: string, { channel = '' }: ApiArguments): number {
    const storm = Math.ceil((stormEnds - clock.mono()) / 1_000)
    if (storm > 0) return storm
    if (!api.isRateLimited) return 0
    if (method === 'chat.postMessage') return take(`${method} ${channel}`, POST_BURST, 1)
    const perMinute = PER_MINUTE[method]
    return perMinute === undefined ? 0 : take(method, perMinute, perMinute / 60)
  }

  function checkToken(method: ApiMethod, token: string | null): void {
    if (token === null || token === '') throw new SlackRefusal('not_authed')
    if (token !== botToken && token !== appToken) throw new SlackRefusal('invalid_auth')
    const state = api.tokens[token === botToken ? 'bot' : 'app']
    if (state !== 'valid') throw new SlackRefusal(state)
    if ((method.forApp === true) !== (token === appToken)) throw new SlackRefusal('not_allowed_token_type')
    const { scope } = method
    if (scope === null || api.scopes.includes(scope)) return
    throw new SlackRefusal('missing_scope', { needed: scope, provided: api.scopes.join(',') })
  }

  function failureOf(method: string): Failure | null {
    const found = failures.find((failure) => failure.method === method && failure.left > 0)
    if (found === undefined) return null
    found.left -= 1
    return found.failure
  }

  function answer(method: string, args: ApiArguments, token: string | null, failure: Failure | null): ApiAnswer {
    const headers = { 'content-type': 'application/json; charset=utf-8', 'x-oauth-scopes': api.scopes.join(',') }
    const note = (error: string | null) => void requests.push({ method, args, error, at: clock.now() })
    const wait = secondsToWait(method, args)
    if (wait > 0) {
      note('ratelimited')
      const limited = { ...headers, 'retry-after': String(wait) }
      return { status: 429, headers: limited, body: JSON.stringify({ ok: false, error: 'ratelimited' }) }
    }
    if (failure !== null && 'status' in failure) {
      note(`http_${failure.status}`)
      return { status: failure.status, headers: { 'content-type': 'text/html' }, body: '<html>Server Error</html>' }
    }
    try {
      if (failure !== null && 'error' in failure) throw new SlackRefusal(failure.error)
      const known = Object.hasOwn(methods, method) ? methods[method] : undefined
      if (known === undefined) throw new SlackRefusal('unknown_method', { req_method: method })
      checkToken(known, token)
      const result = known.call(args)
      note(null)
      return { status: 200, headers, body: JSON.stringify({ ok: true, ...result }) }
    } catch (error) {
      if (!(error instanceof SlackRefusal)) throw error
      note(error.error)
      return { status: 200, headers, body: JSON.stringify({ ok: false, error: error.error, ...error.extra }) }
    }
  }

  const api: WebApi = {
    requests,
    scopes,
    tokens: { bot: 'valid', app: 'valid' },
    isRateLimited: false,
    failNext: (method, failure, times) => void failures.push({ method, failure, left: times }),
    storm(seconds) {
      stormEnds = clock.mono() + seconds * 1_000
    },
    async call(method, args, token) {
      const failure = failureOf(method)
      const broken = failure !== null && 'broken' in failure ? failure.broken : null
      if (broken === 'lost_request') return null
      if (broken === 'no_answer') return await new Promise<never>(() => {})
      const answered = answer(method, args, token, failure)
      return broken === 'lost_answer' ? null : answered
    },
  }
  return api
}
