// Syncs the write-ahead log off the event loop. SQLite commits with synchronous=NORMAL (the frames are with the kernel, so
// they survive kill -9); what must survive a power cut waits for an fdatasync of the -wal file, made on libuv's pool. That
// is the same guarantee as synchronous=FULL without stopping every stream for the time of a sync. Header syncs on a restart
// of the WAL, and the syncs of a checkpoint, stay SQLite's own.

import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

export interface WalSync {
  /** Resolves when everything committed before this call is on disk. Calls that wait at the same time share one sync. */
  synced(): Promise<void>
  /** The same, blocking. For the rare case that nothing may happen before it. */
  syncNow(): void
  /** Waits for the sync that is under way. */
  close(): Promise<void>
}

/** `node:fs`'s, or what a test puts in its place to watch or to break it. */
export interface FileSync {
  fdatasync(fd: number, done: (error: Error | null) => void): void
  fdatasyncSync(fd: number): void
}

export function createWalSync(
  walPath: string,
  fatal: (error: Error) => void,
  disk: FileSync = { fdatasync, fdatasyncSync },
): WalSync {
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
      // The kernel may have dropped the pages it failed to write: a second sync would succeed and prove nothing.
      if (error !== null) return fatal(error)
      for (const resolve of batch) resolve()
      next()
    })
  }

  return {
    synced() {
      return new Promise((resolve) => {
        waiting.push(resolve)
        if (!running) next()
      })
    },
    syncNow() {
      try {
        disk.fdatasyncSync(fd)
      } catch (error) {
        fatal(error instanceof Error ? error : new Error(String(error)))
      }
    },
    async close() {
      while (running) await this.synced()
      closeSync(fd)
    },
  }
}
