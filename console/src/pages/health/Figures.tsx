import type { Stats } from 'quarterdeck/client'
import { Figure, FigureList } from '../../parts/Figure.tsx'
import { byteWord, counted, fullCount } from '../../words.ts'
import styles from './Figures.module.css'
import { HOUR_MS, type Point, type Sample, sparkPath } from './samples.ts'

interface Shown {
  name: string
  value: (stats: Stats) => number
  text: (value: number) => string
  note: (stats: Stats) => string
  /** Also while there is nothing. */
  isAlways?: boolean
}

const milliseconds = (value: number): string => `${Math.max(1, Math.round(value))} ms`

/** Of all servers on the store. Another one of them answers each time, so the figures of one alone would jump. */
const sum = (stats: Stats, of: (one: Stats | Stats['replicas'][number]) => number): number =>
  stats.replicas.length === 0 ? of(stats) : stats.replicas.reduce((all, one) => all + of(one), 0)

const isOneOfSeveral = ({ replicas }: Stats): boolean => replicas.length > 1

const figures: readonly Shown[] = [
  {
    name: 'At work',
    value: (stats) => sum(stats, ({ runs }) => runs.active),
    text: (value) => counted(value, 'run'),
    note: () => 'that an agent works on now',
  },
  {
    name: 'How fast the server reacts',
    value: (stats) => stats.loop_delay_ms.p99,
    text: (value) => (value < 50 ? 'At once' : value < 250 ? 'A little slowly' : 'Slowly'),
    note: (stats) =>
      isOneOfSeveral(stats)
        ? `within ${milliseconds(stats.loop_delay_ms.p99)}, the server that answered`
        : `within ${milliseconds(stats.loop_delay_ms.p99)} nearly always, at most ${milliseconds(stats.loop_delay_ms.max)}`,
    isAlways: true,
  },
  {
    name: 'Waiting for their turn',
    value: (stats) => sum(stats, ({ runs }) => runs.queued),
    text: (value) => counted(value, 'run'),
    note: () => 'behind another one of their session',
  },
  {
    name: 'Waiting for somebody',
    value: ({ runs }) => runs.waiting,
    text: (value) => counted(value, 'run'),
    note: () => 'a person, or a program that has to answer',
  },
  { name: 'In the inbox', value: ({ inbox }) => inbox, text: fullCount, note: () => 'for people to decide' },
  {
    name: 'Watching',
    value: (stats) => sum(stats, ({ streams }) => streams),
    text: fullCount,
    note: (stats) =>
      `pages and programs that follow what happens, over ${counted(
        sum(stats, ({ connections }) => connections),
        'connection',
      )}`,
  },
  {
    name: 'Memory in use',
    value: (stats) => sum(stats, ({ memory }) => memory.rss),
    text: byteWord,
    note: (stats) => (isOneOfSeveral(stats) ? 'by all servers' : 'by the server'),
    isAlways: true,
  },
  {
    name: 'Space on the disk',
    value: ({ store }) => store.bytes + store.wal_bytes,
    text: byteWord,
    note: ({ replicas }) => (replicas.length > 0 ? 'of the database in Postgres' : 'for sessions, files and records'),
    isAlways: true,
  },
]

/** A figure that is nothing now and was nothing all the hour would be an empty card. */
const isShown = ({ value, isAlways = false }: Shown, stats: Stats, samples: readonly Sample[]): boolean =>
  isAlways || value(stats) > 0 || samples.some((one) => value(one.stats) > 0)

/** Each figure now, with the line of its last hour. */
export function Figures({ stats, samples, now }: { stats: Stats; samples: readonly Sample[]; now: number }) {
  return (
    <FigureList columns={styles.figures}>
      {figures
        .filter((one) => isShown(one, stats, samples))
        .map(({ name, value, text, note }) => (
          <Figure key={name} name={name} value={text(value(stats))} note={note(stats)}>
            <dd className={styles.line}>
              <Sparkline points={samples.map((one) => ({ at: one.at, value: value(one.stats) }))} now={now} />
            </dd>
          </Figure>
        ))}
    </FigureList>
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
