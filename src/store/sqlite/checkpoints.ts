// Moves the write-ahead log into the database file. A checkpoint syncs twice, so it runs on a thread of its own with its own
// connection; the writer goes on meanwhile. The thread is started when there is enough to move for the first time, so that a
// quiet server never pays for it.

import { extname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import type { CheckpointFailure } from './checkpoint-worker.ts'

export interface Checkpoints {
  noticeCommit(): void
  /** Ends the thread unless it works: a thread has a heap of its own, 10 MB that nobody needs until there is more to move. */
  rest(): void
  close(): Promise<void>
}

const COMMITS_BETWEEN_LOOKS = 128
/** 4 KB each. */
const PAGES_WORTH_MOVING = 8_000
/** While it is written to without a pause, SQLite cannot start the log over; then the rest is moved in one go. */
const PAGES_TOO_MANY = 32_000

/** Beside this file, as source in a checkout and compiled in the published package. */
const script = new URL(`./checkpoint-worker${extname(import.meta.url)}`, import.meta.url)

/** `failed` is told why the log could not be moved, and must not return when it was a sync that failed. */
export function createCheckpoints(db: DatabaseSync, path: string, failed: (error: unknown) => void): Checkpoints {
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
    // A checkpoint that fails for want of space loses nothing: the log stays, and the next look tries again.
    worker.on('message', (failure: CheckpointFailure | null) => {
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
    noticeCommit() {
      commits += 1
      if (commits < COMMITS_BETWEEN_LOOKS || working) return
      commits = 0
      if (pages().left < PAGES_WORTH_MOVING) return
      working = true
      thread ??= start()
      thread.postMessage('checkpoint')
    },
    rest() {
      if (working) return
      void thread?.terminate()
      thread = null
    },
    async close() {
      await thread?.terminate()
    },
  }
}
