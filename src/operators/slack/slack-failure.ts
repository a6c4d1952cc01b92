// What goes wrong between Slack and us: what to do about it, and how a person mends it.

import type { ErrorCode } from '@slack/web-api'
import { isRecord } from '../../domain/is-record.ts'
import { DeliveryFailed } from '../operator.ts'

/** A call of Slack's API did not work. */
export class SlackFailure extends DeliveryFailed {
  readonly method: string
  /** Slack's name for it, such as `is_archived`; null: there was no answer, or it was not Slack's. */
  readonly error: string | null
  /** The scope that the token lacks; null: it does not lack one. */
  readonly neededScope: string | null
  /** Slack may have done it all the same. */
  readonly isUnclear: boolean

  constructor(
    method: string,
    error: string | null,
    how: { message?: string; retryAfterMs?: number; neededScope?: string; isUnclear?: boolean; cause?: unknown } = {},
  ) {
    super(how.message ?? `Slack refused ${method}: ${error}.`, how)
    this.name = 'SlackFailure'
    this.method = method
    this.error = error
    this.neededScope = how.neededScope ?? null
    this.isUnclear = how.isUnclear ?? false
  }
}

/** Slack failed half-way and says so itself. */
const UNCLEAR: ReadonlySet<string> = new Set([
  'fatal_error',
  'internal_error',
  'request_timeout',
  'service_unavailable',
])
const DEFAULT_RETRY_MS = 5_000

/** What the client library throws, in our words. */
export function failureOf(method: string, thrown: unknown): SlackFailure {
  if (thrown instanceof SlackFailure) return thrown
  const error: Record<string, unknown> = isRecord(thrown) ? thrown : {}
  const code = error.code as ErrorCode | undefined
  if (code === 'slack_webapi_rate_limited_error') return tooFast(method, Number(error.retryAfter) * 1_000)
  if (code === 'slack_webapi_platform_error' && isRecord(error.data)) {
    const { error: name, needed, response_metadata: more } = error.data
    // An answer that is not JSON stands here whole, such as the page of a proxy.
    if (typeof name !== 'string' || !/^\w{1,80}$/.test(name)) return noAnswer(method, 'with something else than JSON')
    const seconds = isRecord(more) ? Number(more.retryAfter) : 0
    if (kinds.get(name) === 'rate') return tooFast(method, seconds * 1_000)
    return new SlackFailure(method, name, {
      isUnclear: UNCLEAR.has(name),
      ...(typeof needed === 'string' ? { neededScope: needed } : {}),
    })
  }
  if (code === 'slack_webapi_http_error') return noAnswer(method, `with HTTP status ${error.statusCode}`)
  return noAnswer(method, null, thrown)
}

const tooFast = (method: string, ms: number): SlackFailure => {
  const retryAfterMs = ms > 0 ? ms : DEFAULT_RETRY_MS
  const message = `Slack asks to wait ${Math.ceil(retryAfterMs / 1_000)} s before ${method}.`
  return new SlackFailure(method, 'ratelimited', { message, retryAfterMs })
}

const noAnswer = (method: string, how: string | null, cause?: unknown): SlackFailure =>
  new SlackFailure(method, null, {
    message: how === null ? `Slack did not answer ${method}.` : `Slack answered ${method} ${how}.`,
    isUnclear: true,
    ...(cause === undefined ? {} : { cause }),
  })

/** Slack's names for what went wrong, by what is to be done about it. */
const errorsOf = {
  rate: 'ratelimited rate_limited message_limit_exceeded',
  /** The token of the bot, or the whole app, is not accepted any more. */
  token:
    'invalid_auth not_authed token_revoked token_expired account_inactive not_allowed_token_type org_login_required ' +
    'access_denied team_access_not_granted wrong_team',
  scope: 'missing_scope',
  room: 'channel_not_found not_in_channel is_archived is_inactive',
  /** The message, or the thread that it belongs to, was deleted. */
  gone: 'message_not_found thread_not_found cannot_reply_to_message',
  unchangeable: 'cant_update_message edit_window_closed',
  /** Slack does not like what we sent. It will not like it later either. */
  content:
    'attachment_payload_limit_exceeded block_mismatch invalid_arguments invalid_attachments invalid_blocks ' +
    'invalid_blocks_format invalid_metadata_format invalid_metadata_schema metadata_too_large msg_blocks_too_long ' +
    'msg_too_long no_text',
}
export type FailureKind = keyof typeof errorsOf | 'no_answer' | 'other'

const kinds: ReadonlyMap<string, FailureKind> = new Map(
  (Object.keys(errorsOf) as (keyof typeof errorsOf)[]).flatMap((kind) =>
    errorsOf[kind].split(' ').map((error) => [error, kind] as const),
  ),
)

export function kindOf({ error, isUnclear }: Pick<SlackFailure, 'error' | 'isUnclear'>): FailureKind {
  if (error === null || isUnclear) return 'no_answer'
  return error.startsWith('restricted_action') ? 'room' : (kinds.get(error) ?? 'other')
}

const OAUTH_PAGE = 'OAuth & Permissions of the app at api.slack.com/apps'
const setToken = (name: string): string => `run “quarterdeck ctl credential set ${name}”, and restart the server`

/** Why the bot token does not work, and how to mend it. */
export function tokenTrouble(error: string): string {
  switch (error) {
    case 'token_revoked':
    case 'token_expired':
    case 'account_inactive':
      return `The bot token of Slack is no longer valid (${error}). Install the app again under ${OAUTH_PAGE}, ${setToken('slack_bot_token')}.`
    default:
      return `Slack does not accept the bot token (${error}). Copy the one that begins with xoxb- from ${OAUTH_PAGE}, ${setToken('slack_bot_token')}.`
  }
}

export const appTokenTrouble = (error: string): string =>
  `Slack does not accept the app token (${error}). Make an app-level token with the scope connections:write under Basic Information of the app at api.slack.com/apps, ${setToken('slack_app_token')}.`

export const scopeTrouble = (scopes: string): string =>
  `The Slack app lacks the scope ${scopes}. Add it under ${OAUTH_PAGE}, and install the app again.`

export function roomTrouble(room: string, error: string, botName: string | null): string {
  const invite = `write “/invite @${botName ?? 'quarterdeck'}” there`
  switch (error) {
    case 'is_archived':
    case 'is_inactive':
      return `The Slack channel ${room} is archived. Unarchive it, or set another one as slack.channel_id or in slack.channels.`
    case 'not_in_channel':
      return `The bot is not in the Slack channel ${room}. To let it in, ${invite}.`
    case 'channel_not_found':
      return `Slack has no channel ${room} that the bot can see. Check slack.channel_id and slack.channels. If the channel is private, ${invite}.`
    default:
      return `Slack takes no messages for the channel ${room} (${error}). Look who may post there, or set another channel.`
  }
}

export const teamTrouble = (expected: string, found: string): string =>
  `The bot token belongs to the Slack workspace ${found}, but slack_team_id says ${expected}. Nothing is posted. Set the right one, ${setToken('slack_team_id')}.`
