// Calls of Slack's Web API, over Slack's own client. Each is made once; its failure is in our words, and the health learns of it.

import { LogLevel, type Logger as SlackLogger, WebClient, type WebClientOptions } from '@slack/web-api'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { failureOf, SlackFailure, teamTrouble } from './slack-failure.ts'
import type { SlackHealth } from './slack-health.ts'

export interface SlackSelf {
  teamId: string
  botUserId: string
  botId: string | null
  /** What the bot's token may do. */
  scopes: readonly string[]
}

export interface CallerDeps {
  /** With a slash at the end. */
  apiUrl: string
  botToken: string
  /** Null: whichever the token is for. */
  teamId: string | null
  fetch: typeof fetch
  health: SlackHealth
  clock: Clock
  libraryLogger: SlackLogger
}

export type SlackAnswer = Awaited<ReturnType<WebClient['apiCall']>> & Record<string, unknown>

export const CALL_MS = 10_000

/** The options of both clients: waiting and trying again is done elsewhere. */
export const clientOptions = (apiUrl: string, fetchOver: typeof fetch): WebClientOptions => ({
  slackApiUrl: apiUrl,
  retryConfig: { retries: 0 },
  rejectRateLimitedCalls: true,
  timeout: CALL_MS,
  allowAbsoluteUrls: false,
  // The library's type describes less than the standard.
  fetch: (url, init) => fetchOver(url, init as RequestInit),
})

/** What the library has to say goes to our log, without tokens and addresses. Its debug lines have the bodies of messages. */
export function createLibraryLogger(logger: Logger, level: 'warn' | 'debug'): SlackLogger {
  const tell = (...said: unknown[]): void => {
    const text = said
      .map(String)
      .join(' ')
      .replaceAll(/xox[\w.-]+|xapp[\w.-]+|(ticket|token)=[^\s&]+/gi, '***')
    logger[level](`Slack's client: ${text.slice(0, 300)}`)
  }
  return { debug() {}, info() {}, warn: tell, error: tell, setLevel() {}, getLevel: () => LogLevel.WARN, setName() {} }
}

export function createSlackCaller(deps: CallerDeps) {
  const { apiUrl, botToken, health, clock } = deps
  const web = new WebClient(botToken, { ...clientOptions(apiUrl, deps.fetch), logger: deps.libraryLogger })
  /** Slack asked to leave these calls alone for a while: monotonic ms. */
  const blocked = new Map<string, number>()
  let self: Promise<SlackSelf> | null = null

  /** Slack counts messages by room, and other calls by method. */
  const laneOf = (method: string, room: string | null) => (method === 'chat.postMessage' ? `${method} ${room}` : method)

  /** Throws `SlackFailure` while Slack wants to be left alone with this call. */
  function refuseBlocked(method: string, room: string | null): void {
    const left = (blocked.get(laneOf(method, room)) ?? 0) - clock.mono()
    if (left <= 0) return
    const message = `Slack asked to wait before ${method}.`
    throw new SlackFailure(method, 'ratelimited', { message, retryAfterMs: left })
  }

  /** Every call goes through here: it is counted for the health, and its failure is in our words. */
  async function call<T>(method: string, room: string | null, work: () => Promise<T>): Promise<T> {
    const lane = laneOf(method, room)
    refuseBlocked(method, room)
    try {
      const result = await work()
      blocked.delete(lane)
      health.worked(method, room)
      return result
    } catch (thrown) {
      // A limit of ours.
      if (thrown instanceof ServerError) throw thrown
      const failure = failureOf(method, thrown)
      if (failure.retryAfterMs > 0) blocked.set(lane, clock.mono() + failure.retryAfterMs)
      health.failed(failure, room)
      throw failure
    }
  }

  /** Throws `SlackFailure`. */
  const ask = (method: string, room: string | null, args: Record<string, unknown>): Promise<SlackAnswer> =>
    call(method, room, async () => ({ ...(await web.apiCall(method, args)) }))

  async function askSelf(): Promise<SlackSelf> {
    const found = await ask('auth.test', null, {})
    const teamId = textOf(found.team_id) ?? ''
    const botName = textOf(found.user)
    const trouble = deps.teamId === null || deps.teamId === teamId ? null : teamTrouble(deps.teamId, teamId)
    health.self(botName, trouble)
    if (trouble !== null) throw new SlackFailure('auth.test', 'wrong_team', { message: trouble })
    const scopes = found.response_metadata?.scopes ?? []
    return { teamId, botUserId: textOf(found.user_id) ?? '', botId: textOf(found.bot_id), scopes }
  }

  function whoAmI(): Promise<SlackSelf> {
    if (self !== null) return self
    const asking = askSelf()
    self = asking
    asking.catch(() => {
      if (self === asking) self = null
    })
    return asking
  }

  return {
    ask,
    call,
    refuseBlocked,
    /** Asks Slack once; afterwards it is known. Throws `SlackFailure`, also when the token is for another workspace. */
    self: whoAmI,
    /** The next `self` asks again. */
    forgetSelf(): void {
      self = null
    },
  }
}

export type SlackCaller = ReturnType<typeof createSlackCaller>

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
