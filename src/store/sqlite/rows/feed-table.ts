import type { DatabaseSync } from 'node:sqlite'
import type { FeedItem, NewFeedItem } from '../../../domain/session/feed.ts'
import type { FeedReads } from '../../ports/feed.ts'
import type { LiveState } from '../live-sessions.ts'
import type { Row } from './rows.ts'

/** Adds items to the feed and removes old ones. */
export interface FeedTable {
  /** Finds the last number. Call it once, when the store opens. */
  load(): void
  add(items: readonly NewFeedItem[]): void
  /** Removes items older than `before`, and all but the newest `kept`. The newest item stays, because the next number follows it. */
  removeOld(before: number, kept: number): void
}

export function createFeedTable(db: DatabaseSync, state: LiveState): FeedTable {
  const last = db.prepare('SELECT max(n) AS n FROM feed')
  const insert = db.prepare(
    `INSERT INTO feed (n, at, kind, id, session_id, owner, agent, status, parent_run_id, type, risk)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  // Items are roughly ordered by time, so a scan from the first item finds the old ones without an index.
  const firstSince = db.prepare('SELECT n FROM feed WHERE at >= ? ORDER BY n LIMIT 1')
  const removeBefore = db.prepare('DELETE FROM feed WHERE n < ?')

  return {
    load() {
      const n = Number(last.get()?.n ?? 0)
      state.feed.written = n
      state.feed.shown = n
    },
    add(items) {
      const before = state.feed.written
      state.onRollback(() => (state.feed.written = before))
      for (const item of items) {
        const { at, kind, id, sessionId, owner, agent, status } = item
        const parent = item.kind === 'run' ? item.parentRunId : null
        const [type, risk] = item.kind === 'wait' ? [item.type, item.risk] : [null, null]
        state.feed.written += 1
        insert.run(state.feed.written, at, kind, id, sessionId, owner, agent, status, parent, type, risk)
      }
    },
    removeOld(before, kept) {
      const { written } = state.feed
      const young = Number(firstSince.get(before)?.n ?? written)
      removeBefore.run(Math.min(Math.max(young, written - kept + 1), written))
    },
  }
}

export function createFeedReads(db: DatabaseSync, state: LiveState): FeedReads {
  const items = db.prepare('SELECT * FROM feed WHERE n > ? AND n <= ? ORDER BY n LIMIT ? + 0')
  const oldest = db.prepare('SELECT min(n) AS n FROM feed')
  return {
    async items(after, limit) {
      return items.all(after, state.feed.shown, limit).map(toFeedItem)
    },
    head: async () => state.feed.shown,
    oldest: async () => Number(oldest.get()?.n ?? 1),
  }
}

function toFeedItem(row: Row): FeedItem {
  const subject = {
    n: Number(row.n),
    at: Number(row.at),
    id: String(row.id),
    sessionId: String(row.session_id),
    owner: String(row.owner),
    agent: String(row.agent),
  }
  const { kind, status } = row
  // The rows are ours: what was written was a `NewFeedItem`.
  if (kind === 'run') return { ...subject, kind, status, parentRunId: row.parent_run_id ?? null } as FeedItem
  if (kind === 'wait') return { ...subject, kind, status, type: row.type, risk: row.risk } as FeedItem
  return { ...subject, kind, status } as FeedItem
}
