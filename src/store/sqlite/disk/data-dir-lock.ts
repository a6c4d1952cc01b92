// One server per data directory. The lock is an exclusive transaction on a small database. The kernel releases it with the
// process, so a crash never leaves a stale lock. Anybody who can open the file could hold the lock, so only this user can.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ServerError } from '../../../domain/errors.ts'
import { claimDataDir, claimFile, makeDataDir, unusable } from './private-file.ts'
import { errcodeOf } from './storage-error.ts'

export interface DataDirLock {
  release(): void
}

const SQLITE_BUSY = 5

/** Throws `data_dir_locked` if another process has the lock, `config_invalid` or `storage_full` if the directory cannot be used. */
export function lockDataDir(directory: string): DataDirLock {
  makeDataDir(directory)
  claimDataDir(directory)
  const path = join(directory, 'server.lock')
  claimFile(path, { strict: true })
  let db: DatabaseSync | null = null
  try {
    db = new DatabaseSync(path)
    db.exec('PRAGMA busy_timeout = 200; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
  } catch (cause) {
    db?.close()
    const options = { details: { data_dir: directory }, cause }
    if ((errcodeOf(cause) & 0xff) === SQLITE_BUSY) {
      throw new ServerError(
        'data_dir_locked',
        `Another Quarterdeck uses the data directory ${directory}. Stop it, or give this one its own directory with --data-dir.`,
        options,
      )
    }
    throw unusable(directory, cause instanceof Error ? cause.message : String(cause), cause)
  }
  const held = db
  return { release: () => held.close() }
}
