// What Slack tells of people, in our words. Everything in a payload may be missing, huge or of another type: what cannot be read is null.

import { isRecord } from '../../../domain/is-record.ts'
import { ACTION_ID_PREFIX } from '../cards/card-actions.ts'

/** Who did something, and where. */
export interface Sender {
  /** Slack's id of the person. */
  user: string
  /** Every workspace that the payload names for the person and the place. Null: it names none where it has to. */
  teams: readonly (string | null)[]
  room: string
}

/** Somebody pressed a button. */
export interface Press {
  from: Sender
  /** The same press has the same key, also when Slack tells of it again. */
  key: string
  actionId: string
  value: string
  /** The message at the top of the thread; null: nobody can reply to the message. */
  thread: string | null
  /** Only this person sees the message with the button. */
  isPrivate: boolean
  responseUrl: string | null
}

/** Somebody wrote a reply in a thread. */
export interface Reply {
  from: Sender
  key: string
  ts: string
  thread: string
  /** In Slack's markup. */
  text: string
  files: readonly SentFile[]
}

export interface SentFile {
  size: number
  /** Null: it is not kept by Slack, so our token must not be sent there. */
  url: string | null
}

/** Somebody typed a slash command. */
export interface Typed {
  from: Sender
  key: string
  text: string
  responseUrl: string
}

const MOST_TEXT = 40_000
const MOST_VALUE = 2_000
const MOST_URL = 2_000
const MOST_FILES = 20

export function readPress(payload: unknown): Press | null {
  if (!isRecord(payload) || payload.type !== 'block_actions' || !Array.isArray(payload.actions)) return null
  const action: unknown = payload.actions[0]
  const container = recordOf(payload.container)
  const user = recordOf(payload.user)
  const from = senderOf(user.id, recordOf(payload.channel).id ?? container.channel_id, [
    idOf(user.team_id),
    ...named(recordOf(payload.team).id),
  ])
  if (from === null || !isRecord(action)) return null
  const actionId = textOf(action.action_id, 255)
  const value = textOf(action.value, MOST_VALUE)
  if (actionId === null || value === null || !actionId.startsWith(ACTION_ID_PREFIX)) return null
  const isPrivate = container.is_ephemeral === true
  const thread = tsOf(container.thread_ts) ?? tsOf(recordOf(payload.message).thread_ts)
  return {
    from,
    key: `press ${from.user} ${tsOf(action.action_ts) ?? ''} ${tsOf(container.message_ts) ?? ''} ${actionId}`,
    actionId,
    value,
    thread: isPrivate ? thread : (thread ?? tsOf(container.message_ts)),
    isPrivate,
    responseUrl: textOf(payload.response_url, MOST_URL),
  }
}

/** What people write may come with a file or be shown in the room too. Everything else is not theirs, or not new: edits, joins, echoes. */
const WRITTEN: readonly unknown[] = [undefined, 'file_share', 'thread_broadcast']

/** Null also for what nobody wrote just now, and for what stands in no thread. */
export function readReply(event: unknown, { teamId }: { teamId: string | null }): Reply | null {
  if (!isRecord(event) || event.type !== 'message' || !WRITTEN.includes(event.subtype)) return null
  if (event.bot_id !== undefined || event.bot_profile !== undefined || event.hidden === true) return null
  // An edit is told as another kind of event. A message that carries one all the same is not what the person wrote first.
  if (event.edited !== undefined) return null
  const teams = [teamId, ...named(event.team), ...named(event.user_team), ...named(event.source_team)]
  const from = senderOf(event.user, event.channel, teams)
  const ts = tsOf(event.ts)
  const thread = tsOf(event.thread_ts)
  if (from === null || ts === null || thread === null || thread === ts) return null
  const files = Array.isArray(event.files) ? event.files.slice(0, MOST_FILES).map(fileOf) : []
  return { from, key: `reply ${from.room} ${ts}`, ts, thread, text: textOf(event.text, MOST_TEXT) ?? '', files }
}

export function readCommand(payload: unknown): Typed | null {
  if (!isRecord(payload)) return null
  const from = senderOf(payload.user_id, payload.channel_id, [idOf(payload.team_id)])
  const responseUrl = textOf(payload.response_url, MOST_URL)
  if (from === null || responseUrl === null) return null
  const key = `command ${textOf(payload.trigger_id, 255) ?? responseUrl}`
  return { from, key, text: textOf(payload.text, MOST_TEXT) ?? '', responseUrl }
}

function fileOf(file: unknown): SentFile {
  const { size, url_private_download, url_private, is_external, mode, file_access } = recordOf(file)
  const isKept = is_external !== true && (mode === 'hosted' || mode === 'snippet') && file_access !== 'check_file_info'
  return {
    size: typeof size === 'number' ? size : 0,
    url: isKept ? (textOf(url_private_download, MOST_URL) ?? textOf(url_private, MOST_URL)) : null,
  }
}

function senderOf(user: unknown, room: unknown, teams: Sender['teams']): Sender | null {
  const [userId, roomId] = [idOf(user), idOf(room)]
  return userId === null || roomId === null ? null : { user: userId, room: roomId, teams }
}

/** The Slack workspace that a payload names, if any. What is not an id becomes null, which `Guard.check` never takes for ours. */
const named = (id: unknown): (string | null)[] => (id === undefined || id === null ? [] : [idOf(id)])

const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {})
const textOf = (value: unknown, most: number): string | null =>
  typeof value === 'string' && value.length <= most ? value : null
const idOf = (value: unknown): string | null =>
  typeof value === 'string' && /^[A-Z0-9]{2,32}$/.test(value) ? value : null
const tsOf = (value: unknown): string | null =>
  typeof value === 'string' && /^\d{1,12}\.\d{1,9}$/.test(value) ? value : null

// What people type, back from Slack's markup. Slack escapes three characters and puts links, people and rooms into angle brackets.
// Everything else stays as it was typed, curly quotes too.

const ESCAPES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' }

/** `nameOf`: how a person is called here; null: nobody knows. */
export function plainText(text: string, nameOf: (user: string) => string | null = () => null): string {
  return text.replaceAll(/<([^<>\n]+)>|&(?:amp|lt|gt);/g, (found, inner: string | undefined) =>
    inner === undefined ? (ESCAPES[found] ?? found) : unescaped(markup(inner, nameOf) ?? found),
  )
}

const unescaped = (text: string): string => text.replaceAll(/&(?:amp|lt|gt);/g, (found) => ESCAPES[found] ?? found)

/** Null: the brackets are not markup. */
function markup(inner: string, nameOf: (user: string) => string | null): string | null {
  const bar = inner.indexOf('|')
  const [target, label] = bar === -1 ? [inner, ''] : [inner.slice(0, bar), inner.slice(bar + 1)]
  if (/^@[UW][A-Z0-9]+$/.test(target)) return `@${nameOf(target.slice(1)) ?? (label || target.slice(1))}`
  if (/^#[CG][A-Z0-9]+$/.test(target)) return `#${label || target.slice(1)}`
  // Groups, `@channel`, and dates, whose label is the date.
  if (/^![a-z]+/.test(target)) return label || `@${target.slice(1)}`
  return /^(?:https?|ftp|mailto|tel|sms|slack):/i.test(target) ? linkText(target, label) : null
}

function linkText(url: string, label: string): string {
  if (label === '' || label === url) return url.replace(/^(?:mailto|tel):/i, '')
  // Slack makes links of names such as README.md and of addresses that somebody typed without their scheme.
  const typed = url.replace(/^(?:https?:\/\/|mailto:|tel:)/i, '')
  return typed === label || typed === `${label}/` ? label : `${label} (${url})`
}
