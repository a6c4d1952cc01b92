// The store on Postgres: any number of processes may work on one database. Reads go over a few connections, and each process commits
// over one (`commit/`).

import type { Clock } from '../../domain/clock.ts'
import type { Command } from '../ports/command.ts'
import type { Shared } from '../ports/shared.ts'
import { type Store, type StoreFigures, wrapReads } from '../store.ts'
import { OPEN_RECORD_OF_ANY_KIND } from '../tables/conditions.ts'
import type { Statement } from '../tables/statement.ts'
import { type CommitterOptions, createCommitter } from './commit/committer.ts'
import { type Database, type DatabaseOptions, openDatabase } from './connection/database.ts'
import { databaseError } from './connection/database-error.ts'
import { createDatabaseTime, type DatabaseTime } from './connection/database-time.ts'
import { migrate } from './migrate.ts'
import { createReads } from './rows/reads.ts'
import { createSearchIndexer } from './search-indexer.ts'
import { createPostgresShared } from './shared-table.ts'
import { NOW } from './sql.ts'

export type PostgresOptions = DatabaseOptions & Pick<CommitterOptions, 'writerId' | 'synced'>

export interface PostgresStore extends Store {
  shared: Shared
  /** For what else needs this database: notifications, rows of readers, the bytes of files. */
  database: Database
  /** The database's clock, which all processes share. */
  time: Pick<DatabaseTime, 'lead' | 'nowForOthers'>
}

/** Runs missing migrations first, and works with those of newer versions as long as they let it. Throws `config_invalid`, `data_dir_newer`, or `storage_failed` if the database cannot be reached. */
export async function createPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { log } = options
  const database = openDatabase(options)
  try {
    const { from, unknown } = await migrate(database)
    if (unknown > 0) {
      log.warn('a newer version has changed the database; this one can still use it, and should be updated', {
        database_version: from,
        known_version: from - unknown,
      })
    }
    return await createStoreOn(database, options)
  } catch (error) {
    await database.close()
    throw databaseError(error)
  }
}

/** The store on a database that is up to date. Closing the store closes the database. */
export async function createStoreOn(
  database: Database,
  options: Omit<PostgresOptions, 'url' | 'readers'>,
): Promise<PostgresStore> {
  const { clock, log, synced, waitMs, writerId } = options
  const committer = createCommitter({ database, clock, writerId, synced, waitMs })
  await committer.open()
  const reads = createReads(database.reads, clock)
  const indexer = createSearchIndexer({
    sql: database.statements,
    clock,
    failed: (error) => log.warn('messages could not be indexed', { error }),
  })
  const figures = createFigures(database, clock)
  const time = createDatabaseTime(database, clock)

  /** Leases are kept in the database's time, so that replicas whose clocks differ agree. */
  async function withLeases(commands: readonly Command[]): Promise<readonly Command[]> {
    if (!commands.some(({ type }) => type === 'renew_lease')) return commands
    const offset = await time.offset()
    return commands.map((one) => (one.type === 'renew_lease' ? { ...one, until: one.until + offset } : one))
  }

  return {
    ...wrapReads({ ...reads, search: indexer.searched(reads.search) }, async (read) => read()),
    runs: {
      ...reads.runs,
      orphans: async (now, limit) => reads.runs.orphans(now + (await time.offsetForOthers()), limit),
    },

    async commit(commands) {
      const results = await committer.commit(await withLeases(commands))
      indexer.noticeCommit()
      return { results, synced: alreadySynced }
    },
    async check() {
      await database.impatient.rows(probe, [writerId])
    },
    figures,
    rest: database.rest,
    async close() {
      await indexer.close()
      await committer.close()
      await database.close()
    },

    shared: createPostgresShared(database.statements, clock, time),
    database,
    time,
  }
}

/** Nobody sees a synced commit before it is on disk. */
const alreadySynced = Promise.resolve()

const probe: Statement = { name: 'probe', text: 'UPDATE writers SET at = now() WHERE id = $1' }

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

function createFigures(database: Database, clock: Clock): () => Promise<StoreFigures> {
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
  return {
    inbox: waits.filter(({ kind }) => kind !== 'client_call').reduce((sum, { count }) => sum + count, 0),
    runs: { queued: runs.get('queued') ?? 0, running: runs.get('running') ?? 0, waiting: runs.get('waiting') ?? 0 },
    waits: Object.fromEntries(waits.map(({ kind, ...figures }) => [kind, figures])),
    // The database says how long they last: its clock and ours may differ.
    leases: of('lease').map(([, , , leftMs]) => now + leftMs),
    outbox: Object.fromEntries(of('outbox').map(([, channel, n]) => [channel, n])),
  }
}
