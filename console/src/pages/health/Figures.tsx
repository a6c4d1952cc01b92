import type { Stats } from 'quarterdeck/client'
import { byteWord, fullCount } from '../../words.ts'
import styles from './Figures.module.css'
import { HOUR_MS, type Point, type Sample, sparkPath } from './samples.ts'

interface Figure {
  name: string
  value: (stats: Stats) => number
  text: (value: number) => string
  note: (stats: Stats) => string
}

const milliseconds = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`

/** Of all servers on the store. Another one of them answers each time, so the figures of one alone would jump. */
const sum = (stats: Stats, of: (one: Stats | Stats['replicas'][number]) => number): number =>
  stats.replicas.length === 0 ? of(stats) : stats.replicas.reduce((all, one) => all + of(one), 0)

const isOneOfSeveral = ({ replicas }: Stats): boolean => replicas.length > 1

const figures: readonly Figure[] = [
  { name: 'Runs', value: (stats) => sum(stats, ({ runs }) => runs.active), text: fullCount, note: () => 'working now' },
  {
    name: 'Queued',
    value: (stats) => sum(stats, ({ runs }) => runs.queued),
    text: fullCount,
    note: () => 'wait for their session',
  },
  { name: 'Waiting', value: ({ runs }) => runs.waiting, text: fullCount, note: () => 'for a person or a client' },
  { name: 'Inbox', value: ({ inbox }) => inbox, text: fullCount, note: () => 'for people to decide' },
  {
    name: 'Streams',
    value: (stats) => sum(stats, ({ streams }) => streams),
    text: fullCount,
    note: () => 'of events, open now',
  },
  {
    name: 'Connections',
    value: (stats) => sum(stats, ({ connections }) => connections),
    text: fullCount,
    note: (stats) => (isOneOfSeveral(stats) ? 'to all servers' : 'to this server'),
  },
  {
    name: 'Memory',
    value: (stats) => sum(stats, ({ memory }) => memory.rss),
    text: byteWord,
    note: (stats) =>
      isOneOfSeveral(stats) ? 'of all servers' : `${byteWord(stats.memory.heap_used)} of it in objects`,
  },
  {
    name: 'Loop delay',
    value: (stats) => stats.loop_delay_ms.p99,
    text: milliseconds,
    note: (stats) =>
      isOneOfSeveral(stats)
        ? 'p99, of the server that answered'
        : `p99 of the event loop, at most ${milliseconds(stats.loop_delay_ms.max)}`,
  },
  {
    name: 'Store',
    value: ({ store }) => store.bytes,
    text: byteWord,
    note: ({ store, replicas }) =>
      replicas.length > 0 ? 'the database in Postgres' : `and ${byteWord(store.wal_bytes)} of write-ahead log`,
  },
]

/** Each figure now, with the line of its last hour. */
export function Figures({ stats, samples, now }: { stats: Stats; samples: readonly Sample[]; now: number }) {
  return (
    <dl className={styles.figures}>
      {figures.map(({ name, value, text, note }) => (
        <div key={name} className={styles.figure}>
          <dt>{name}</dt>
          <dd className={styles.value}>{text(value(stats))}</dd>
          <dd className={styles.note}>{note(stats)}</dd>
          <dd className={styles.line}>
            <Sparkline points={samples.map((one) => ({ at: one.at, value: value(one.stats) }))} now={now} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

const [WIDTH, HEIGHT] = [160, 28]
/** Longer than the time between two samples, also when one of them was late. */
const GAP_MS = 20_000
const SHORTEST_MS = 2 * 60_000

/** The last hour of a figure. For eyes only: the figure itself stands beside it. */
function Sparkline({ points, now }: { points: readonly Point[]; now: number }) {
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
      <path d={path} className={styles.course} />
    </svg>
  )
}
