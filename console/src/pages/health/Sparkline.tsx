import styles from './Sparkline.module.css'
import { HOUR_MS, type Point, sparkPath } from './samples.ts'

const [WIDTH, HEIGHT] = [160, 28]
/** Longer than the time between two samples, also when one of them was late. */
const GAP_MS = 20_000
const SHORTEST_MS = 2 * 60_000

/** The last hour of a figure. For eyes only: the figure itself stands beside it. */
export function Sparkline({ points, now }: { points: readonly Point[]; now: number }) {
  const first = points[0]?.at ?? now
  // A few minutes in the corner of an hour would say nothing.
  const spanMs = Math.min(HOUR_MS, Math.max(SHORTEST_MS, now - first))
  const path = sparkPath(points, { width: WIDTH, height: HEIGHT, until: now, spanMs, gapMs: GAP_MS })
  return (
    <svg
      viewBox={`-2 -2 ${WIDTH + 4} ${HEIGHT + 4}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      className={styles.spark}
    >
      <path d={`M0 ${HEIGHT}H${WIDTH}`} className={styles.ground} />
      <path d={path} className={styles.line} />
    </svg>
  )
}
