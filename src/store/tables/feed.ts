// Items of the feed.

import type { FeedItem, NewFeedItem } from '../../domain/session/feed.ts'

/** In the order of `feedValues`. */
export const feedColumns = {
  at: 'bigint',
  kind: 'text',
  record_id: 'text',
  session_id: 'text',
  owner: 'text',
  agent: 'text',
  status: 'text',
  parent_run_id: 'text',
  type: 'text',
  risk: 'text',
} as const

export function feedValues(item: NewFeedItem): (string | number | null)[] {
  const { at, kind, id, sessionId, owner, agent, status } = item
  const parent = item.kind === 'run' ? item.parentRunId : null
  const [type, risk] = item.kind === 'wait' ? [item.type, item.risk] : [null, null]
  return [at, kind, id, sessionId, owner, agent, status, parent, type, risk]
}

/** The items after `$1`. */
export const FEED_ITEMS_AFTER = `SELECT n, ${Object.keys(feedColumns).join(', ')} FROM feed WHERE n > $1`

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

export function toFeedItem(row: FeedRow): FeedItem {
  const [n, at, kind, id, sessionId, owner, agent, status, parentRunId, type, risk] = row
  // The rows are ours: what was written was a `NewFeedItem`.
  if (kind === 'run') return { n, at, id, sessionId, owner, agent, kind, status, parentRunId } as FeedItem
  if (kind === 'wait') return { n, at, id, sessionId, owner, agent, kind, status, type, risk } as FeedItem
  return { n, at, id, sessionId, owner, agent, kind, status } as FeedItem
}
