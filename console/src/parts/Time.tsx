import { useNow } from './use-now.ts'

export { useNow }

const units: readonly (readonly [limit: number, seconds: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [60, 1, 'second'],
  [3_600, 60, 'minute'],
  [86_400, 3_600, 'hour'],
  [30 * 86_400, 86_400, 'day'],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' })
const precise = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const shortDate = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })

/** `5m ago`, `in 2h`, or the date if it is longer than a month away. */
export function relativeTime(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1_000)
  const distance = Math.abs(seconds)
  if (distance < 5) return 'now'
  for (const [limit, size, unit] of units) {
    if (distance < limit) return relative.format(Math.trunc(seconds / size), unit)
  }
  return shortDate.format(at)
}

export const preciseTime = (at: number): string => precise.format(at)

/** `1.2 s`, `3 min 4 s`, `2 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`
}

/** How long ago, or how long from now. The exact time is in the tooltip. */
export function Time({ at }: { at: string }) {
  useNow(10_000)
  const time = Date.parse(at)
  return (
    <time dateTime={at} title={preciseTime(time)}>
      {/* What has just happened is not later than the last tick. */}
      {relativeTime(time, Date.now())}
    </time>
  )
}
