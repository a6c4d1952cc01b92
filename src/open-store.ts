// Opens the store of a data directory. Not part of app.ts: commands need a store, but none of the server's other parts, and loading
// those takes a second.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ServerError } from './domain/errors.ts'
import { type DataDirLock, lockDataDir } from './store/sqlite/disk/data-dir-lock.ts'
import { examineDatabase, openReadOnlyStore } from './store/sqlite/read-only-store.ts'
import { createSqliteStore, type SqliteOptions } from './store/sqlite/sqlite-store.ts'
import type { Store } from './store/store.ts'
import type { ReadOnlyStore } from './store/store-reads.ts'

export { lockDataDir }

export const databaseIn = (dataDir: string): string => join(dataDir, 'quarterdeck.db')

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
