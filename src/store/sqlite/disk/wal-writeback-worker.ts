// The thread that `wal-writeback.ts` starts. SQLite calls this operation a checkpoint.

import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { errcodeOf } from './storage-error.ts'

/** An error that can be sent to another thread. SQLite's code says what it means. */
export interface WritebackFailure {
  message: string
  errcode: number
}

const db = new DatabaseSync(String(workerData))
// The pages that it moves do not go through its cache.
db.exec('PRAGMA busy_timeout = 1000; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 0')
const writeBack = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')

parentPort?.on('message', () => {
  let failure: WritebackFailure | null = null
  try {
    writeBack.get()
  } catch (error) {
    failure = { message: String(error), errcode: errcodeOf(error) }
  }
  parentPort?.postMessage(failure)
})
