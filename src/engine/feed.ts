import { ServerError } from '../domain/errors.ts'
import type { FeedItem } from '../domain/session/feed.ts'
import type { Wake } from '../log/wake.ts'
import type { FeedReads } from '../store/ports/feed.ts'

/** The feed of state changes across all sessions, for those who watch many of them. */
export interface Feed {
  /** The number of the newest item; 0 when there was none. */
  head(): Promise<number>
  /** The number of the oldest item that can be read; one more than `head` when there is none. */
  oldest(): Promise<number>
  /** Throws `events_gone` when items after this number were removed, or when the number was never given out. */
  assertKept(after: number): Promise<void>
  /**
   * All items after this number, each once and in order, then live until the signal aborts or the feed is closed. Items are read
   * from the store when you ask for them, so a slow reader costs nothing. Throws `events_gone`, also later, when a reader lags so
   * far behind that its next items were removed.
   */
  follow(after: number, signal: AbortSignal): AsyncIterable<readonly FeedItem[]>
  /** Items after this number that can be read now. Throws `events_gone`. */
  items(after: number, limit: number): Promise<FeedItem[]>
  /** Ends all readers. */
  close(): void
}

const READ_LIMIT = 256

export function createFeed({ store, wake }: { store: FeedReads; wake: Wake }): Feed {
  /** Wakes each reader that waits. */
  const readers = new Set<() => void>()
  /** Reads under way, by their place: readers at the same place share one. A read that began before the last news may lack them. */
  const reading = new Map<number, Promise<FeedItem[]>>()
  let isClosed = false
  const member = wake.join('feed', wakeReaders)

  function wakeReaders(): void {
    reading.clear()
    for (const look of [...readers]) look()
  }

  async function assertKept(after: number): Promise<void> {
    // The head is read first: while it is, items can only be added, and a removal is seen by the second read.
    const head = await store.head()
    const oldest = await store.oldest()
    if (after <= head && after >= oldest - 1) return
    const place = `f.${after}`
    const reason = after > head ? 'was never given out' : 'is too old: items that followed it were removed'
    throw new ServerError(
      'events_gone',
      `The feed cannot go on: ${place} ${reason}. Connect without it, and read again what you show. For operators, /inbox has a cursor to go on from.`,
      {
        details: { after: place, oldest: `f.${oldest}`, snapshot: '/inbox' },
      },
    )
  }

  async function items(after: number, limit: number): Promise<FeedItem[]> {
    const found = await store.items(after, limit)
    // There can be gaps between numbers, but none where items were removed.
    if (found[0] !== undefined && found[0].n !== after + 1) await assertKept(after)
    return found
  }

  function sharedItems(after: number): Promise<FeedItem[]> {
    const started = reading.get(after)
    if (started !== undefined) return started
    const found = items(after, READ_LIMIT).finally(() => {
      if (reading.get(after) === found) reading.delete(after)
    })
    reading.set(after, found)
    return found
  }

  async function* follow(after: number, signal: AbortSignal): AsyncGenerator<readonly FeedItem[]> {
    let position = after
    let hasNews = true
    let resume = () => {}
    const look = () => {
      hasNews = true
      resume()
    }
    readers.add(look)
    signal.addEventListener('abort', look)
    try {
      await assertKept(position)
      while (!isClosed && !signal.aborted) {
        hasNews = false
        const found = await sharedItems(position)
        position = found.at(-1)?.n ?? position
        if (found.length > 0) yield found
        else if (!hasNews) {
          await new Promise<void>((resolve) => {
            resume = resolve
          })
        }
      }
    } finally {
      readers.delete(look)
      signal.removeEventListener('abort', look)
    }
  }

  return {
    head: () => store.head(),
    oldest: () => store.oldest(),
    assertKept,
    follow,
    items,
    close() {
      isClosed = true
      member.leave()
      wakeReaders()
    },
  }
}
