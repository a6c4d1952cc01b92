// One reader of one session. While it keeps up, it is pushed what was just committed. When it lags, it drops what was pushed and
// reads the store instead. So a slow reader costs a bounded buffer, and nobody waits for it.

import type { ByteBudget, Holder } from '../domain/byte-budget.ts'
import type { Entry } from '../domain/session/entry.ts'
import type { StoredEntry } from '../store/ports/journal.ts'
import { createCompactedReader } from './compact.ts'

export interface Watcher {
  /** The next entries, at least one; null once it is closed. Use them before the next call, which empties a large batch. */
  next(): Promise<readonly Entry[] | null>
  close(): void
}

export interface WatcherHandle extends Watcher {
  /** Entries that were committed together, in order. An empty batch says: look into the store. */
  push(batch: readonly Entry[]): void
  /** Seq of the last entry that it has given or holds. */
  readonly end: number
}

export interface WatcherOptions {
  after: number
  /** Stored entries after `seq`: at most `limit`, and no more once they have `maxChars` characters of data. */
  read(seq: number, limit: number, maxChars: number): Promise<StoredEntry[]>
  onClose(): void
  /** Memory for large entries, shared by all readers. */
  budget: Pick<ByteBudget, 'take' | 'takeNow' | 'turn'>
  /** Answers for the memory that this reader takes. It should close a slow reader, which could keep the memory for hours. */
  holder?: Holder | undefined
}

const BUFFER_LIMIT = 256 * 1024
const READ_LIMIT = 512
/** A read ends once it has this many characters: it gives at most one entry more, however large that is. */
const READ_CHARS = 64 * 1024
/** A reader takes from the budget to hold more characters than this. A single entry can have megabytes. */
const OWN_CHARS = 2 * READ_CHARS
/** A large entry is in memory three times: as it was read, as text of the stream, and as bytes. */
const COPIES = 3

export function createWatcher({ after, read, onClose, budget, holder }: WatcherOptions): WatcherHandle {
  const show = createCompactedReader(after)
  let position = after
  let buffer: readonly Entry[] = []
  let buffered = 0
  // Nothing that is pushed is known to follow until a read has found the end of the log.
  let behind = true
  let closed = false
  let wake: (() => void) | null = null
  /** Gives back the memory of the last batch. Asking for the next batch means that the last one was sent. */
  let release = () => {}
  /** Whether the last read took from the budget. */
  let isLarge = false
  /** Whether the last read left entries behind. The next one waits for another turn of the loop, so that others get theirs. */
  let isCut = false

  /** A copy that is emptied when its memory is given back: whoever waits for the next batch may still hold this one. */
  function emptiedLater(entries: readonly Entry[]): readonly Entry[] {
    const batch = [...entries]
    const leave = release
    release = () => {
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
    const leave = budget.takeNow(COPIES * chars, holder)
    if (leave !== null) {
      release = leave
      await budget.turn()
      return closed ? [] : stored
    }
    // The budget is used up: drop what was read, and read it again when there is enough.
    stored.length = 0
    release = await budget.take(COPIES * chars, holder)
    if (!closed) await budget.turn()
    if (closed) release()
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
    get end() {
      return buffer[buffer.length - 1]?.seq ?? position
    },

    push(batch) {
      // What was committed in between was not pushed: only the store has it.
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
      release()
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
        if (isCut) await budget.turn()
        if (closed) break
        // What is pushed from here on follows what this read finds. If it does not, its seq shows that.
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
      release()
      onClose()
      signal()
    },
  }
}

const charsOf = (entries: readonly StoredEntry[]): number => entries.reduce((sum, { data }) => sum + data.length, 0)
