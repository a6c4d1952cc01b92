import type { FeedItem } from '../../domain/feed.ts'

/**
 * The feed of state changes across sessions. Each command writes its items in its own transaction.
 *
 * No item ever appears behind a number that was already given out: a store in which transactions overlap shows items only up to
 * the oldest open one. And only items that are on disk are shown, so a number that a reader has seen never comes to mean
 * something else, not even after a power cut.
 */
export interface FeedReads {
  /** At most `limit` items after number `after`, in order. */
  items(after: number, limit: number): Promise<FeedItem[]>
  /** The number of the newest item, 0 when there was none. */
  head(): Promise<number>
  /** The number of the oldest item that is kept. Someone who read up to a number before it may have missed items. */
  oldest(): Promise<number>
}

/** Items are kept for this long, and no more than this many. The newest one always stays. */
export const FEED_MS = 7 * 24 * 60 * 60 * 1000
export const FEED_ITEMS = 100_000
