import { duration, preciseTime, useNow } from '../Time.tsx'
import styles from './TimeLeft.module.css'

const SOON_MS = 60_000

/** Counts down to the moment when nobody can answer any more. */
export function TimeLeft({ until }: { until: string }) {
  const now = useNow()
  const end = Date.parse(until)
  const left = end - now
  return (
    <time dateTime={until} title={preciseTime(end)} className={left < SOON_MS ? styles.soon : undefined}>
      {left <= 0 ? 'time is over' : `${duration(Math.max(1_000, left))} left`}
    </time>
  )
}
