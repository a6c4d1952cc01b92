// The store on node:sqlite. One connection, one transaction per `commit`, syncs off the event loop (`wal-sync.ts`).

import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ServerError } from '../../domain/errors.ts'
import { needsSync, type Result, type Store } from '../store.ts'
import { createCheckpoints } from './checkpoints.ts'
import { createCommands } from './commands.ts'
import { createEntryWriter, type EntryWriter } from './entry-writer.ts'
import { createLiveState } from './live-sessions.ts'
import { makeDataDir } from './make-folder.ts'
import { claimFile } from './private-file.ts'
import { createReads } from './reads.ts'
import { migrate } from './schema.ts'
import { storageError } from './storage-error.ts'
import { createWalSync, type FileSync, type WalSync } from './wal-sync.ts'

export interface SqliteOptions {
  /** A file, or `:memory:` for a store that lives as long as the process. */
  path: string
  /** A sync failed: what was acknowledged can no longer be vouched for. Must not return. */
  fatal: (error: Error) => void
  disk?: FileSync
}

const alreadySynced = Promise.resolve()

export function createSqliteStore({ path, fatal, disk }: SqliteOptions): Store {
  const inMemory = path === ':memory:'
  if (!inMemory) {
    makeDataDir(dirname(path))
    // Before SQLite makes it: what people said is for this user alone. The files beside it get the same mode.
    claimFile(path)
  }
  const failed = (error: unknown) => storageError(error, fatal)
  const db = new DatabaseSync(path)
  const state = createLiveState()
  let sync: WalSync | null = null
  let writer: EntryWriter
  try {
    db.exec('PRAGMA busy_timeout = 1000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    db.exec('PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY')
    migrate(db)
    // Whoever holds the data directory's lock is the only process: leases of earlier ones are void.
    db.exec('DELETE FROM leases')
    if (!inMemory) sync = createWalSync(`${path}-wal`, fatal, disk)
    writer = createEntryWriter(db, state, sync)
    writer.recoverTail()
  } catch (error) {
    // It is not closed: that would move the log of a newer version into its database.
    throw failed(error)
  }
  const apply = createCommands(db, state, writer)
  const checkpoints = inMemory ? null : createCheckpoints(db, path, failed)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')
  // A lease that has long run out: writing it disturbs nobody.
  const probe = db.prepare("INSERT OR REPLACE INTO leases (owner, until) VALUES ('health check', 0)")

  return {
    ...createReads(db, state),

    async commit(commands) {
      const results: Result[] = []
      let sealed = false
      state.begin()
      writer.begin()
      try {
        begin.run()
        for (const command of commands) {
          try {
            results.push(apply(command))
            sealed ||= needsSync(command)
          } catch (error) {
            if (!(error instanceof ServerError)) throw error
            results.push({ ok: false, error })
          }
        }
        writer.finish()
        commit.run()
      } catch (error) {
        if (db.isTransaction) rollback.run()
        state.rollback()
        throw failed(error)
      }
      writer.committed()
      checkpoints?.noticeCommit()
      return { results, synced: sealed && sync !== null ? sync.synced() : alreadySynced }
    },

    async check() {
      try {
        probe.run()
      } catch (error) {
        throw failed(error)
      }
    },

    rest() {
      // Its page cache; every page comes back from the file.
      db.exec('PRAGMA shrink_memory')
      checkpoints?.rest()
    },

    async close() {
      await checkpoints?.close()
      await sync?.close()
      db.close()
    },
  }
}
