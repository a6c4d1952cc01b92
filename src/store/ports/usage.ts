// What runs have used of models, added up by day. It outlives the sessions, so that a month still has its costs when they are deleted.

/** Days in UTC, as the number of days since 1970. */
export const dayOf = (ms: number): number => Math.floor(ms / 86_400_000)

/** A purge keeps this many days. */
export const USAGE_DAYS = 401

export const usageGroups = ['day', 'agent', 'model', 'session', 'owner'] as const
export type UsageGroup = (typeof usageGroups)[number]

export interface UsageQuery {
  /** First and last day, both included. */
  from: number
  to: number
  by: UsageGroup
  /** Only what the runs of this session used. */
  sessionId?: string
  /** Only the groups with the most tokens. Days are never left out. */
  limit: number
}

export type UsageRange = Pick<UsageQuery, 'from' | 'to' | 'sessionId'>

export interface TokenSums {
  /** Counts input from a cache too. */
  input: number
  output: number
  cachedInput: number
  cacheWrite: number
  /** Part of `output`. */
  reasoning: number
}

/** Stands for one row. */
export type UsageKey = Pick<UsageRow, 'day' | 'sessionId' | 'owner' | 'agent' | 'provider' | 'model'>

/** What the runs of one session used of one model on one day. */
export interface UsageRow extends TokenSums {
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
export interface UsageSum extends TokenSums {
  /** The day as a number, or the name or id that the group has in common. `provider/model` for models. */
  key: string
  provider: string
  model: string
  /** Runs of the group. A run that used several models counts at one of them, so that the sum is right, and at each with `by: model`. */
  runs: number
}

export interface UsageReads {
  /** Days in order; other groups with most tokens first. The models of a group follow each other. */
  sums(query: UsageQuery): Promise<UsageSum[]>
  /** All models of the range, or of its session. `key` is empty. */
  totals(range: UsageRange): Promise<UsageSum[]>
  /** What these sessions used of each model, on all days. `key` is the id of the session. */
  ofSessions(ids: readonly string[]): Promise<UsageSum[]>
  /** At most `limit` rows after this one, in an order of the store's own. Null: from the beginning. */
  rows(after: UsageKey | null, limit: number): Promise<UsageRow[]>
  row(key: UsageKey): Promise<UsageRow | null>
}
