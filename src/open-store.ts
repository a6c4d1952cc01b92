// Opens the store of a data directory. Not part of app.ts: commands need a store, but none of the server's other parts, and loading
// those takes a second.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type DataDirLock, lockDataDir } from './store/sqlite/data-dir-lock.ts'
import { createSqliteStore, examineDatabase, type SqliteOptions } from './store/sqlite/sqlite-store.ts'
import type { Store } from './store/store.ts'

export { lockDataDir }

export const databaseIn = (dataDir: string): string => join(dataDir, 'quarterdeck.db')

export interface OpenStoreOptions extends Pick<SqliteOptions, 'fatal' | 'damaged'> {
  dataDir: string
  /** Keeps nothing on disk. */
  inMemory?: boolean
  /** For a caller that already holds the lock, and releases it. Without it, the lock is taken now and released by `close`. */
  lock?: DataDirLock
}

/** Throws `data_dir_locked` when another process uses the data directory. */
export function openStore({ dataDir, inMemory = false, lock, ...options }: OpenStoreOptions): Store {
  const taken = lock === undefined ? lockDataDir(dataDir) : null
  try {
    const store = createSqliteStore({ ...options, path: inMemory ? ':memory:' : databaseIn(dataDir) })
    const close = () => store.close().finally(() => taken?.release())
    return { ...store, close }
  } catch (error) {
    taken?.release()
    throw error
  }
}

/** Throws what would keep a server from using the data directory, `data_dir_locked` among it. Changes nothing in the database. */
export function examineDataDir(dataDir: string): void {
  const lock = lockDataDir(dataDir)
  try {
    // It only reads, so there is no sync that could fail.
    if (existsSync(databaseIn(dataDir))) examineDatabase(databaseIn(dataDir), () => {})
  } finally {
    lock.release()
  }
}
