import type { Clock } from '../../domain/clock.ts'
import { byKey, refuseLong } from '../local-shared.ts'
import type { Shared, SharedRecord } from '../ports/shared.ts'
import type { Statement } from '../tables/statement.ts'
import type { DatabaseTime } from './connection/database-time.ts'
import type { Sql } from './sql.ts'

type Row = readonly [key: string, value: string, version: number, expiresAt: number | null]

/** No earlier record had it, also one that was removed: time in microseconds. */
const NEW_VERSION = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint'
const COLUMNS = 'key, value, version, expires_at'
/** `now` is a parameter: see `times`. */
const isAlive = (now: `$${number}`): string => `(expires_at IS NULL OR expires_at > ${now}::bigint)`

/** Jobs are records of this kind. No other record may have it. */
const JOB = '_job'

const statements = {
  get: {
    name: 'shared_get',
    text: `SELECT ${COLUMNS} FROM shared WHERE kind = $1 AND key = $2 AND ${isAlive('$3')}`,
  },
  list: { name: 'shared_list', text: `SELECT ${COLUMNS} FROM shared WHERE kind = $1 AND ${isAlive('$2')}` },
  /** $4: when it is over, null: never. $5: the time. $6: also over a record that is there. */
  insert: {
    name: 'shared_insert',
    text: `INSERT INTO shared AS s (kind, key, value, version, expires_at) VALUES ($1, $2, $3, ${NEW_VERSION}, $4::bigint)
      ON CONFLICT (kind, key) DO UPDATE
      SET value = excluded.value, expires_at = excluded.expires_at, version = greatest(s.version + 1, excluded.version)
      WHERE $6 OR s.expires_at <= $5::bigint RETURNING 1`,
  },
  update: {
    name: 'shared_update',
    text: `UPDATE shared SET value = $3, expires_at = $4::bigint, version = greatest(version + 1, ${NEW_VERSION})
      WHERE kind = $1 AND key = $2 AND version = $6 AND ${isAlive('$5')} RETURNING 1`,
  },
  take: {
    name: 'shared_take',
    text: `DELETE FROM shared WHERE kind = $1 AND key = $2 RETURNING ${COLUMNS}, ${isAlive('$3')}`,
  },
  /** In the order of the keys, so that two replicas do not wait for each other. */
  count: {
    name: 'shared_count',
    text: `INSERT INTO counters AS c (kind, key, count, ends_at)
      SELECT $1, t.key, t.n, $5::bigint + $4 FROM unnest($2::text[], $3::bigint[]) AS t (key, n) ORDER BY t.key COLLATE "C"
      ON CONFLICT (kind, key) DO UPDATE SET
        count = CASE WHEN c.ends_at <= $5::bigint THEN excluded.count ELSE c.count + excluded.count END,
        ends_at = CASE WHEN c.ends_at <= $5::bigint THEN excluded.ends_at ELSE c.ends_at END
      RETURNING key, count, ends_at - $5::bigint`,
  },
  hold: {
    name: 'shared_hold',
    text: `INSERT INTO shared AS s (kind, key, value, version, expires_at)
      VALUES ('${JOB}', $1, $2, ${NEW_VERSION}, $3::bigint)
      ON CONFLICT (kind, key) DO UPDATE
      SET value = excluded.value, version = s.version + 1, expires_at = excluded.expires_at
      WHERE s.value = excluded.value OR s.expires_at <= $4::bigint RETURNING 1`,
  },
  release: {
    name: 'shared_release',
    text: `DELETE FROM shared WHERE kind = '${JOB}' AND key = $1 AND value = $2`,
  },
  sweepRecords: {
    name: 'shared_sweep',
    text: `DELETE FROM shared WHERE (kind, key) IN
      (SELECT kind, key FROM shared WHERE expires_at <= $1::bigint ORDER BY expires_at LIMIT 1000) AND expires_at <= $1::bigint`,
  },
  sweepCounters: {
    name: 'counters_sweep',
    text: `DELETE FROM counters WHERE (kind, key) IN
      (SELECT kind, key FROM counters WHERE ends_at <= $1::bigint ORDER BY ends_at LIMIT 1000) AND ends_at <= $1::bigint`,
  },
} satisfies Record<string, Statement>

/** What is over is removed this often. Another replica may be just doing it. */
const SWEEP_EVERY_MS = 60_000

/** `sql` commits each statement, with what is acknowledged on disk. */
export function createPostgresShared(
  sql: Sql,
  clock: Pick<Clock, 'now' | 'mono'>,
  time: Pick<DatabaseTime, 'offset' | 'nowForOthers'>,
): Shared {
  let sweepAt = clock.mono() + SWEEP_EVERY_MS

  /**
   * The database's time as all replicas know it, not as its clock says just now: a clock that jumps must not give a job to two of them.
   * `own` is for what is written, `others` for what others have written.
   */
  async function times(): Promise<{ own: number; others: number }> {
    const others = await time.nowForOthers()
    return { own: Math.round(clock.now() + (await time.offset())), others }
  }

  function sweep(now: number): void {
    if (clock.mono() < sweepAt) return
    sweepAt = clock.mono() + SWEEP_EVERY_MS
    // Nobody waits for it, and the next one tries again.
    void sql.rows(statements.sweepRecords, [now]).catch(() => {})
    void sql.rows(statements.sweepCounters, [now]).catch(() => {})
  }

  return {
    async get(kind, key) {
      const [row] = await sql.rows<Row>(statements.get, [kind, key, (await times()).others])
      return row === undefined ? null : toRecord(row)
    },
    async list(kind) {
      return (await sql.rows<Row>(statements.list, [kind, (await times()).others])).map(toRecord).sort(byKey)
    },
    async put({ kind, key, value, version, expiresAt }) {
      refuseLong(key, value)
      const { own, others } = await times()
      sweep(others)
      // As a duration, because the caller's clock and the database's differ.
      const ends = expiresAt === null ? null : own + Math.round(expiresAt - clock.now())
      const record = [kind, key, value, ends, others]
      const done =
        version === null || version === 0
          ? await sql.rows(statements.insert, [...record, version === null])
          : await sql.rows(statements.update, [...record, version])
      return done.length > 0
    },
    async take(kind, key) {
      const [row] = await sql.rows<[...Row, boolean]>(statements.take, [kind, key, (await times()).others])
      if (row === undefined) return null
      const [name, value, version, expiresAt, isThere] = row
      return isThere ? toRecord([name, value, version, expiresAt]) : null
    },
    async count(kind, added, windowMs) {
      if (added.length === 0) return []
      for (const { key } of added) refuseLong(key, '')
      const { own, others } = await times()
      sweep(others)
      const keys = added.map(({ key }) => key)
      const amounts = added.map(({ n }) => n)
      const rows = await sql.rows<[key: string, count: number, leftMs: number]>(statements.count, [
        kind,
        keys,
        amounts,
        windowMs,
        own,
      ])
      const now = clock.now()
      const byName = new Map(rows.map(([key, count, leftMs]) => [key, { count, endsAt: now + leftMs }]))
      return keys.map((key) => byName.get(key) ?? { count: 0, endsAt: 0 })
    },
    async hold(job, owner, ms) {
      const { own, others } = await times()
      return (await sql.rows(statements.hold, [job, owner, own + ms, others])).length > 0
    },
    async release(job, owner) {
      await sql.rows(statements.release, [job, owner])
    },
  }
}

const toRecord = ([key, value, version, expiresAt]: Row): SharedRecord => ({ key, value, version, expiresAt })
