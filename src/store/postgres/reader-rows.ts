import type { ReaderRow, ReaderRows } from '../ports/reader-rows.ts'
import type { Sql } from './sql.ts'

/** A replica that was paused must find its rows again, so they stay for a while. */
const LONG_MS = 3_600_000
const LIVE = 'EXISTS (SELECT 1 FROM leases WHERE leases.owner = readers.replica AND leases.until > $3::bigint)'

const statements = {
  /** In the order of the key, so that two replicas do not wait for each other. */
  add: {
    name: 'readers_add',
    text: `INSERT INTO readers (replica, session, run)
      SELECT $1, t.session, t.run FROM unnest($2::text[], $3::text[]) AS t (session, run)
      ORDER BY t.session COLLATE "C", t.run COLLATE "C" ON CONFLICT DO NOTHING`,
  },
  remove: {
    name: 'readers_remove',
    text: `DELETE FROM readers USING unnest($2::text[], $3::text[]) AS t (session, run)
      WHERE readers.session = t.session AND readers.run = t.run AND readers.replica = $1`,
  },
  elsewhere: {
    name: 'readers_elsewhere',
    text: `SELECT DISTINCT session, run FROM readers WHERE session = ANY ($2::text[]) AND replica <> $1 AND ${LIVE}`,
  },
  others: { name: 'leases_others', text: `SELECT owner FROM leases WHERE owner <> $1 AND until > $2::bigint` },
  tidyReaders: {
    name: 'readers_tidy',
    text: `DELETE FROM readers
      WHERE NOT EXISTS (SELECT 1 FROM leases WHERE leases.owner = readers.replica AND leases.until > $1::bigint)`,
  },
  tidyLeases: { name: 'leases_tidy', text: `DELETE FROM leases WHERE until <= $1::bigint` },
}

/** Readers of a whole session have no run. */
const ALL_RUNS = ''

/** `now`: the database's time as leases are judged by it (`DatabaseTime.offsetForOthers`). */
export function createReaderRows(sql: Sql, now: () => Promise<number>): ReaderRows {
  const columns = (rows: readonly ReaderRow[]) => [
    rows.map(({ sessionId }) => sessionId),
    rows.map(({ runId }) => runId ?? ALL_RUNS),
  ]

  return {
    async change(owner, added, removed) {
      if (removed.length > 0) await sql.rows(statements.remove, [owner, ...columns(removed)])
      if (added.length > 0) await sql.rows(statements.add, [owner, ...columns(added)])
    },
    async readElsewhere(owner, sessionIds) {
      const found = await sql.rows<[string, string]>(statements.elsewhere, [owner, sessionIds, await now()])
      return found.map(([sessionId, run]) => ({ sessionId, runId: run === ALL_RUNS ? null : run }))
    },
    others: async (owner) =>
      (await sql.rows<[string]>(statements.others, [owner, await now()])).map(([other]) => other),
    async tidy() {
      const longAgo = (await now()) - LONG_MS
      await sql.rows(statements.tidyReaders, [longAgo])
      await sql.rows(statements.tidyLeases, [longAgo])
    },
  }
}
