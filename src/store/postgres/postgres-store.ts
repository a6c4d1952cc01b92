// The store on Postgres: any number of processes may work on one database. Reads go over a few connections, and each process commits
// over one (`commit/`).

import type { Clock } from '../../domain/clock.ts'
import { createIds } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import type { Command } from '../ports/command.ts'
import type { Shared } from '../ports/shared.ts'
import type { Store } from '../store.ts'
import { wrapReads } from '../store-reads.ts'
import { createCommitter } from './commit/committer.ts'
import { type Database, openDatabase } from './connection/database.ts'
import { databaseError } from './connection/database-error.ts'
import { createDatabaseTime, type DatabaseTime } from './connection/database-time.ts'
import { createFigures } from './figures.ts'
import { migrate } from './migrate.ts'
import { createReads } from './rows/reads.ts'
import { createSearchIndexer } from './search-indexer.ts'
import { createPostgresShared } from './shared-table.ts'
import type { Statement } from './sql.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:5432/database`. May name several hosts: the first that is not a standby is used. */
  url: string
  clock: Clock
  log: Logger
  /** How far a synced commit must have come: on the server's disk (`on`), or also visible on its standbys. */
  synced?: 'on' | 'remote_apply'
  /** How long callers wait for a database that is away. */
  waitMs?: number
  /** Connections for reads. */
  readers?: number
  /** Names this process. Left out: a new name. Two processes must never use one name. */
  writerId?: string
}

export interface PostgresStore extends Store {
  shared: Shared
  /** For what else needs this database: notifications, rows of readers, the bytes of files. */
  database: Database
  /** The database's clock, which all processes share. */
  time: Pick<DatabaseTime, 'lead' | 'nowForOthers'>
}

const WAIT_MS = 10_000

/** Runs missing migrations first, and works with those of newer versions as long as they let it. Throws `config_invalid`, `data_dir_newer`, or `storage_failed` if the database cannot be reached. */
export async function createPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { url, clock, log, waitMs = WAIT_MS, readers } = options
  const database = openDatabase({ url, clock, log, waitMs, ...(readers === undefined ? {} : { readers }) })
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
  const { clock, log, synced = 'on', waitMs = WAIT_MS } = options
  const writerId = options.writerId ?? createIds(() => clock.now()).uuid()
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
