// Syncs the write-ahead log outside the event loop. SQLite commits with synchronous=NORMAL: the kernel has the data, so it
// survives kill -9. What must survive a power cut waits for an fdatasync of the -wal file on libuv's threads. That gives the
// guarantee of synchronous=FULL without stopping every stream during a sync. SQLite itself still syncs when it restarts the log
// and when the log is written back.

import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

export type WalSync = ReturnType<typeof createWalSync>

/** Functions of `node:fs`. A test may replace them to watch or break syncs. */
export interface FileSync {
  fdatasync(fd: number, done: (error: Error | null) => void): void
  fdatasyncSync(fd: number): void
}

export function createWalSync(
  walPath: string,
  fatal: (error: Error) => void,
  disk: FileSync = { fdatasync, fdatasyncSync },
) {
  const fd = openSync(walPath, 'r+')
  const folder = openSync(dirname(walPath), 'r')
  fsyncSync(folder)
  closeSync(folder)

  let running = false
  let waiting: (() => void)[] = []

  function next(): void {
    if (waiting.length === 0) {
      running = false
      return
    }
    running = true
    const batch = waiting
    waiting = []
    disk.fdatasync(fd, (error) => {
      // The kernel may have dropped the pages that it failed to write. A second sync would succeed and prove nothing.
      if (error !== null) return fatal(error)
      for (const resolve of batch) resolve()
      next()
    })
  }

  return {
    /** Resolves once everything that was committed before this call is on disk. Waiting calls share one sync. */
    synced(): Promise<void> {
      return new Promise((resolve) => {
        waiting.push(resolve)
        if (running) return
        running = true
        // Not at once: one commit may ask twice, for its entries and for its block of seqs.
        queueMicrotask(next)
      })
    },
    /** The same, but blocking, for the rare case that nothing else may happen first. */
    syncNow(): void {
      try {
        disk.fdatasyncSync(fd)
      } catch (error) {
        fatal(error instanceof Error ? error : new Error(String(error)))
      }
    },
    /** Waits for a running sync. */
    async close(): Promise<void> {
      while (running) await this.synced()
      closeSync(fd)
    },
  }
}
