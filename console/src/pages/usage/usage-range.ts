// The range of days that the usage page shows. Days are those of UTC, as the server counts them.

const DAY_MS = 86_400_000
/** The server takes no longer range. */
const MOST_DAYS = 400
export const usualDays = ['7', '30', '90'] as const

export interface UsageRange {
  /** Null: the days are the reader's own. */
  days: (typeof usualDays)[number] | null
  from: string
  to: string
  /** What is wrong with the reader's own days. */
  problem: string | null
}

/** The range in an address: `days=30`, or `from` and `to`. */
export function readRange(params: URLSearchParams, now: number): UsageRange {
  const [from, to] = [params.get('from'), params.get('to')]
  if (from !== null && to !== null) return { days: null, from, to, problem: problemOf(from, to) }
  const days = usualDays.find((one) => one === params.get('days')) ?? '30'
  return { days, ...lastDays(Number(days), now), problem: null }
}

/** So many days up to today. */
const lastDays = (count: number, now: number): { from: string; to: string } => ({
  from: dayOf(now - (count - 1) * DAY_MS),
  to: dayOf(now),
})

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
