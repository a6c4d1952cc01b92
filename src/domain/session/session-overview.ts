import {
  openStatuses,
  type SupervisedStatus,
  type Supervision,
  supervisedStatuses,
} from '../supervision/supervision.ts'
import { visibleProse } from '../text/visible-text.ts'

/**
 * What a session does, in one word for lists. `waiting`: for a person or for the client. `failed`: its last run
 * failed, and nothing runs or waits now. `ended`: only of an agent elsewhere, because a
 * conversation with an agent of ours can always go on. Everything else is `open`, also a paused agent.
 */
export const sessionActivities = ['open', 'running', 'waiting', 'failed', 'ended'] as const
export type SessionActivity = (typeof sessionActivities)[number]

/** Whether our agents answer in it, or an agent elsewhere works in it. */
export const sessionKinds = ['chat', 'supervised'] as const
export type SessionKind = (typeof sessionKinds)[number]

/** Sorting by tokens and counting look at so many sessions, those with the newest activity. */
export const MOST_COUNTED = 10_000

/** By their last activity, or by the tokens that they have used: that among the newest `MOST_COUNTED`. */
export const sessionOrders = ['newest', 'oldest', 'tokens'] as const
export type SessionOrder = (typeof sessionOrders)[number]

/** What lists show of a session beyond its record. */
export interface SessionOverview {
  id: string
  /** What a person named it, or the first words of its first message, or the title of the agent elsewhere. Empty if there is none. */
  title: string
  activity: SessionActivity
  /** Why its last run failed; null: it did not. */
  failure: string | null
  /** How many records wait for an answer. */
  pending: number
  /** Tokens that its runs have used, as the models reported them. */
  tokens: number
  /** Of an agent elsewhere; null: our agents answer in it. */
  elsewhere: Supervision | null
}

const TITLE_CHARS = 80

export interface SessionWork {
  supervised: SupervisedStatus | null
  isRunning: boolean
  hasQueued: boolean
  pending: number
  failure: string | null
}

/** The agent elsewhere has gone. */
export const endedStatuses: readonly SupervisedStatus[] = supervisedStatuses.filter(
  (status) => !openStatuses.includes(status),
)
/** The agent elsewhere works, as far as anybody knows. */
export const busyStatuses: readonly SupervisedStatus[] = openStatuses.filter((status) => status !== 'paused')

/** The first fact that holds says what the session does. If none holds, it is `open`. The lists of the stores read the same rules. */
export const activityRules = [
  ['hasEnded', 'ended'],
  ['isRunning', 'running'],
  ['isWaiting', 'waiting'],
  ['hasMore', 'running'],
  ['hasFailed', 'failed'],
] as const satisfies readonly (readonly [string, SessionActivity])[]
export type ActivityFact = (typeof activityRules)[number][0]

export function activityOf({ supervised, isRunning, hasQueued, pending, failure }: SessionWork): SessionActivity {
  const facts: Record<ActivityFact, boolean> = {
    hasEnded: supervised !== null && endedStatuses.includes(supervised),
    isRunning,
    isWaiting: pending > 0,
    hasMore: hasQueued || (supervised !== null && busyStatuses.includes(supervised)),
    hasFailed: failure !== null,
  }
  return activityRules.find(([fact]) => facts[fact])?.[1] ?? 'open'
}

/** The first words of a text on one line, in which every character is visible. */
export function titleOf(text: string, most = TITLE_CHARS): string {
  const words = text
    .slice(0, 4 * most)
    .replace(/\s+/g, ' ')
    .trim()
  const shown = visibleProse(words.toWellFormed())
  if (shown.length <= most && text.length <= 4 * most) return shown
  const cut = shown.slice(0, most)
  const blank = cut.lastIndexOf(' ')
  return `${(blank > most / 2 ? cut.slice(0, blank) : cut).trimEnd().toWellFormed()}…`
}
