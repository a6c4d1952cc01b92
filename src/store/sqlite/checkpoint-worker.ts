// Checkpoints on a thread of its own; `checkpoints.ts` asks for them.

import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { errcodeOf } from './storage-error.ts'

/** An error as it crosses the threads: SQLite's code says what it means. */
export interface CheckpointFailure {
  message: string
  errcode: number
}

const db = new DatabaseSync(String(workerData))
// What it moves passes by its cache.
db.exec('PRAGMA busy_timeout = 1000; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 0')
const checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')

parentPort?.on('message', () => {
  let failure: CheckpointFailure | null = null
  try {
    checkpoint.get()
  } catch (error) {
    failure = { message: String(error), errcode: errcodeOf(error) }
  }
  parentPort?.postMessage(failure)
})
