import type { DatabaseSync } from 'node:sqlite'
import type { NewFeedItem } from '../../../domain/session/feed.ts'
import type { FeedReads } from '../../ports/feed.ts'
import { FEED_ITEMS_AFTER, feedColumns, feedValues, toFeedItem } from '../../tables/feed.ts'
import { insertRow, type Reading } from '../../tables/statement.ts'
import type { LiveState } from '../live-sessions.ts'
import { translated } from '../statements.ts'

/** Adds items to the feed and removes old ones. */
export function createFeedTable(db: DatabaseSync, state: LiveState) {
  const last = db.prepare('SELECT max(n) AS n FROM feed')
  const insert = db.prepare(translated(insertRow('feed', `n, ${Object.keys(feedColumns).join(', ')}`).text))
  // Items are roughly ordered by time, so a scan from the first item finds the old ones without an index.
  const firstSince = db.prepare('SELECT n FROM feed WHERE at >= ? ORDER BY n LIMIT 1')
  const removeBefore = db.prepare('DELETE FROM feed WHERE n < ?')

  return {
    /** Finds the last number. Call it once, when the store opens. */
    load(): void {
      const n = Number(last.get()?.n ?? 0)
      state.feed.written = n
      state.feed.shown = n
    },
    add(items: readonly NewFeedItem[]): void {
      const before = state.feed.written
      state.onRollback(() => (state.feed.written = before))
      for (const item of items) {
        state.feed.written += 1
        insert.run(state.feed.written, ...feedValues(item))
      }
    },
    /** Removes items older than `before`, and all but the newest `kept`. The newest item stays, because the next number follows it. */
    removeOld(before: number, kept: number): void {
      const { written } = state.feed
      const young = Number(firstSince.get(before)?.n ?? written)
      removeBefore.run(Math.min(Math.max(young, written - kept + 1), written))
    },
  }
}

export function createFeedReads({ one, many }: Reading, state: LiveState): FeedReads {
  const items = many({ name: 'feed_items', text: `${FEED_ITEMS_AFTER} AND n <= $3 ORDER BY n LIMIT $2` }, toFeedItem)
  const oldest = one({ name: 'feed_oldest', text: 'SELECT min(n) FROM feed' }, ([n]: [number | null]) => n)
  return {
    items: (after, limit) => items(after, limit, state.feed.shown),
    head: async () => state.feed.shown,
    oldest: async () => (await oldest()) ?? 1,
  }
}
