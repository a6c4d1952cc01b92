import type { FeedReads } from '../../ports/feed.ts'
import { FEED_ITEMS_AFTER, toFeedItem } from '../../tables/feed.ts'
import type { Reading, Statement } from '../../tables/statement.ts'

/** Numbers what was committed so far. Costs a look at an empty table if there is nothing. */
export const numberFeed: Statement = { name: 'feed_number', text: 'SELECT number_feed()' }

/**
 * Removes items from before `$1`, and all but the newest `$2`. The newest item stays, because the next number follows it. Call
 * `numberFeed` first. Items are roughly ordered by time, so the first young one is found without an index.
 */
export const removeOldFeed: Statement = {
  name: 'feed_remove_old',
  text: `WITH last AS (SELECT max(n) AS n FROM feed),
      young AS (SELECT n FROM feed WHERE at >= $1 ORDER BY n LIMIT 1)
    DELETE FROM feed USING last
    WHERE feed.n < least(greatest(coalesce((SELECT n FROM young), last.n), last.n - $2 + 1), last.n)`,
}

const numberOf = ([n]: [number | null]): number | null => n

export function createFeedReads({ one, many }: Reading): FeedReads {
  const number = many(numberFeed, () => null)
  const items = many({ name: 'feed_items', text: `${FEED_ITEMS_AFTER} ORDER BY n LIMIT $2` }, toFeedItem)
  const newest = one({ name: 'feed_head', text: 'SELECT max(n) FROM feed' }, numberOf)
  const oldest = one({ name: 'feed_oldest', text: 'SELECT min(n) FROM feed' }, numberOf)

  return {
    async items(after, limit) {
      await number()
      return items(after, limit)
    },
    async head() {
      await number()
      return (await newest()) ?? 0
    },
    async oldest() {
      await number()
      return (await oldest()) ?? 1
    },
  }
}
