// One reader of one session. While it keeps up, it is pushed what was just committed. When it lags, it drops what was pushed and
// reads the store instead. So a slow reader costs a bounded buffer, and nobody waits for it.

import type { ByteBudget, Holder } from '../domain/byte-budget.ts'
import type { Entry } from '../domain/session/entry.ts'
import type { StoredEntry } from '../store/ports/journal.ts'
import { createCompactedReader } from './compact.ts'

export interface Watcher {
  /**
   * The next entries, at least one, or done once it is closed. Use them before the next call, which empties a large batch. Ask again
   * only when this has resolved. There is one call per token, so this promise is all that an entry costs on its way to its reader.
   */
  next(): Promise<IteratorResult<readonly Entry[], undefined>>
  /** With a reason, `next` rejects with it. */
  close(why?: Error): void
  /** It began in the turn of the loop in which its first entries were shown, so it has missed nothing, also no deletion. */
  readonly isFresh: boolean
}

export interface WatchOptions {
  /** Answers for the memory that this reader takes. It should close a slow reader, which could keep the memory for hours. */
  holder?: Holder | undefined
  /** What the reader wants to see of these entries. It gets every entry once, in order. */
  pick?: (entries: readonly Entry[]) => readonly Entry[]
  /** Called once when the reader is closed, whoever closes it. */
  onClose?: () => void
}

export interface WatcherHandle extends Watcher {
  /** Entries that were committed together, in order. An empty batch says: look into the store. */
  push(batch: readonly Entry[]): void
  /** Seq of the last entry that it has given or holds. */
  end(): number
}

export interface WatcherOptions extends WatchOptions {
  after: number
  /** The entries after `after`, if they were committed just now: then nothing has to be read. */
  fresh?: readonly Entry[]
  /** Stored entries after `seq`: at most `limit`, and no more once they have `maxChars` characters of data. */
  read(seq: number, limit: number, maxChars: number): Promise<StoredEntry[]>
  /** Memory for large entries, shared by all readers. */
  budget: Pick<ByteBudget, 'take' | 'takeNow' | 'turn'>
}

const BUFFER_LIMIT = 256 * 1024
const READ_LIMIT = 512
/** A read ends once it has this many characters: it gives at most one entry more, however large that is. */
const READ_CHARS = 64 * 1024
/** A reader takes from the budget to hold more characters than this. A single entry can have megabytes. */
const OWN_CHARS = 2 * READ_CHARS
/** A large entry is in memory three times: as it was read, as text of the stream, and as bytes. */
const COPIES = 3

const all = (entries: readonly Entry[]): readonly Entry[] => entries

export function createWatcher(options: WatcherOptions): WatcherHandle {
  const { after, fresh = [], read, onClose, budget, holder, pick = all } = options
  const unseen = createCompactedReader(after)
  const isFresh = fresh.length > 0 && charsOf(fresh) <= BUFFER_LIMIT
  let position = after
  let buffer: readonly Entry[] = isFresh ? fresh : []
  let buffered = charsOf(buffer)
  // Nothing that is pushed is known to follow until a read has found the end of the log.
  let behind = !isFresh
  let closed = false
  let reason: Error | null = null
  /** Who waits for the next entries. */
  let waiting: PromiseWithResolvers<IteratorResult<readonly Entry[], undefined>> | null = null
  let isReading = false
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

  /** Gives the entries to who waits for them, if there is anything to see in them. */
  function give(entries: readonly Entry[]): void {
    if (entries.length === 0) return
    waiting?.resolve({ done: false, value: entries })
    waiting = null
  }

  /** Serves who waits: with what was pushed, with what the log has, or with the end. */
  function serve(): void {
    if (waiting === null || isReading) return
    const first = buffer[0]
    if (closed) {
      if (reason === null) waiting.resolve({ done: true, value: undefined })
      else waiting.reject(reason)
      waiting = null
    } else if (behind || (first !== undefined && first.seq !== position + 1)) {
      void readOn()
    } else if (first !== undefined) {
      const batch = buffer
      buffer = []
      buffered = 0
      position = batch[batch.length - 1]?.seq ?? position
      give(pick(unseen(batch)))
    }
  }

  async function readOn(): Promise<void> {
    isReading = true
    forget()
    try {
      while (behind && !closed && waiting !== null) {
        if (isCut) await budget.turn()
        if (closed) break
        // What is pushed from here on follows what this read finds. If it does not, its seq shows that.
        behind = false
        const stored = await readWithin()
        const shown = pick(unseen(stored))
        const entries = isLarge ? emptiedLater(shown) : shown
        isCut = stored.length === READ_LIMIT || charsOf(stored) >= READ_CHARS
        if (isCut) forget()
        position = stored[stored.length - 1]?.seq ?? position
        const known = position
        buffer = buffer.filter((entry) => entry.seq > known)
        give(entries)
      }
    } catch (error) {
      close(error as Error)
    }
    isReading = false
    serve()
  }

  function close(why: Error | null = null): void {
    if (closed) return
    closed = true
    reason = why
    forget()
    release()
    onClose?.()
    serve()
  }

  return {
    end: () => buffer[buffer.length - 1]?.seq ?? position,

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
      serve()
    },

    next() {
      release()
      waiting = Promise.withResolvers()
      const { promise } = waiting
      serve()
      return promise
    },

    close,
    isFresh,
  }
}

const charsOf = (entries: readonly StoredEntry[]): number => entries.reduce((sum, { data }) => sum + data.length, 0)
