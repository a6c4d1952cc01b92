// What runs have used of models, added up by day. It outlives the sessions, so that a month still has its costs when they are deleted.

import type { TokenUsage } from '../../domain/session/event.ts'

/** Days in UTC, as the number of days since 1970. */
export const dayOf = (ms: number): number => Math.floor(ms / 86_400_000)

/** A purge keeps this many days. */
export const USAGE_DAYS = 401

export const usageGroups = ['day', 'agent', 'model', 'session', 'owner'] as const
export type UsageGroup = (typeof usageGroups)[number]

export interface UsageRange {
  /** First and last day, both included. */
  from: number
  to: number
  /** Only what the runs of this session, agent or owner used, or only of this `provider/model`. */
  sessionId?: string
  agent?: string
  owner?: string
  model?: string
  /** Says how long runs took. Left out: `took` is empty. */
  withTimes?: boolean
}

export interface UsageQuery extends UsageRange {
  by: UsageGroup
  /** Days apart by it. Models always are. */
  split?: 'agent' | 'model'
  /** Only the groups with the most tokens. Days are never left out. */
  limit: number
}

export interface TokenSums {
  /** Counts input from a cache too. */
  input: number
  output: number
  cachedInput: number
  cacheWrite: number
  /** Part of `output`. */
  reasoning: number
}

/** How runs ended, and how long they took. A run that used several models counts at the first of them. */
export interface RunSums {
  failed: number
  cancelled: number
  /** A letter for each run that ended well (`tookLetter`), in no order. Sums are one text after the other. */
  took: string
}

/** Stands for one row. */
export type UsageKey = Pick<UsageRow, 'day' | 'sessionId' | 'owner' | 'agent' | 'provider' | 'model'>

/** What the runs of one session used of one model on one day. */
export interface UsageRow extends TokenSums, RunSums {
  day: number
  sessionId: string
  owner: string
  agent: string
  provider: string
  model: string
  /** Each run counts at the first of its models. */
  runs: number
  /** Each run counts at all its models. */
  modelRuns: number
}

/** What one group used of one model. */
export interface UsageSum extends TokenSums, RunSums {
  /** The day as a number, or the name or id that the group has in common. `provider/model` for models. */
  key: string
  provider: string
  model: string
  /** Empty unless days are split by agent. */
  agent: string
  /** Runs of the group. A run that used several models counts at one of them, so that the sum is right, and at each with `by: model`. */
  runs: number
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** `A` is up to 50 ms, and each further letter a quarter longer: `z` is more than an hour. */
const [FIRST_MS, STEP] = [50, 1.25]
/** Of one row. More would make each run of a session that never rests write more than the one before. */
export const MOST_LETTERS = 4_096

export function tookLetter(ms: number): string {
  const place = Math.ceil(Math.log(Math.max(ms, FIRST_MS) / FIRST_MS) / Math.log(STEP))
  return LETTERS.charAt(Math.min(place, LETTERS.length - 1))
}

/** The time within which this share of the runs ended, give or take an eighth. Null: no run is known. */
export function tookWithin(took: string, share: number): number | null {
  const counts = new Uint32Array(128)
  for (let i = 0; i < took.length; i += 1)
    counts[took.charCodeAt(i) & 127] = (counts[took.charCodeAt(i) & 127] ?? 0) + 1
  let left = Math.ceil(took.length * share)
  for (let place = 0; place < LETTERS.length; place += 1) {
    left -= counts[LETTERS.charCodeAt(place)] ?? 0
    if (left <= 0 && took !== '') return Math.round(FIRST_MS * STEP ** (place - 0.5))
  }
  return null
}

/** Synced. What the server used of models beside sessions, such as the embedding of documents. */
export interface AddUsage {
  type: 'add_usage'
  usage: readonly UsageBeside[]
}

export interface UsageBeside {
  at: number
  agent: string
  usage: TokenUsage
}

export interface UsageReads {
  /**
   * Days in order; other groups with most tokens first. The models of a group follow each other. What belongs to no session and nobody is
   * in none of their groups.
   */
  sums(query: UsageQuery): Promise<UsageSum[]>
  /** All models of the range, or of its session. `key` is empty. */
  totals(range: UsageRange): Promise<UsageSum[]>
  /** What these sessions used of each model, on all days. `key` is the id of the session. */
  ofSessions(ids: readonly string[]): Promise<UsageSum[]>
  /** At most `limit` rows after this one, in an order of the store's own. Null: from the beginning. */
  rows(after: UsageKey | null, limit: number): Promise<UsageRow[]>
  row(key: UsageKey): Promise<UsageRow | null>
}
