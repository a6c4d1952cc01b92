// Changes that few commands bring. Each is a statement, or a few.

import type { SessionRecord } from '../../../../domain/session/session.ts'
import type { Checkpoint } from '../../../../domain/supervision/supervision.ts'
import { unreachable } from '../../../../domain/unreachable.ts'
import { EVERY_SESSION, grantData } from '../../../packing/stored-fields.ts'
import { FEED_ITEMS, FEED_MS } from '../../../ports/feed.ts'
import { dayOf, USAGE_DAYS } from '../../../ports/usage.ts'
import type { Change } from '../../../rules/rows.ts'
import { numberFeed, removeOldFeed } from '../../rows/feed-table.ts'
import { eraseSearch, sessionIsDue, titleIsDue } from '../../rows/search-table.ts'
import { supervisionColumns } from '../../rows/session-table.ts'
import type { Statement } from '../../sql.ts'
import type { Sending } from '../batch.ts'

/** Changes that stand for themselves: no other change of the same command is about the same row. */
type RareChange = Extract<
  Change,
  {
    write:
      | 'import_audit'
      | 'put_proposal'
      | 'insert_instruction'
      | 'update_instruction'
      | 'put_pin'
      | 'insert_grant'
      | 'remove_grant'
      | 'insert_file'
      | 'attach_files'
      | 'put_outbox_cursor'
      | 'put_delivery'
      | 'remove_delivery'
      | 'put_note'
      | 'remove_note'
      | 'renew_lease'
      | 'end_other_leases'
  }
>

const sql = {
  // Without a place: it is no part of this store's own list.
  importAudit: `INSERT INTO audit (chain, n, text, hash, place)
    SELECT chain, n, text, hash, NULL FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[]) AS g (chain, n, text, hash)`,
  putProposal: `INSERT INTO proposals (session, approval_id, diff, after) VALUES ($1, $2, $3, $4)
    ON CONFLICT (session, approval_id) DO UPDATE SET diff = excluded.diff, after = excluded.after`,
  insertInstruction: `INSERT INTO instructions (id, kind, session, owner, workspace, text, source, created_at, delivered_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
  updateInstruction: 'UPDATE instructions SET session = $2, delivered_at = $3 WHERE id = $1',
  insertCheckpoint: 'INSERT INTO checkpoints (id, session, owner, created_at, data) VALUES ($1, $2, $3, $4, $5)',
  putPin: `INSERT INTO policy_pins (workspace, sha256, text, at, by) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (workspace) DO UPDATE SET sha256 = excluded.sha256, text = excluded.text, at = excluded.at, by = excluded.by`,
  insertGrant: 'INSERT INTO grants (id, agent, scope, created_at, expires_at, data) VALUES ($1, $2, $3, $4, $5, $6)',
  removeGrant: 'DELETE FROM grants WHERE id = $1',
  insertFile: `INSERT INTO files (id, session, owner, name, mime_type, bytes, sha256, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
  attachFiles: 'UPDATE files SET session = $1 WHERE id = ANY($2::text[]) AND session IS NULL',
  putCursor: `INSERT INTO channels (name, cursor) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET cursor = excluded.cursor`,
  putDelivery: `INSERT INTO outbox (channel, n, item, count, attempts, next_try_at) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (channel, n) DO UPDATE SET item = excluded.item, count = excluded.count, attempts = excluded.attempts,
      next_try_at = excluded.next_try_at`,
  removeDelivery: 'DELETE FROM outbox WHERE channel = $1 AND n = $2',
  putNote: `INSERT INTO channel_notes (channel, key, session, value, at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (channel, key) DO UPDATE SET session = excluded.session, value = excluded.value, at = excluded.at`,
  removeNote: 'DELETE FROM channel_notes WHERE channel = $1 AND key = $2',
  renewLease: `INSERT INTO leases (owner, until) VALUES ($1, $2) ON CONFLICT (owner) DO UPDATE SET until = excluded.until`,
  endOtherLeases: 'DELETE FROM leases WHERE owner <> $1',

  setSupervision: `UPDATE sessions SET owner = $2, last_activity = $3, last_tool = $4, supervision = $5, supervised_status = $6,
    workspace = $7, token_id = $8, mcp_ids = $9::text[] WHERE id = $1`,
  bury: `UPDATE sessions SET status = 'terminated', supervision = NULL, supervised_status = NULL, workspace = NULL, token_id = NULL,
    mcp_ids = NULL, terminated_at = $2, alias = NULL, label = NULL, active_agent = NULL, metadata = '{}', state = NULL,
    last_tool = NULL, message_count = 0, tokens = 0 WHERE id = $1`,
  removeSession: 'DELETE FROM sessions WHERE id = $1',
  removeHead: 'DELETE FROM heads WHERE session = $1',
  // One statement for each index: the session's own messages, and those of sub-agents.
  supersede: `UPDATE messages SET superseded_by = $3 WHERE session = $1 AND superseded_by IS NULL AND lane IS NULL
    AND ord > (SELECT ord FROM messages WHERE session = $1 AND id = $2)`,
  supersedeLanes: `UPDATE messages SET superseded_by = $3 WHERE session = $1 AND superseded_by IS NULL AND lane IS NOT NULL
    AND ord > (SELECT ord FROM messages WHERE session = $1 AND id = $2)`,
  setCompacted: 'UPDATE sessions SET compacted = true WHERE id = $1',

  removeKeys: 'DELETE FROM idempotency WHERE expires_at <= $1',
  removeGrants: 'DELETE FROM grants WHERE expires_at <= $1',
  removeUnsent: 'DELETE FROM files WHERE session IS NULL AND created_at < $1',
  removeUsage: 'DELETE FROM usage WHERE day < $1',
  removeWriters: `DELETE FROM writers WHERE at < now() - interval '7 days' AND id <> $1`,
} as const

/** Everything that belongs to a session, except the audit trail, which has no content. */
const content = [
  'idempotency WHERE run_id IN (SELECT id FROM runs WHERE session = $1)',
  'entries WHERE session = $1',
  'messages WHERE session = $1',
  'waits WHERE session = $1',
  'proposals WHERE session = $1',
  'instructions WHERE session = $1',
  'checkpoints WHERE session = $1',
  'grants WHERE scope = $1',
  'files WHERE session = $1',
  'runs WHERE session = $1',
  'routes WHERE session = $1',
  'channel_notes WHERE session = $1',
  'readers WHERE session = $1',
].map((rows): Statement => ({ name: `erase_${rows.split(' ')[0]}`, text: `DELETE FROM ${rows}` }))

type Name = keyof typeof sql
const statements = Object.fromEntries(
  Object.entries(sql).map(([name, text]) => [name, { name: `rare_${name}`, text }]),
) as Record<Name, Statement>

export const { setSupervision } = statements

export function supervisionValues(session: SessionRecord): unknown[] {
  const { supervision, supervised_status, workspace, token_id, mcp_ids } = supervisionColumns(session)
  const { id, owner, lastActivity, lastTool } = session
  return [id, owner, lastActivity, lastTool, supervision, supervised_status, workspace, token_id, mcp_ids]
}

export function createRareRows({ send }: Sending, { writerId }: { writerId: string }) {
  const run = (name: Name, ...values: unknown[]): void => send(statements[name], values)

  function erase(sessionId: string): void {
    for (const statement of [...eraseSearch, ...content]) send(statement, [sessionId])
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
    insertCheckpoint({ id, sessionId, owner, createdAt, ...data }: Checkpoint): void {
      run('insertCheckpoint', id, sessionId, owner, createdAt, JSON.stringify(data))
    },
    removeExpired(now: number, unsentBefore: number): void {
      run('removeKeys', now)
      run('removeGrants', now)
      run('removeUnsent', unsentBefore)
      send(numberFeed, [])
      send(removeOldFeed, [now - FEED_MS, FEED_ITEMS])
      run('removeUsage', dayOf(now) - USAGE_DAYS)
      run('removeWriters', writerId)
    },

    write: (change: RareChange): void => run(...statementOf(change)),
  }
}

function statementOf(change: RareChange): [Name, ...unknown[]] {
  switch (change.write) {
    case 'import_audit': {
      const { entries } = change
      return [
        'importAudit',
        entries.map(({ chain }) => chain),
        entries.map(({ n }) => n),
        entries.map(({ text }) => text),
        entries.map(({ hash }) => hash),
      ]
    }
    case 'put_proposal': {
      const { approvalId, diff, after } = change.proposal
      return ['putProposal', change.sessionId, approvalId, diff, after]
    }
    case 'insert_instruction': {
      const { id, kind, sessionId, owner, workspaceRoot, text, source, createdAt, deliveredAt } = change.instruction
      const place = [id, kind, sessionId, owner, workspaceRoot]
      return ['insertInstruction', ...place, text, source, createdAt, deliveredAt]
    }
    case 'update_instruction': {
      const { id, sessionId, deliveredAt } = change.instruction
      return ['updateInstruction', id, sessionId, deliveredAt]
    }
    case 'put_pin': {
      const { workspaceRoot, sha256, text, at, by } = change.pin
      return ['putPin', workspaceRoot, sha256, text, at, by]
    }
    case 'insert_grant': {
      const { id, agent, sessionId, createdAt, expiresAt } = change.grant
      return ['insertGrant', id, agent, sessionId ?? EVERY_SESSION, createdAt, expiresAt, grantData(change.grant)]
    }
    case 'remove_grant':
      return ['removeGrant', change.id]
    case 'insert_file': {
      const { id, sessionId, owner, name, mimeType, bytes, sha256, createdAt } = change.file
      return ['insertFile', id, sessionId, owner, name, mimeType, bytes, sha256, createdAt]
    }
    case 'attach_files':
      return ['attachFiles', change.sessionId, change.ids]
    case 'put_outbox_cursor':
      return ['putCursor', change.channel, change.n]
    case 'put_delivery': {
      const { channel, n, item, count, attempts, nextTryAt } = change.delivery
      const text = item === null ? null : JSON.stringify(item)
      return ['putDelivery', channel, n, text, count, attempts, nextTryAt]
    }
    case 'remove_delivery':
      return ['removeDelivery', change.channel, change.n]
    case 'put_note': {
      const { channel, key, session, value, at } = change.note
      return ['putNote', channel, key, session, value, at]
    }
    case 'remove_note':
      return ['removeNote', change.channel, change.key]
    case 'renew_lease':
      return ['renewLease', change.owner, change.until]
    case 'end_other_leases':
      return ['endOtherLeases', change.owner]
    default:
      return unreachable(change)
  }
}
