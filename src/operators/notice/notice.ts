// What a phone shows about something that waits: which agent, what kind of question, which tool, which risk. Never arguments, and
// nothing that an agent wrote: a notification goes through the servers of others and lies on a locked screen. The link leads to the rest.

import type { FeedItem } from '../../domain/feed.ts'
import {
  type Alert,
  type Approval,
  isSupervised,
  isWaiting,
  nobodyWaitsSince,
  type PersonRecord,
  type Prompt,
} from '../../domain/records/record.ts'
import type { Risk } from '../../domain/tool-settings.ts'
import { unreachable } from '../../domain/unreachable.ts'
import { visibleText } from '../../domain/visible-text.ts'
import type { ConsoleLink } from '../console-link.ts'

export interface Notice {
  /** The same for all notices about one record: a later one replaces an earlier one. */
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
export function noticeOf(wait: PersonRecord, { reader, link }: { reader: string; link: ConsoleLink }): Notice {
  const isOpen = isWaiting(wait)
  const isLeft = nobodyWaitsSince(wait) !== null
  const owner = isSupervised(wait) && wait.owner !== reader ? ` of ${nameOf(wait.owner)}` : ''
  return {
    key: wait.id,
    title: `${nameOf(wait.agent)}${owner} ${verbOf(wait)}`,
    body: isOpen ? `${openText(wait)}${isLeft ? ' Nobody waits for the answer now.' : ''}` : outcomeText(wait),
    risk: wait.wait === 'approval' ? wait.risk : null,
    isNews: isNews(wait) && !isLeft,
    link: link(wait.id),
  }
}

type SessionItem = Extract<FeedItem, { kind: 'session' }>

/** Agents that begin and end, for those who want to hear of it. */
export const sessionNotice = ({ sessionId, agent, owner, status }: SessionItem, link: ConsoleLink): Notice => ({
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

/** One notice in place of several. */
export function digestOf(notices: readonly Notice[], { n, link }: { n: number; link: ConsoleLink }): Notice {
  const lines = notices.slice(0, MOST_LINES).map(({ title, body }) => `${title}: ${body}`)
  const more = notices.length - lines.length
  const risks = notices.map(({ risk }) => risk)
  return {
    key: `digest-${n}`,
    title: `${notices.length} messages`,
    body: cut([...lines, ...(more > 0 ? [`and ${more} more`] : [])]),
    risk: (['critical', 'high', 'low'] as const).find((risk) => risks.includes(risk)) ?? null,
    isNews: true,
    link: link(null),
  }
}

/** For items that a channel could not show one by one. */
export const summaryOf = (count: number, { n, link }: { n: number; link: ConsoleLink }): Notice => ({
  key: `summary-${n}`,
  title: 'More has happened',
  body: `${count} ${count === 1 ? 'change was' : 'changes were'} not shown here. Open the inbox to see what waits.`,
  risk: null,
  isNews: true,
  link: link(null),
})

/** Whether a record in this state is worth a sound: it is new, or nobody reacted. */
export const isNews = ({ status }: { status: string }): boolean => status === 'pending' || status === 'escalated'

/** What the agent does, after its name. */
export function verbOf(wait: PersonRecord): string {
  switch (wait.wait) {
    case 'approval':
      return wait.kind === 'question' ? 'asks a question' : 'asks for a yes or no'
    case 'prompt':
      return 'asks what to do'
    case 'standby':
      return 'waits for an instruction'
    case 'alert':
      return wait.status === 'escalated' ? 'is still silent' : 'is silent'
    default:
      return unreachable(wait)
  }
}

function openText(wait: PersonRecord): string {
  switch (wait.wait) {
    case 'approval':
      return `${subjectOf(wait)}, risk ${wait.risk}.`
    case 'prompt':
      return promptText(wait)
    case 'standby':
      return 'It stands by until you tell it what to do.'
    case 'alert':
      return alertText(wait)
    default:
      return unreachable(wait)
  }
}

function subjectOf({ kind, tool, supervised }: Approval): string {
  switch (kind) {
    case 'tool_call':
    case 'permission':
    case 'question':
      return `Tool ${nameOf(tool)}`
    case 'diff': {
      const change = supervised?.change ?? null
      return change === null
        ? 'Change of a file'
        : `Change of a file: +${change.addedLines} −${change.removedLines} lines`
    }
    case 'policy':
      return 'New policy of a workspace'
    default:
      return unreachable(kind)
  }
}

function promptText({ promptType }: Prompt): string {
  switch (promptType) {
    case 'continuation':
      return 'It asks whether to go on.'
    case 'clarification':
      return 'It needs to know more.'
    case 'error_recovery':
      return 'It met an error.'
    case 'resource_warning':
      return 'It is running out of something.'
    default:
      return unreachable(promptType)
  }
}

function alertText({ idleSeconds, nudgeCount }: Alert): string {
  const silence = `No sign of life for ${Math.max(Math.round(idleSeconds / 60), 1)} min.`
  return nudgeCount === 0 ? silence : `${silence} Nudged ${nudgeCount === 1 ? 'once' : `${nudgeCount} times`}.`
}

function outcomeText(wait: PersonRecord): string {
  const by = wait.decidedBy === null ? 'Somebody' : nameOf(wait.decidedBy)
  if (wait.decidedBy === 'timeout') return 'Nobody answered in time.'
  switch (wait.status) {
    case 'approved':
    case 'consumed':
      return `${by} approved it.`
    case 'rejected':
      return `${by} rejected it.`
    case 'answered':
    case 'decided':
    case 'resumed':
      return `${by} answered it.`
    case 'expired':
    case 'timeout':
      return 'Nobody answered in time.'
    case 'dismissed':
      return `${by} dismissed it.`
    case 'self_recovered':
      return 'The agent works again.'
    default:
      return 'Nobody has to answer any more.'
  }
}

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
