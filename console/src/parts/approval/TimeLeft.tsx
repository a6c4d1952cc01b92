import { duration, preciseTime, useNow } from '../Time.tsx'
import styles from './TimeLeft.module.css'

const SOON_MS = 60_000

/** Counts down to the moment when nobody can answer any more. `coarse`: without seconds, until there are few of them. */
export function TimeLeft({ until, coarse = false }: { until: string; coarse?: boolean }) {
  const now = useNow(coarse ? 5_000 : 1_000)
  const end = Date.parse(until)
  const left = end - now
  return (
    <time dateTime={until} title={preciseTime(end)} className={left < SOON_MS ? styles.soon : undefined}>
      {left <= 0 ? 'time is over' : `${coarse ? roughly(left) : duration(Math.max(1_000, left))} left`}
    </time>
  )
}

/** How long an agent has done nothing. */
export function StoodStill({ since }: { since: string }) {
  const now = useNow(5_000)
  const from = Date.parse(since)
  return (
    <time dateTime={since} title={`Stands still since ${preciseTime(from)}`}>
      {roughly(Math.max(1_000, now - from))}
    </time>
  )
}

const HOUR_MS = 3_600_000

function roughly(ms: number): string {
  if (ms < SOON_MS) return duration(Math.max(1_000, ms))
  return ms < 2 * HOUR_MS ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / HOUR_MS)} h`
}
