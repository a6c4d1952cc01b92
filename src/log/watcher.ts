// One reader of one session. It is pushed what was just committed while it keeps up; when it lags it forgets what was pushed
// and reads the log instead, so that a slow reader costs a bounded buffer and nobody waits for it.

import type { ByteBudget, Holder } from '../domain/byte-budget.ts'
import type { Entry } from '../domain/entry.ts'
import type { StoredEntry } from '../store/ports/entry.ts'
import { createCompactedReader } from './compact.ts'

export interface Watcher {
  /** What comes next, at least one entry; null once closed. To be used before the next call: a large batch is emptied by it. */
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
  /** Shared by all readers that lag. */
  room: Pick<ByteBudget, 'take' | 'takeNow' | 'turn'>
  /** Of the room. Without one that drops a slow reader it could be kept for hours. */
  holder?: Holder | undefined
}

const BUFFER_LIMIT = 256 * 1024
const READ_LIMIT = 512
/** What a reader holds that lags: this much and one entry, however large entries are. */
const READ_CHARS = 64 * 1024
/** More than this is held by one reader only while there is room for it among all: single entries can have megabytes. */
const OWN_CHARS = 2 * READ_CHARS
/** As it was read, as the text of a stream, and as its bytes. */
const COPIES = 3

export function createWatcher({ after, read, onClose, room, holder }: WatcherOptions): WatcherHandle {
  const show = createCompactedReader(after)
  let position = after
  let buffer: readonly Entry[] = []
  let buffered = 0
  // Until the first read has found the end of the log, nothing that is pushed can be known to follow.
  let behind = true
  let closed = false
  let wake: (() => void) | null = null
  /** Gives back the room of what was shown last: whoever asks for more has sent it. */
  let leaveRoom = () => {}
  /** What was read last takes room. */
  let isLarge = false
  /** There was more than one read gives: it goes on in another turn, so that others come in between. */
  let isCut = false

  /** When its room is given back: whoever waits for the next batch may still have the last one in hand. */
  function emptiedLater(entries: readonly Entry[]): readonly Entry[] {
    const batch = [...entries]
    const leave = leaveRoom
    leaveRoom = () => {
      leave()
      batch.length = 0
    }
    return batch
  }

  async function readWithin(): Promise<StoredEntry[]> {
    const stored = await read(position, READ_LIMIT, READ_CHARS)
    const chars = charsOf(stored)
    isLarge = chars > OWN_CHARS
    if (!isLarge) return stored
    const leave = room.takeNow(COPIES * chars, holder)
    if (leave !== null) {
      leaveRoom = leave
      await room.turn()
      return closed ? [] : stored
    }
    // It is let go of, and read again when there is room.
    stored.length = 0
    leaveRoom = await room.take(COPIES * chars, holder)
    if (!closed) await room.turn()
    if (closed) leaveRoom()
    return closed ? [] : read(position, READ_LIMIT, READ_CHARS)
  }

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
      leaveRoom()
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
        if (isCut) await room.turn()
        if (closed) break
        // What is pushed from here on follows what this read finds, or shows by its seq that it does not.
        behind = false
        const stored = await readWithin()
        const entries = isLarge ? emptiedLater(show(stored)) : show(stored)
        isCut = stored.length === READ_LIMIT || charsOf(stored) >= READ_CHARS
        if (isCut) forget()
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
      leaveRoom()
      onClose()
      signal()
    },
  }
}

const charsOf = (entries: readonly StoredEntry[]): number => entries.reduce((sum, { data }) => sum + data.length, 0)
