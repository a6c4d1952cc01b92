// What the store does and holds. The counts come from the store, so every replica shows the same: take the maximum, never the sum.

import { within } from '../../domain/abort.ts'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { allKinds } from '../../domain/records/record-kinds.ts'
import { byLabel, type Metrics } from './metrics.ts'

/** What a store counts. */
interface Figures {
  bytes: number
  walBytes: number
  runs: Readonly<Record<string, number>>
  waits: Readonly<Partial<Record<string, { count: number; oldestAt: number }>>>
  leases: readonly number[]
  outbox: Readonly<Record<string, number>>
  connections?: Readonly<Record<'open' | 'idle' | 'waiting' | 'most' | 'reconnects', number>>
}

/** A store that needs longer is in trouble, and the scrape must not be. */
const READ_MS = 2_000

/** `read` may throw. Then the last numbers are left out, and `quarterdeck_store_up` is 0. */
export function registerStoreMetrics(metrics: Metrics, read: () => Promise<Figures>, clock: Clock): void {
  let figures: Figures | null = null
  metrics.before(async () => {
    figures = await within(
      clock,
      READ_MS,
      read().catch(() => null),
    )
  })
  const each = (label: string, counts: (found: Figures) => Readonly<Record<string, number>>) => () =>
    figures === null ? [] : byLabel(label, counts(figures))
  const single = (value: (found: Figures) => number) => () =>
    figures === null ? [] : [{ labels: {}, value: value(figures) }]

  metrics.gauge('quarterdeck_store_up', 'Whether the store answers.', () => (figures === null ? 0 : 1))
  metrics.gauge(
    'quarterdeck_store_bytes',
    'Size of the database.',
    single(({ bytes }) => bytes),
  )
  metrics.gauge(
    'quarterdeck_store_wal_bytes',
    'Size of the log of changes in front of the database file.',
    single(({ walBytes }) => walBytes),
  )
  metrics.gauge(
    'quarterdeck_runs',
    'Runs in the store that have not ended, by status.',
    each('status', ({ runs }) => runs),
  )
  metrics.gauge(
    'quarterdeck_waits_pending',
    'What waits for a person or a client, by kind.',
    each('kind', ({ waits }) => ofKinds((kind) => waits[kind]?.count ?? 0)),
  )
  metrics.gauge(
    'quarterdeck_waits_oldest_seconds',
    'How long the oldest of them has waited.',
    each('kind', ({ waits }) => ofKinds((kind) => ageOf(waits[kind]?.oldestAt))),
  )
  metrics.gauge(
    'quarterdeck_leases',
    'Processes that hold runs (live), and those that did not renew their lease (expired).',
    each('state', ({ leases }) => {
      const live = leases.filter((until) => until > clock.now()).length
      return { live, expired: leases.length - live }
    }),
  )
  metrics.gauge(
    'quarterdeck_outbox_items',
    'What a channel still has to show its operators.',
    each('channel', ({ outbox }) => outbox),
  )
  metrics.gauge(
    'quarterdeck_store_connections',
    'Connections to the database server: open, idle, the most there may be, and requests that wait for one.',
    each('state', ({ connections }) => {
      if (connections === undefined) return {}
      const { reconnects: _, ...states } = connections
      return states
    }),
  )
  metrics.total('quarterdeck_store_reconnects_total', 'How often the database server was lost and found again.', () =>
    figures?.connections === undefined ? [] : [{ labels: {}, value: figures.connections.reconnects }],
  )

  function ageOf(at: number | undefined): number {
    return at === undefined ? 0 : Math.max(0, (clock.now() - at) / 1_000)
  }
}

const ofKinds = (value: (kind: string) => number): Record<string, number> =>
  Object.fromEntries(allKinds.map((kind) => [kind, value(kind)]))

const BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]

interface Committed {
  synced: Promise<void>
}

/** The same `commit`, which also measures. `isSynced` says whether it is to wait for the disk. */
export function measureCommits<C, R extends Committed>(
  commit: (commands: readonly C[]) => Promise<R>,
  isSynced: (command: C) => boolean,
  { metrics, clock }: { metrics: Metrics; clock: Pick<Clock, 'mono'> },
): (commands: readonly C[]) => Promise<R> {
  const observe = metrics.histogram(
    'quarterdeck_store_commit_seconds',
    'Time of commits: until they are written, and until those that must be are on disk.',
    { buckets: BUCKETS, labels: ['until'], unit: '' },
  )
  let commands = 0
  metrics.total(
    'quarterdeck_store_commands_total',
    'Commands that were committed. One commit holds many.',
    () => commands,
  )
  const fail = metrics.counter('quarterdeck_store_commit_failures_total', 'Commits that failed as a whole.', ['code'])
  return async (batch) => {
    const began = clock.mono()
    const seconds = (): number => (clock.mono() - began) / 1_000
    try {
      const committed = await commit(batch)
      observe(seconds(), 'written')
      commands += batch.length
      if (batch.some(isSynced)) void committed.synced.then(() => observe(seconds(), 'synced'))
      return committed
    } catch (error) {
      fail(error instanceof ServerError ? error.code : 'unknown')
      throw error
    }
  }
}
