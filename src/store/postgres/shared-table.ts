import type { Clock } from '../../domain/clock.ts'
import { byKey, refuseLong } from '../local-shared.ts'
import type { Shared, SharedRecord } from '../ports/shared.ts'
import { NOW, type Sql, type Statement } from './sql.ts'

type Row = readonly [key: string, value: string, version: number, expiresAt: number | null]

/** No earlier record had it, also one that was removed: time in microseconds. */
const NEW_VERSION = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint'
const ALIVE = `(expires_at IS NULL OR expires_at > ${NOW})`
const COLUMNS = 'key, value, version, expires_at'

/** Jobs are records of this kind. No other record may have it. */
const JOB = '_job'

const statements = {
  get: {
    name: 'shared_get',
    text: `SELECT ${COLUMNS} FROM shared WHERE kind = $1 AND key = $2 AND ${ALIVE}`,
  },
  list: { name: 'shared_list', text: `SELECT ${COLUMNS} FROM shared WHERE kind = $1 AND ${ALIVE}` },
  /** $4: ms until it is over, null for ever. $5: also over a record that is there. */
  insert: {
    name: 'shared_insert',
    text: `INSERT INTO shared AS s (kind, key, value, version, expires_at) VALUES ($1, $2, $3, ${NEW_VERSION}, ${NOW} + $4::bigint)
      ON CONFLICT (kind, key) DO UPDATE
      SET value = excluded.value, expires_at = excluded.expires_at, version = greatest(s.version + 1, excluded.version)
      WHERE $5 OR s.expires_at <= ${NOW} RETURNING 1`,
  },
  update: {
    name: 'shared_update',
    text: `UPDATE shared SET value = $3, expires_at = ${NOW} + $4::bigint, version = greatest(version + 1, ${NEW_VERSION})
      WHERE kind = $1 AND key = $2 AND version = $5 AND ${ALIVE} RETURNING 1`,
  },
  take: {
    name: 'shared_take',
    text: `DELETE FROM shared WHERE kind = $1 AND key = $2 RETURNING ${COLUMNS}, ${ALIVE}`,
  },
  /** In the order of the keys, so that two replicas do not wait for each other. */
  count: {
    name: 'shared_count',
    text: `INSERT INTO counters AS c (kind, key, count, ends_at)
      SELECT $1, t.key, t.n, ${NOW} + $4 FROM unnest($2::text[], $3::bigint[]) AS t (key, n) ORDER BY t.key COLLATE "C"
      ON CONFLICT (kind, key) DO UPDATE SET
        count = CASE WHEN c.ends_at <= excluded.ends_at - $4 THEN excluded.count ELSE c.count + excluded.count END,
        ends_at = CASE WHEN c.ends_at <= excluded.ends_at - $4 THEN excluded.ends_at ELSE c.ends_at END
      RETURNING key, count, ends_at - ${NOW}`,
  },
  hold: {
    name: 'shared_hold',
    text: `INSERT INTO shared AS s (kind, key, value, version, expires_at)
      VALUES ('${JOB}', $1, $2, ${NEW_VERSION}, ${NOW} + $3)
      ON CONFLICT (kind, key) DO UPDATE
      SET value = excluded.value, version = s.version + 1, expires_at = ${NOW} + $3
      WHERE s.value = excluded.value OR s.expires_at <= ${NOW} RETURNING 1`,
  },
  release: {
    name: 'shared_release',
    text: `DELETE FROM shared WHERE kind = '${JOB}' AND key = $1 AND value = $2`,
  },
  sweepRecords: {
    name: 'shared_sweep',
    text: `DELETE FROM shared WHERE (kind, key) IN
      (SELECT kind, key FROM shared WHERE expires_at <= ${NOW} ORDER BY expires_at LIMIT 1000) AND expires_at <= ${NOW}`,
  },
  sweepCounters: {
    name: 'counters_sweep',
    text: `DELETE FROM counters WHERE (kind, key) IN
      (SELECT kind, key FROM counters WHERE ends_at <= ${NOW} ORDER BY ends_at LIMIT 1000) AND ends_at <= ${NOW}`,
  },
} satisfies Record<string, Statement>

/** What is over is removed this often. Another replica may be just doing it. */
const SWEEP_EVERY_MS = 60_000

/** `sql` commits each statement, with what is acknowledged on disk. */
export function createPostgresShared(sql: Sql, clock: Pick<Clock, 'now' | 'mono'>): Shared {
  let sweepAt = clock.mono() + SWEEP_EVERY_MS

  function sweep(): void {
    if (clock.mono() < sweepAt) return
    sweepAt = clock.mono() + SWEEP_EVERY_MS
    // Nobody waits for it, and the next one tries again.
    void sql.rows(statements.sweepRecords).catch(() => {})
    void sql.rows(statements.sweepCounters).catch(() => {})
  }

  return {
    async get(kind, key) {
      const [row] = await sql.rows<Row>(statements.get, [kind, key])
      return row === undefined ? null : toRecord(row)
    },
    async list(kind) {
      return (await sql.rows<Row>(statements.list, [kind])).map(toRecord).sort(byKey)
    },
    async put({ kind, key, value, version, expiresAt }) {
      refuseLong(key, value)
      sweep()
      // As a duration, because the caller's clock and the database's differ.
      const leftMs = expiresAt === null ? null : Math.round(expiresAt - clock.now())
      const record = [kind, key, value, leftMs]
      const done =
        version === null || version === 0
          ? await sql.rows(statements.insert, [...record, version === null])
          : await sql.rows(statements.update, [...record, version])
      return done.length > 0
    },
    async take(kind, key) {
      const [row] = await sql.rows<[...Row, boolean]>(statements.take, [kind, key])
      if (row === undefined) return null
      const [name, value, version, expiresAt, isAlive] = row
      return isAlive ? toRecord([name, value, version, expiresAt]) : null
    },
    async count(kind, added, windowMs) {
      if (added.length === 0) return []
      for (const { key } of added) refuseLong(key, '')
      sweep()
      const keys = added.map(({ key }) => key)
      const amounts = added.map(({ n }) => n)
      const rows = await sql.rows<[key: string, count: number, leftMs: number]>(statements.count, [
        kind,
        keys,
        amounts,
        windowMs,
      ])
      const now = clock.now()
      const byName = new Map(rows.map(([key, count, leftMs]) => [key, { count, endsAt: now + leftMs }]))
      return keys.map((key) => byName.get(key) ?? { count: 0, endsAt: 0 })
    },
    async hold(job, owner, ms) {
      return (await sql.rows(statements.hold, [job, owner, ms])).length > 0
    },
    async release(job, owner) {
      await sql.rows(statements.release, [job, owner])
    },
  }
}

const toRecord = ([key, value, version, expiresAt]: Row): SharedRecord => ({ key, value, version, expiresAt })
