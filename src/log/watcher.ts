// One reader of one session. It is pushed what was just committed while it keeps up; when it lags it forgets what was pushed
// and reads the log instead, so that a slow reader costs a bounded buffer and nobody waits for it.

import type { Entry } from '../domain/entry.ts'
import type { StoredEntry } from '../store/store.ts'
import { createCompactedReader } from './compact.ts'

export interface Watcher {
  /** What comes next, at least one entry; null once closed. */
  next(): Promise<readonly Entry[] | null>
  close(): void
}

export interface WatcherHandle extends Watcher {
  /** Entries that were committed together, in order; an empty batch only says "look". */
  push(batch: readonly Entry[]): void
}

export interface WatcherOptions {
  after: number
  /** At most `limit`, and none more once there are `maxChars` of data. */
  read(seq: number, limit: number, maxChars: number): Promise<StoredEntry[]>
  onClose(): void
}

const BUFFER_LIMIT = 256 * 1024
const READ_LIMIT = 512
/** What a reader holds that lags: this much and one entry, however large entries are. */
const READ_CHARS = 64 * 1024

export function createWatcher({ after, read, onClose }: WatcherOptions): WatcherHandle {
  const show = createCompactedReader(after)
  let position = after
  let buffer: readonly Entry[] = []
  let buffered = 0
  // Until the first read has found the end of the log, nothing that is pushed can be known to follow.
  let behind = true
  let closed = false
  let wake: (() => void) | null = null

  function forget(): void {
    buffer = []
    buffered = 0
    behind = true
  }

  function signal(): void {
    wake?.()
    wake = null
  }

  return {
    push(batch) {
      // What was committed in between and not pushed is in the log alone.
      const isGap = buffer.length > 0 && batch[0]?.seq !== (buffer[buffer.length - 1]?.seq ?? 0) + 1
      if (batch.length === 0 || isGap) forget()
      else if (!behind) {
        for (const entry of batch) buffered += entry.data.length
        if (buffered > BUFFER_LIMIT) forget()
        else if (buffer.length === 0) buffer = batch
        else buffer = buffer.concat(batch)
      }
      signal()
    },

    async next() {
      while (!closed) {
        if (!behind) {
          const first = buffer[0]
          if (first === undefined) {
            await new Promise<void>((resolve) => {
              wake = resolve
            })
            continue
          }
          if (first.seq !== position + 1) {
            forget()
            continue
          }
          const batch = buffer
          buffer = []
          buffered = 0
          position = batch[batch.length - 1]?.seq ?? position
          return show(batch)
        }
        // What is pushed from here on follows what this read finds, or shows by its seq that it does not.
        behind = false
        const stored = await read(position, READ_LIMIT, READ_CHARS)
        const entries = show(stored)
        if (stored.length === READ_LIMIT || charsOf(stored) >= READ_CHARS) forget()
        const last = stored[stored.length - 1]
        if (last === undefined) continue
        position = last.seq
        const known = position
        buffer = buffer.filter((entry) => entry.seq > known)
        if (entries.length > 0) return entries
      }
      return null
    },

    close() {
      if (closed) return
      closed = true
      forget()
      onClose()
      signal()
    },
  }
}

const charsOf = (entries: readonly StoredEntry[]): number => entries.reduce((sum, { data }) => sum + data.length, 0)
