import type { Clock } from '../../domain/clock.ts'
import { OPEN_RECORD_OF_ANY_KIND } from '../packing/conditions.ts'
import type { StoreFigures } from '../store.ts'
import type { Database } from './connection/database.ts'
import { NOW, type Statement } from './sql.ts'

type Row = ['run' | 'wait' | 'lease' | 'outbox', string, number, number]

/** Every part reads only what is open, by an index, however much is stored. */
const counts: Statement = {
  name: 'figures',
  text: `SELECT 'run', status, count(*), 0::bigint FROM runs WHERE status IN ('queued', 'running', 'waiting') GROUP BY status
    UNION ALL
    SELECT 'wait', kind, count(*), min(created_at) FROM waits
      WHERE ${OPEN_RECORD_OF_ANY_KIND} GROUP BY kind
    UNION ALL
    SELECT 'lease', owner, 1::bigint, until - ${NOW} FROM leases
    UNION ALL
    SELECT 'outbox', channel, sum(count)::bigint, 0::bigint FROM outbox GROUP BY channel`,
}
const size: Statement = { name: 'database_size', text: 'SELECT pg_database_size(current_database())' }

/** Postgres looks at every file of the database to tell its size. */
const SIZE_MS = 60_000

export function createFigures(database: Database, clock: Clock): () => Promise<StoreFigures> {
  let measured: { bytes: number; at: number } | null = null
  return async () => {
    const now = clock.mono()
    if (measured === null || now - measured.at > SIZE_MS) {
      const [row] = await database.reads.rows<[number]>(size)
      measured = { bytes: row?.[0] ?? 0, at: now }
    }
    // The log belongs to the whole server, not to this database.
    return {
      ...figuresOf(await database.reads.rows<Row>(counts), clock.now()),
      bytes: measured.bytes,
      walBytes: 0,
      connections: database.connections(),
    }
  }
}

function figuresOf(rows: readonly Row[], now: number): Omit<StoreFigures, 'bytes' | 'walBytes' | 'connections'> {
  const of = (what: Row[0]) => rows.filter((row) => row[0] === what)
  const runs = new Map(of('run').map(([, status, n]) => [status, n]))
  const waits = of('wait').map(([, kind, count, oldestAt]) => ({ kind, count, oldestAt }))
  const waitingRuns = runs.get('waiting') ?? 0
  return {
    waitingRuns,
    inbox: waits.filter(({ kind }) => kind !== 'client_call').reduce((sum, { count }) => sum + count, 0),
    runs: { queued: runs.get('queued') ?? 0, running: runs.get('running') ?? 0, waiting: waitingRuns },
    waits: Object.fromEntries(waits.map(({ kind, ...figures }) => [kind, figures])),
    // The database says how long they last: its clock and ours may differ.
    leases: of('lease').map(([, , , leftMs]) => now + leftMs),
    outbox: Object.fromEntries(of('outbox').map(([, channel, n]) => [channel, n])),
  }
}
