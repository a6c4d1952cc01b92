import type { FeedItem } from '../../domain/session/feed.ts'

/**
 * The feed of state changes in all sessions. Each command writes its items in its own transaction.
 *
 * Readers miss nothing: no item appears later with a number below one that was already shown. A store with overlapping
 * transactions therefore shows items only up to the oldest open transaction. A store shows only items that are on disk, so a
 * number never changes its meaning, not even after a power cut.
 */
export interface FeedReads {
  /** At most `limit` items with numbers above `after`, in order. */
  items(after: number, limit: number): Promise<FeedItem[]>
  /** Number of the newest item, 0 if there is none. */
  head(): Promise<number>
  /** Number of the oldest item that is kept. A reader that stopped before it may have missed items. */
  oldest(): Promise<number>
}

/** A purge keeps items for this long, and at most this many. The newest item always stays. */
export const FEED_MS = 7 * 24 * 60 * 60 * 1000
export const FEED_ITEMS = 100_000
