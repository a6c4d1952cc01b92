import type { DatabaseSync } from 'node:sqlite'
import { OPEN_RECORD_OF_ANY_KIND } from '../../packing/conditions.ts'
import type { StoreFigures } from '../../store.ts'
import { OPEN } from './rows.ts'

/** Each of these counts reads only what is open, by an index, however much is stored. */
export function createFigures(db: DatabaseSync): () => Omit<StoreFigures, 'walBytes'> {
  const size = db.prepare('SELECT page_count AS pages, page_size FROM pragma_page_count, pragma_page_size')
  // The condition is the one of the index `runs_open`.
  const runs = db.prepare(`SELECT status, count(*) AS n FROM runs WHERE ${OPEN} GROUP BY status`)
  const waits = db.prepare(
    `SELECT kind, count(*) AS n, min(created_at) AS oldest FROM waits
     WHERE ${OPEN_RECORD_OF_ANY_KIND} GROUP BY kind`,
  )
  // The health check writes one that never held.
  const leases = db.prepare('SELECT until FROM leases WHERE until > 0')
  const outbox = db.prepare('SELECT channel, sum(count) AS n FROM outbox GROUP BY channel')

  return () => {
    const { pages = 0, page_size = 0 } = size.get() ?? {}
    const counts = new Map(runs.all().map(({ status, n }) => [String(status), Number(n)]))
    const waiting = waits
      .all()
      .map(({ kind, n, oldest }) => ({ kind: String(kind), count: Number(n), oldestAt: Number(oldest) }))
    return {
      bytes: Number(pages) * Number(page_size),
      waitingRuns: counts.get('waiting') ?? 0,
      inbox: waiting.filter(({ kind }) => kind !== 'client_call').reduce((sum, { count }) => sum + count, 0),
      runs: {
        queued: counts.get('queued') ?? 0,
        running: counts.get('running') ?? 0,
        waiting: counts.get('waiting') ?? 0,
      },
      waits: Object.fromEntries(waiting.map(({ kind, ...figures }) => [kind, figures])),
      leases: leases.all().map(({ until }) => Number(until)),
      outbox: Object.fromEntries(outbox.all().map(({ channel, n }) => [String(channel), Number(n)])),
    }
  }
}
