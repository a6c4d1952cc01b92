// Rows of the feed, without numbers: they get them later (`feed-table.ts`).

import type { NewFeedItem } from '../../../../domain/feed.ts'
import { insertRows } from '../batch.ts'
import type { Sending } from '../sending.ts'
import { createList } from './collected-rows.ts'

const insertFeed = insertRows('insert_feed', 'feed_new', {
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
})

function feedRow(item: NewFeedItem): readonly unknown[] {
  const { at, kind, id, sessionId, owner, agent, status } = item
  const parent = item.kind === 'run' ? item.parentRunId : null
  const [type, risk] = item.kind === 'wait' ? [item.type, item.risk] : [null, null]
  return [at, kind, id, sessionId, owner, agent, status, parent, type, risk]
}

export const createFeedRows = (sending: Sending) => createList<NewFeedItem>(sending, insertFeed, feedRow)
