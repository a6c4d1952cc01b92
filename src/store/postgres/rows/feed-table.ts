import type { FeedItem } from '../../../domain/session/feed.ts'
import type { FeedReads } from '../../ports/feed.ts'
import type { Statement } from '../../tables/statement.ts'
import type { Sql } from '../sql.ts'

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

const FEED_COLUMNS = 'n, at, kind, record_id, session_id, owner, agent, status, parent_run_id, type, risk'
type FeedRow = [
  n: number,
  at: number,
  kind: FeedItem['kind'],
  id: string,
  sessionId: string,
  owner: string,
  agent: string,
  status: string,
  parentRunId: string | null,
  type: string | null,
  risk: string | null,
]

const itemsAfter: Statement = {
  name: 'feed_items',
  text: `SELECT ${FEED_COLUMNS} FROM feed WHERE n > $1 ORDER BY n LIMIT $2`,
}
const newest: Statement = { name: 'feed_head', text: 'SELECT max(n) FROM feed' }
const oldest: Statement = { name: 'feed_oldest', text: 'SELECT min(n) FROM feed' }

export function createFeedReads(sql: Sql): FeedReads {
  async function numbered<Row extends readonly unknown[]>(statement: Statement, values: readonly unknown[] = []) {
    await sql.rows(numberFeed)
    return sql.rows<Row>(statement, values)
  }

  return {
    async items(after, limit) {
      return (await numbered<FeedRow>(itemsAfter, [after, limit])).map(toFeedItem)
    },
    async head() {
      const [row] = await numbered<[number | null]>(newest)
      return row?.[0] ?? 0
    },
    async oldest() {
      const [row] = await numbered<[number | null]>(oldest)
      return row?.[0] ?? 1
    },
  }
}

function toFeedItem(row: FeedRow): FeedItem {
  const [n, at, kind, id, sessionId, owner, agent, status, parentRunId, type, risk] = row
  const subject = { n, at, id, sessionId, owner, agent }
  // The rows are ours: what was written was a `NewFeedItem`.
  if (kind === 'run') return { ...subject, kind, status, parentRunId } as FeedItem
  if (kind === 'wait') return { ...subject, kind, status, type, risk } as FeedItem
  return { ...subject, kind, status } as FeedItem
}
