// The range of days that the usage page shows. Days are those of UTC, as the server counts them.

import type { Days } from '../parts/DayRange.tsx'
import { isLastDays } from './list-filters.ts'

const DAY_MS = 86_400_000
/** The server takes no longer range. */
const MOST_DAYS = 400

export interface UsageRange extends Days {
  from: string
  to: string
  /** What is wrong with the reader's own days. */
  problem: string | null
}

/** The range in an address: `since=30d`, or `since` and `until`. */
export function readRange(params: URLSearchParams, now: number): UsageRange {
  const [given, until] = [params.get('since') ?? '', params.get('until') ?? '']
  const since = given === '' && until === '' ? '30d' : given
  if (!isLastDays(since)) return { since, until, from: since, to: until, problem: problemOf(since, until) }
  const from = dayOf(now - (Math.min(Number.parseInt(since, 10), MOST_DAYS) - 1) * DAY_MS)
  return { since, until: '', from, to: dayOf(now), problem: null }
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

function problemOf(from: string, to: string): string | null {
  const [first, last] = [startOf(from), startOf(to)]
  if (first === null || last === null) return 'Choose two days.'
  if (first > last) return 'The first day is after the last one.'
  return last - first >= MOST_DAYS * DAY_MS ? `Choose at most ${MOST_DAYS} days.` : null
}

function startOf(day: string): number | null {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN
  return Number.isNaN(at) || dayOf(at) !== day ? null : at
}

/** One item for each day of a range, also for days on which nothing happened. */
export function everyDay<T extends { key: string }, E>(
  rows: readonly T[],
  { from, to }: { from: string; to: string },
  empty: (day: string) => E,
): (T | E)[] {
  const known = new Map(rows.map((row) => [row.key, row]))
  const all: (T | E)[] = []
  const [first, last] = [startOf(from) ?? 0, startOf(to) ?? -1]
  for (let at = first; at <= last && all.length < MOST_DAYS; at += DAY_MS) {
    const day = dayOf(at)
    all.push(known.get(day) ?? empty(day))
  }
  return all
}
