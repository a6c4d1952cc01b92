// Changes that few commands bring. Each is a statement, or a few.

import type { SessionRecord } from '../../../../domain/session/session.ts'
import type { AuditEntry } from '../../../../domain/supervision/audit.ts'
import { FEED_ITEMS, FEED_MS } from '../../../ports/feed.ts'
import type { ChangeOf } from '../../../rules/rows.ts'
import { eraseRows, expiredRows } from '../../../tables/row-writes.ts'
import { jsonOrNull } from '../../../tables/sessions.ts'
import type { Statement } from '../../../tables/statement.ts'
import { numberFeed, removeOldFeed } from '../../rows/feed-table.ts'
import { eraseSearch, sessionIsDue, titleIsDue } from '../../rows/search-table.ts'
import { columnsOf, type Sending } from '../batch.ts'

const sql = {
  // Without a place: it is not part of this store's own list.
  importAudit: `INSERT INTO audit (chain, n, text, hash, place)
    SELECT chain, n, text, hash, NULL FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[]) AS g (chain, n, text, hash)`,
  setSupervision: `UPDATE sessions SET owner = $2, last_activity = $3, last_tool = $4, supervision = $5, supervised_status = $6,
    workspace = $7, token_id = $8, mcp_ids = $9::text[] WHERE id = $1`,
  bury: `UPDATE sessions SET status = 'terminated', supervision = NULL, supervised_status = NULL, workspace = NULL, token_id = NULL,
    mcp_ids = NULL, terminated_at = $2, alias = NULL, label = NULL, active_agent = NULL, metadata = '{}', state = NULL,
    last_tool = NULL, message_count = 0, tokens = 0, title = NULL, failure = NULL WHERE id = $1`,
  removeSession: 'DELETE FROM sessions WHERE id = $1',
  removeHead: 'DELETE FROM heads WHERE session = $1',
  // One statement for each index: the session's own messages, and those of sub-agents.
  supersede: `UPDATE messages SET superseded_by = $3 WHERE session = $1 AND superseded_by IS NULL AND lane IS NULL
    AND ord > coalesce((SELECT ord FROM messages WHERE session = $1 AND id = $2), 0)`,
  supersedeLanes: `UPDATE messages SET superseded_by = $3 WHERE session = $1 AND superseded_by IS NULL AND lane IS NOT NULL
    AND ord > coalesce((SELECT ord FROM messages WHERE session = $1 AND id = $2), 0)`,
  setCompacted: 'UPDATE sessions SET compacted = true WHERE id = $1',

  removeWriters: `DELETE FROM writers WHERE at < now() - interval '7 days' AND id <> $1`,
} as const

const erased = [
  'idempotency WHERE run_id IN (SELECT id FROM runs WHERE session = $1)',
  ...['entries', 'messages', 'runs', 'routes', 'readers'].map((table) => `${table} WHERE session = $1`),
].map((rows): Statement => ({ name: `erase_${rows.split(' ')[0]}`, text: `DELETE FROM ${rows}` }))

type Name = keyof typeof sql
const statements = Object.fromEntries(
  Object.entries(sql).map(([name, text]) => [name, { name: `rare_${name}`, text }]),
) as Record<Name, Statement>

export const { setSupervision } = statements

/** What queries look for in `supervision` has columns of its own. */
export function supervisionValues({ id, owner, lastActivity, lastTool, supervision }: SessionRecord): unknown[] {
  const { status, workspaceRoot, tokenId, mcp } = supervision ?? {}
  const own = [jsonOrNull(supervision), status, workspaceRoot, tokenId, mcp?.map((one) => one.id)]
  return [id, owner, lastActivity, lastTool, ...own.map((value) => value ?? null)]
}

export function createRareRows({ send }: Sending, { writerId }: { writerId: string }) {
  const run = (name: Name, ...values: unknown[]): void => send(statements[name], values)

  function erase(sessionId: string): void {
    for (const statement of [...eraseSearch, ...erased, ...eraseRows]) send(statement, [sessionId])
  }

  return {
    titleIsDue: (sessionId: string): void => send(titleIsDue, [sessionId]),
    updateSupervision(before: SessionRecord, session: SessionRecord): void {
      const [old, now] = [before.supervision, session.supervision]
      const isNews = old?.title !== now?.title || old?.prompt !== now?.prompt || before.owner !== session.owner
      if (isNews) send(titleIsDue, [session.id])
      // Words are found by their owner.
      if (before.owner !== session.owner) send(sessionIsDue, [session.id])
      run('setSupervision', ...supervisionValues(session))
    },
    bury(sessionId: string, at: number): void {
      erase(sessionId)
      run('bury', sessionId, at)
    },
    remove(sessionId: string): void {
      erase(sessionId)
      run('removeSession', sessionId)
      run('removeHead', sessionId)
    },
    supersede(sessionId: string, after: string, byRun: string): void {
      run('supersede', sessionId, after, byRun)
      run('supersedeLanes', sessionId, after, byRun)
    },
    setCompacted: (sessionId: string): void => run('setCompacted', sessionId),
    removeExpired(change: ChangeOf<'remove_expired'>): void {
      for (const { statement, before } of expiredRows) send(statement, [before(change)])
      send(numberFeed, [])
      send(removeOldFeed, [change.now - FEED_MS, FEED_ITEMS])
      run('removeWriters', writerId)
    },
    importAudit(entries: readonly AuditEntry[]): void {
      run('importAudit', ...columnsOf(entries.map(({ chain, n, text, hash }) => [chain, n, text, hash])))
    },
  }
}
