// Opens the store of a data directory. Not part of app.ts: commands need a store, but none of the server's other parts, and loading
// those takes a second.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import { createIds } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import type { SharedBlobs } from '../domain/shared-blobs.ts'
import type { Shared } from '../store/ports/shared.ts'
import type { MigrationPlan } from '../store/postgres/migrate.ts'
import type { PostgresStore } from '../store/postgres/postgres-store.ts'
import { checkWholeDatabase, copyDatabase } from '../store/sqlite/copy-database.ts'
import { type DataDirLock, lockDataDir } from '../store/sqlite/disk/data-dir-lock.ts'
import { examineDatabase, openReadOnlyStore } from '../store/sqlite/read-only-store.ts'
import { createSqliteStore, type SqliteOptions } from '../store/sqlite/sqlite-store.ts'
import type { ReadOnlyStore, Store } from '../store/store.ts'
import { databaseIn } from './data-dir.ts'

export { checkWholeDatabase, copyDatabase, lockDataDir }

interface OpenStoreOptions extends Pick<SqliteOptions, 'fatal' | 'damaged'> {
  dataDir: string
  /** Keeps nothing on disk. */
  inMemory?: boolean
  /** For a caller that already holds the lock, and releases it. Without it, the lock is taken now and released by `close`. */
  lock?: DataDirLock
}

/**
 * Opens the store to work on it. Throws `data_dir_locked` when another process uses the data directory.
 *
 * With `readOnly`, opens it to read, beside a running server or without one: it takes no lock and changes nothing. Throws
 * `data_dir_older` instead of running a migration.
 */
export function openStore(options: { dataDir: string; readOnly: true }): ReadOnlyStore
export function openStore(options: OpenStoreOptions): Store
export function openStore(options: OpenStoreOptions | { dataDir: string; readOnly: true }): Store | ReadOnlyStore {
  if ('readOnly' in options) return openReadOnlyStore(databaseIn(options.dataDir))
  const { dataDir, inMemory = false, lock, ...more } = options
  const taken = lock === undefined ? lockDataDir(dataDir) : null
  try {
    const store = createSqliteStore({ ...more, path: inMemory ? ':memory:' : databaseIn(dataDir) })
    const close = () => store.close().finally(() => taken?.release())
    return { ...store, close }
  } catch (error) {
    taken?.release()
    throw error
  }
}

/** How long a command waits for a database that is away. */
const WAIT_MS = 10_000

interface SharedOptions {
  url: string
  clock: Clock
  log: Logger
}

/** The Postgres store and the bytes of its files, for a command. Servers may use them at the same time. */
export async function openSharedStore({
  url,
  clock,
  log,
}: SharedOptions): Promise<{ store: PostgresStore; blobs: SharedBlobs }> {
  const { createPostgresStore } = await import('../store/postgres/postgres-store.ts')
  const { createPostgresBlobs } = await import('../store/postgres/blob-table.ts')
  const writerId = createIds(() => clock.now()).uuid()
  const store = await createPostgresStore({ url, clock, log, synced: 'on', waitMs: WAIT_MS, readers: 8, writerId })
  return { store, blobs: createPostgresBlobs(store.database.reads) }
}

/** The same to read, as they are at one moment. Changes nothing, and throws `data_dir_older` instead of running a migration. */
export async function openSharedReads({ url, clock, log }: SharedOptions) {
  const { openDatabase } = await import('../store/postgres/connection/database.ts')
  const { openPostgresReads } = await import('../store/postgres/read-only-store.ts')
  const { createPostgresBlobs } = await import('../store/postgres/blob-table.ts')
  const { createPostgresShared } = await import('../store/postgres/shared-table.ts')
  const { createDatabaseTime } = await import('../store/postgres/connection/database-time.ts')
  const database = openDatabase({ url, clock, log, waitMs: WAIT_MS, readers: 2 })
  try {
    // `unknown`: how many migrations the database has that this program does not know. What they have added is not read.
    const { unknown, ...stored } = await openPostgresReads(database, clock)
    const close = async () => {
      stored.close()
      await database.close()
    }
    const { reads } = database
    const shared: Pick<Shared, 'get' | 'list'> = createPostgresShared(reads, clock, createDatabaseTime(database, clock))
    return { stored, blobs: createPostgresBlobs(reads), shared, unknown, close }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** What is missing in the tables of a Postgres database. With `apply`, adds it; with `force`, whatever servers still use it. */
export async function migrateSharedStore({
  apply,
  force = false,
  url,
  clock,
  log,
}: SharedOptions & { apply: boolean; force?: boolean }): Promise<MigrationPlan> {
  const { openDatabase } = await import('../store/postgres/connection/database.ts')
  const { migrate, planMigration } = await import('../store/postgres/migrate.ts')
  const database = openDatabase({ url, clock, log, waitMs: WAIT_MS, readers: 1 })
  try {
    return await (apply ? migrate(database, { force }) : planMigration(database))
  } finally {
    await database.close()
  }
}

/** More servers on one machine than anybody runs. */
const MOST_REPLICAS = 64

/**
 * The folder of a server that shares its store with others: its caches, and what belongs to this machine. The first server on a machine
 * takes the data directory itself, the next ones take folders in it.
 */
export function lockReplicaFolder(dataDir: string): { lock: DataDirLock; dataDir: string } {
  for (let n = 1; ; n += 1) {
    const folder = n === 1 ? dataDir : join(dataDir, 'replicas', String(n))
    try {
      return { lock: lockDataDir(folder), dataDir: folder }
    } catch (error) {
      if (!(error instanceof ServerError) || error.code !== 'data_dir_locked' || n === MOST_REPLICAS) throw error
    }
  }
}

/** Throws what would keep a server from using the data directory. Changes nothing in the database. */
export function examineDataDir(dataDir: string): 'free' | 'in use' {
  const examine = () => {
    if (existsSync(databaseIn(dataDir))) examineDatabase(databaseIn(dataDir))
  }
  let lock: DataDirLock
  try {
    lock = lockDataDir(dataDir)
  } catch (error) {
    if (!(error instanceof ServerError) || error.code !== 'data_dir_locked') throw error
    examine()
    return 'in use'
  }
  try {
    examine()
  } finally {
    lock.release()
  }
  return 'free'
}
