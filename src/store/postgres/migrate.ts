// Brings the tables up to date. Several processes may start at once: one of them works, and the others wait for it.
//
// A program also starts on tables that a newer one has changed, as long as it can use them: in a rolling update, servers of the old
// version may have to start again. The table `schema_versions` says who can.

import { ServerError } from '../../domain/errors.ts'
import { beforeFirstRelease } from '../before-first-release.ts'
import type { Statement } from '../tables/statement.ts'
import type { Connection } from './connection/connect.ts'
import type { Database } from './connection/database.ts'
import { databaseError, sqlState } from './connection/database-error.ts'
import { type Migration, migrations } from './schema.ts'
import type { Sql } from './sql.ts'

export interface MigrationPlan {
  /** How many migrations the database has, and how many it will have. */
  from: number
  to: number
  missing: readonly Migration[]
  /** How many migrations it has that this program does not know. It can use the tables all the same. */
  unknown: number
  /** How many servers run now that could not use the tables any more. */
  shutOut: number
}

export interface MigrateOptions {
  /** The migrations of this program. */
  known?: readonly Migration[]
  /** Also while servers run that it shuts out. */
  force?: boolean
}

/** A large table may take long to change. */
const PATIENCE_MS = 60 * 60 * 1000
const settings = { lock_timeout: 0, statement_timeout: PATIENCE_MS, client_min_messages: 'warning' }
/** How long a migration waits for a table that servers use: they wait for it meanwhile. */
const LOCK_MS = 60_000

/**
 * What `migrate` would do. Throws `data_dir_newer` if only newer programs can use the database, `data_dir_older` if it is from before
 * 0.1.0, and `config_invalid` if it can never work. Changes nothing.
 */
export async function planMigration(database: Database, known = migrations): Promise<MigrationPlan> {
  await refuseOtherEncoding(database.reads)
  return planFor(known, database.reads)
}

/**
 * Runs the missing migrations, each in a transaction of its own. Returns what it did. Throws `data_dir_locked`, and changes nothing, if
 * servers run that could not use the tables any more.
 */
export async function migrate(
  database: Database,
  { known = migrations, force = false }: MigrateOptions = {},
): Promise<MigrationPlan> {
  const before = await planMigration(database, known)
  if (before.missing.length === 0) return before
  return within(database, async (connection) => {
    // Whoever has it may change a large table.
    await connection.run(`SELECT pg_advisory_lock(${LOCK}); SET lock_timeout = ${LOCK_MS}`)
    // Another process may have done it while we waited.
    const plan = await planFor(known, connection)
    if (plan.shutOut > 0 && !force) throw wouldShutOut(plan)
    await connection.run(
      `CREATE TABLE IF NOT EXISTS schema_versions (n bigint PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(),
        since text NOT NULL, needs bigint)`,
    )
    for (const [i, { sql, since, needs = null }] of plan.missing.entries()) {
      const row = `${plan.from + i + 1}, '${since}', ${needs}`
      // One message is one transaction.
      await connection.run(`BEGIN; ${sql}; INSERT INTO schema_versions (n, since, needs) VALUES (${row}); COMMIT`)
    }
    return plan
  })
}

/** "quarterdk" as a number. Any number that no other program is likely to take. */
const LOCK = 0x7175_6172_746572n

const NO_PERMISSION = '42501'
const mayNotMakeTables = (error: unknown): ServerError =>
  new ServerError(
    'config_invalid',
    `The role in the store's URL may not make tables: ${error instanceof Error ? error.message : ''}. Let it own the database: ALTER DATABASE … OWNER TO …`,
    { cause: error },
  )

async function within<T>(database: Database, work: (connection: Connection) => Promise<T>): Promise<T> {
  let connection: Connection | null = null
  try {
    connection = await database.connect(settings, PATIENCE_MS)
    return await work(connection)
  } catch (error) {
    throw sqlState(error) === NO_PERMISSION ? mayNotMakeTables(error) : databaseError(error)
  } finally {
    // The lock ends with its connection.
    await connection?.close().catch(() => {})
  }
}

/** In another encoding, a message with a letter that it does not have could never be stored. */
async function refuseOtherEncoding(sql: Sql): Promise<void> {
  const [[encoding] = ['']] = await sql.rows<[string]>({
    name: 'server_encoding',
    text: `SELECT current_setting('server_encoding')`,
  })
  if (encoding === 'UTF8') return
  throw new ServerError(
    'config_invalid',
    `The database has the encoding ${encoding}, and Quarterdeck needs UTF8. Make a new one: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`,
  )
}

async function planFor(known: readonly Migration[], sql: Sql): Promise<MigrationPlan> {
  const from = await versionOf(sql)
  if (from <= known.length) {
    const missing = known.slice(from)
    const needed = Math.max(0, ...missing.map(({ needs = 0 }) => needs))
    const shutOut = needed === 0 ? 0 : await countOlder(needed, sql)
    return { from, to: known.length, missing, unknown: 0, shutOut }
  }
  await refuseNewer(from, known.length, sql)
  return { from, to: from, missing: [], unknown: from - known.length, shutOut: 0 }
}

const USED = 1903518054

/** Says, as long as the connection lives, that a program uses the tables, and how many migrations it knows. */
export const useTables: Statement = {
  name: 'use_tables',
  text: `SELECT pg_advisory_lock_shared(${USED}, ${migrations.length})`,
}

/**
 * A server renews its lease every few seconds over this connection. One that is silent for long has died with its machine, which
 * Postgres may notice only after hours.
 */
const olderPrograms: Statement = {
  name: 'older_programs',
  text: `SELECT count(DISTINCT used.pid) FROM pg_locks AS used JOIN pg_stat_activity AS activity ON activity.pid = used.pid
    WHERE used.locktype = 'advisory' AND used.classid = ${USED} AND used.objsubid = 2 AND used.objid::bigint < $1
      AND used.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND coalesce(activity.state_change > clock_timestamp() - interval '30 s', true)`,
}

async function countOlder(needed: number, sql: Sql): Promise<number> {
  const [[n] = [0]] = await sql.rows<[number]>(olderPrograms, [needed])
  return n
}

function wouldShutOut({ to, shutOut }: MigrationPlan): ServerError {
  const who = shutOut === 1 ? 'A server runs that cannot' : `${shutOut} servers run that cannot`
  return new ServerError(
    'data_dir_locked',
    `${who} use the database any more once it is at version ${to}. Nothing was changed. Stop such servers, or upgrade them to the version in between first. To change the database all the same, run quarterdeck migrate --force`,
    { details: { servers: shutOut } },
  )
}

/** How many migrations the database has. Throws `data_dir_older` if they are from before 0.1.0: those were listed in `migrations`. */
async function versionOf(sql: Sql): Promise<number> {
  const [[isOurs, isOld] = [false, false]] = await sql.rows<[boolean, boolean]>({
    name: 'versions_table',
    text: `SELECT to_regclass('schema_versions') IS NOT NULL,
      to_regclass('migrations') IS NOT NULL AND to_regclass('heads') IS NOT NULL`,
  })
  const newest = async (table: string): Promise<number> => {
    const [[n] = [0]] = await sql.rows<[number]>({
      name: `newest_of_${table}`,
      text: `SELECT coalesce(max(n), 0) FROM ${table}`,
    })
    return n
  }
  if (isOurs) return newest('schema_versions')
  if (isOld) throw beforeFirstRelease('database', await newest('migrations'), '6665030b', 'use another database')
  return 0
}

/** The strictest of the migrations that this program does not know counts. */
const strictest: Statement = {
  name: 'migrations_needed',
  text: `SELECT unknown.needs, needed.since FROM schema_versions AS unknown LEFT JOIN schema_versions AS needed ON needed.n = unknown.needs
    WHERE unknown.n > $1 AND unknown.needs > $1 ORDER BY unknown.needs DESC LIMIT 1`,
}

async function refuseNewer(found: number, known: number, sql: Sql): Promise<void> {
  const [row] = await sql.rows<[needs: number, since: string | null]>(strictest, [known])
  if (row === undefined) return
  const [needs, since] = row
  const release = since === null ? 'a newer Quarterdeck' : `Quarterdeck ${since} or a newer one`
  throw new ServerError(
    'data_dir_newer',
    `The database is at version ${found}, and a program must know version ${needs} to use it. This Quarterdeck knows versions up to ${known}. Use ${release}.`,
    { details: { found, supported: known, needed: needs } },
  )
}
