import { duration } from '../../../parts/Time.tsx'
import styles from './AxisHead.module.css'
import { type Axis, type AxisWindow, ticksOf } from './axis.ts'

/** In how many parts the window is divided. */
const TICKS = 5
/** Beyond this, the time of the day says more than the time since the begin. */
const LONG_MS = 10 * 60_000

/** The times above the bars, and the folded stretches. Their lengths are in the tooltips. */
export function AxisHead({ axis, window, start }: { axis: Axis; window: AxisWindow; start: number }) {
  const share = (place: number) => (place - window.from) / window.width
  const folds = axis.folds.filter(({ at, width }) => at + width >= window.from && at <= window.from + window.width)
  const isLong = axis.timeAt(window.from + window.width) - start > LONG_MS
  return (
    <div className={styles.head} aria-hidden="true">
      <span className={styles.name}>What</span>
      <div className={styles.scale}>
        {ticksOf(axis, window, TICKS).map(({ at, ms }) => (
          <span key={at} className={styles.tick} style={{ insetInlineStart: `${share(at) * 100}%` }}>
            {isLong ? clock.format(ms) : ms - start === 0 ? '0' : duration(ms - start)}
          </span>
        ))}
        {folds.slice(0, FOLDS_SHOWN).map(({ from, to, at, width }) => (
          <span
            key={from}
            className={styles.fold}
            title={`${duration(to - from)} in which nothing happened`}
            style={{ insetInlineStart: `${share(at) * 100}%`, width: `${(width / window.width) * 100}%` }}
          ></span>
        ))}
      </div>
      <span className={styles.took}>Time</span>
      <span className={styles.used}>Tokens</span>
      <span className={styles.used}>Cost</span>
    </div>
  )
}

const FOLDS_SHOWN = 100
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
