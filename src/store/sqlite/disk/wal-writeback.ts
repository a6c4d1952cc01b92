// Moves the write-ahead log into the database file (SQLite calls it a checkpoint). That takes two syncs, so it happens on a
// thread with its own connection, and the writer goes on meanwhile. The thread starts when there is enough to move for the
// first time, so a quiet server never pays for it.

import { extname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import type { WritebackFailure } from './wal-writeback-worker.ts'

const COMMITS_BETWEEN_LOOKS = 128
/** A page has 4 KB. */
const PAGES_WORTH_MOVING = 8_000
/** Under a constant load SQLite cannot start the log again from its beginning. Then this thread moves the rest in one go. */
const PAGES_TOO_MANY = 32_000

/** Lies beside this file: as source in a checkout, compiled in the published package. */
const script = new URL(`./wal-writeback-worker${extname(import.meta.url)}`, import.meta.url)

/** Calls `failed` when the log could not be moved. It must not return when a sync failed. */
export function createWalWriteback(db: DatabaseSync, path: string, failed: (error: unknown) => void) {
  const look = db.prepare('PRAGMA wal_checkpoint(NOOP)')
  const moveRest = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  let commits = 0
  let thread: Worker | null = null
  let working = false

  const pages = (): { log: number; left: number } => {
    const row = look.get()
    const log = Number(row?.log ?? 0)
    return { log, left: log - Number(row?.checkpointed ?? 0) }
  }

  function start(): Worker {
    const worker = new Worker(script, { workerData: path, resourceLimits: { maxOldGenerationSizeMb: 32 } })
    worker.unref()
    // When the disk is full nothing is lost: the log stays, and the next look tries again.
    worker.on('message', (failure: WritebackFailure | null) => {
      working = false
      try {
        if (failure !== null) throw Object.assign(new Error(failure.message), { errcode: failure.errcode })
        if (pages().log > PAGES_TOO_MANY) moveRest.get()
      } catch (error) {
        failed(error)
      }
    })
    worker.on('error', (error) => {
      working = false
      thread = null
      failed(error)
    })
    return worker
  }

  return {
    noticeCommit(): void {
      commits += 1
      if (commits < COMMITS_BETWEEN_LOOKS || working) return
      commits = 0
      if (pages().left < PAGES_WORTH_MOVING) return
      working = true
      thread ??= start()
      thread.postMessage('write back')
    },
    /** Ends the thread unless it is working. Its heap takes 10 MB, which nobody needs until there is more to move. */
    rest(): void {
      if (working) return
      void thread?.terminate()
      thread = null
    },
    async close(): Promise<void> {
      await thread?.terminate()
    },
  }
}
