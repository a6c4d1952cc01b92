import { sleep } from '../../domain/clock.ts'
import type { FeedItem } from '../../domain/session/feed.ts'
import type { Feed } from '../../engine/feed.ts'
import type { SessionParts } from './take-step.ts'

/** Wakes those who wait for a change of one record. Nothing is decided here: whoever wakes reads the record again. */
export interface RecordChanges {
  /** Calls `look` after each change of this record's status, or of the session's. The returned function ends it. */
  watch(ids: { recordId: string; sessionId: string }, look: () => void): () => void
  close(): void
}

interface ChangesDeps extends Pick<SessionParts, 'clock' | 'logger'> {
  feed: Feed
}

/** After a failure of the store. */
const AGAIN_MS = 1_000

/** One reader of the feed serves all who wait, so an agent that waits costs a function and no timer. */
export function createRecordChanges({ feed, clock, logger }: ChangesDeps): RecordChanges {
  const watching = new Map<string, Set<() => void>>()
  const closing = new AbortController()
  let isRunning = false

  function wake(items: readonly FeedItem[]): void {
    for (const { id } of items) for (const look of [...(watching.get(id) ?? [])]) look()
  }

  async function follow(): Promise<void> {
    isRunning = true
    try {
      while (watching.size > 0 && !closing.signal.aborted) {
        const idle = new AbortController()
        try {
          const from = await feed.head()
          // What happened before this place of the feed is found by looking.
          for (const looks of [...watching.values()]) for (const look of [...looks]) look()
          for await (const items of feed.follow(from, AbortSignal.any([closing.signal, idle.signal]))) {
            wake(items)
            if (watching.size === 0) idle.abort()
          }
          // It ended by itself, so the feed is closed: the server stops, and nothing more comes.
          if (!idle.signal.aborted) return
        } catch (error) {
          if (closing.signal.aborted) return
          logger.warn('the feed cannot be read just now', { error })
          await sleep(clock, AGAIN_MS, closing.signal)
        }
      }
    } finally {
      isRunning = false
    }
  }

  function add(id: string, look: () => void): void {
    const looks = watching.get(id) ?? new Set()
    looks.add(look)
    watching.set(id, looks)
  }

  function remove(id: string, look: () => void): void {
    const looks = watching.get(id)
    looks?.delete(look)
    if (looks?.size === 0) watching.delete(id)
  }

  return {
    watch({ recordId, sessionId }, look) {
      add(recordId, look)
      add(sessionId, look)
      if (!isRunning) void follow()
      return () => {
        remove(recordId, look)
        remove(sessionId, look)
      }
    },
    close: () => closing.abort(),
  }
}
