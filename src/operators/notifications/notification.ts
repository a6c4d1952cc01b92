// What a phone shows about something that waits: which agent, what kind of question, which tool, which risk. Never arguments, and
// nothing that an agent wrote: a notification goes through the servers of others and lies on a locked screen. The link leads to the rest.

import type { Risk } from '../../domain/agent/tool-settings.ts'
import {
  isOfCodingAgent,
  isWaiting,
  NOBODY_WAITS,
  nobodyWaitsSince,
  type PersonRecord,
} from '../../domain/records/record.ts'
import type { FeedItem } from '../../domain/session/feed.ts'
import type { Delivery } from '../../domain/supervision/delivery.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import { sha256 } from '../../json/digest.ts'
import { describeInShort } from '../../supervision/records/describe-record.ts'
import type { RecordOutcome, RecordView } from '../../supervision/records/record-view.ts'
import type { ConsoleLink } from '../console-link.ts'
import type { RecordLookup } from '../operator.ts'

export interface Notification {
  /** The same for all notifications about one record: a later one replaces an earlier one. */
  key: string
  title: string
  /** Never empty. */
  body: string
  risk: Risk | null
  /** Something is new and waits. Otherwise it only brings up to date what is shown, and disturbs nobody. */
  isNews: boolean
  /** Page of the console. */
  link: string
}

const MOST_NAME_CHARS = 80
/** Lines of a digest. */
const MOST_LINES = 10
/** A push service takes 4,096 bytes for everything, and ntfy makes a longer message an attachment. */
const MOST_BODY_BYTES = 1_500

/** `reader` is told whose agent it is if it is not theirs. */
export function notificationOf(
  wait: PersonRecord,
  { reader, link }: { reader: string; link: ConsoleLink },
): Notification {
  const view = describeInShort(wait)
  const isLeft = nobodyWaitsSince(wait) !== null
  const owner = isOfCodingAgent(wait) && wait.owner !== reader ? ` of ${nameOf(wait.owner)}` : ''
  return {
    key: wait.id,
    title: `${nameOf(view.agent)}${owner} ${view.asks}`,
    body: view.outcome === null ? openText(view, isLeft) : outcomeText(view.outcome),
    risk: view.risk?.level ?? null,
    isNews: isNews(wait) && !isLeft,
    link: link(wait.id),
  }
}

function openText({ brief, risk }: RecordView, isLeft: boolean): string {
  const asked = risk === null ? nameOf(brief) : `${nameOf(brief)}, risk ${risk.level}.`
  return isLeft ? `${asked} ${NOBODY_WAITS}` : asked
}

/** What it means only where nobody decided: then the words are ours. */
const outcomeText = ({ word, by, more }: RecordOutcome): string =>
  by === null ? `${word}. ${more}`.trim() : `${word} by ${nameOf(by)}.`

type SessionItem = Extract<FeedItem, { kind: 'session' }>

/** Agents that begin and end, for those who want to hear of it. */
export const sessionNotification = (
  { sessionId, agent, owner, status }: SessionItem,
  link: ConsoleLink,
): Notification => ({
  key: sessionId,
  title: `${nameOf(agent)} ${sessionVerb[status]}`,
  body: `A session of ${nameOf(owner)}.`,
  risk: null,
  isNews: true,
  link: link(null),
})

const sessionVerb: Record<SessionItem['status'], string> = {
  created: 'was started',
  active: 'is at work',
  paused: 'is paused',
  interrupted: 'was interrupted',
  terminated: 'has ended',
}

/** One notification in place of several. */
export function digestOf(
  notifications: readonly Notification[],
  { n, link }: { n: number; link: ConsoleLink },
): Notification {
  const lines = notifications.slice(0, MOST_LINES).map(({ title, body }) => `${title}: ${body}`)
  const more = notifications.length - lines.length
  const risks = notifications.map(({ risk }) => risk)
  return {
    key: `digest-${n}`,
    title: `${notifications.length} messages`,
    body: cut([...lines, ...(more > 0 ? [`and ${more} more`] : [])]),
    risk: (['critical', 'high', 'low'] as const).find((risk) => risks.includes(risk)) ?? null,
    isNews: true,
    link: link(null),
  }
}

/** For items that a channel could not show one by one. */
export const summaryOf = (count: number, { n, link }: { n: number; link: ConsoleLink }): Notification => ({
  key: `summary-${n}`,
  title: 'More has happened',
  body: `${count} ${count === 1 ? 'change was' : 'changes were'} not shown here. Open the inbox to see what waits.`,
  risk: null,
  isNews: true,
  link: link(null),
})

/** Whether a record in this state is worth a sound: it is new, or nobody reacted. */
export const isNews = ({ status }: { status: string }): boolean => status === 'pending' || status === 'escalated'

/** Names come from agents and settings. A long or invisible one must not push the rest out of sight. */
function nameOf(text: string): string {
  const shown = visibleText(text.slice(0, MOST_NAME_CHARS).toWellFormed())
  const isCut = text.length > MOST_NAME_CHARS || shown.length > MOST_NAME_CHARS
  return isCut ? `${shown.slice(0, MOST_NAME_CHARS).toWellFormed()}…` : shown
}

/** As many of the lines as fit. */
function cut(lines: readonly string[]): string {
  const kept = lines.filter((_, index) => Buffer.byteLength(lines.slice(0, index + 1).join('\n')) <= MOST_BODY_BYTES)
  return kept.length === lines.length ? lines.join('\n') : `${kept.join('\n')}\n…`
}

// What a delivery has to show now. The record may have changed since the item was made, so only its present state counts.

interface Reader {
  /** Name of the channel, under which it is noted what was shown. */
  channel: string
  /** Name of the operator. */
  person: string
  find: RecordLookup['find']
  link: ConsoleLink
}

export interface CurrentNotification {
  notification: Notification
  /** Null: it is about no record. */
  record: PersonRecord | null
  /** What the channel noted when it showed the record before; null: it has not. */
  ref: string | null
  /** Stands for the text. A channel ends its note with it, so that the same text is not shown again. */
  mark: string
}

/** Null: nothing is to be shown. It is over and was never shown, or it is shown already as it is. */
export async function currentNotification(
  { n, item, count }: Delivery,
  { channel, person, find, link }: Reader,
): Promise<CurrentNotification | null> {
  if (item === null) return current(summaryOf(count, { n, link }), null, null)
  if (item.kind === 'session') return current(sessionNotification(item, link), null, null)
  const wait = await find(item)
  if (wait === null) return null
  const ref = wait.messageRefs[channel] ?? null
  if (ref === null && !isWaiting(wait)) return null
  const found = current(notificationOf(wait, { reader: person, link }), ref, wait)
  return ref?.endsWith(found.mark) === true ? null : found
}

const current = (notification: Notification, ref: string | null, record: PersonRecord | null): CurrentNotification => ({
  notification,
  record,
  ref,
  mark: sha256(JSON.stringify([notification.title, notification.body])).slice(0, 16),
})
