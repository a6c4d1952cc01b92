// Writes the changes that the rules decided, inside the transaction of `sqlite-store.ts`.

import type { DatabaseSync } from 'node:sqlite'
import { unreachable } from '../../domain/unreachable.ts'
import { FEED_ITEMS, FEED_MS } from '../ports/feed.ts'
import type { Change } from '../rules/rows.ts'
import { createAuditTable } from './audit-table.ts'
import type { EntryWriter } from './entry-writer.ts'
import { createFeedTable } from './feed-table.ts'
import { type LiveState, SEQ_BLOCK } from './live-sessions.ts'
import { createMessageRows } from './message-rows.ts'
import { createOutboxTable } from './outbox-table.ts'
import { createPackedEntries } from './packed-entries.ts'
import { EVERY_SESSION, grantData, waitData } from './rows.ts'
import { createRunRows } from './run-rows.ts'
import type { CommandSession } from './session-ids.ts'
import { createSessionRows } from './session-rows.ts'

export function createRowWriter(
  db: DatabaseSync,
  state: LiveState,
  writer: EntryWriter,
  session: CommandSession,
): (change: Change) => void {
  const sessions = createSessionRows(db)
  const runs = createRunRows(db, state, writer)
  const messages = createMessageRows(db)
  const packed = createPackedEntries(db)
  const addAudit = createAuditTable(db)
  const outbox = createOutboxTable(db)
  const feed = createFeedTable(db, state)
  feed.load()
  const sql = {
    setCompacted: db.prepare('UPDATE sessions SET compacted = 1 WHERE sid = ?'),
    setCeiling: db.prepare('UPDATE sessions SET seq_ceiling = ? WHERE sid = ?'),
    putKey: db.prepare(
      'INSERT OR REPLACE INTO idempotency (owner, key, digest, run_id, expires_at) VALUES (?, ?, ?, ?, ?)',
    ),
    expireKeys: db.prepare('DELETE FROM idempotency WHERE expires_at <= ?'),
    insertWait: db.prepare(
      'INSERT INTO waits (id, sid, run_id, continuation_run_id, owner, kind, status, created_at, expires_at, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    updateWait: db.prepare(
      'UPDATE waits SET run_id = ?, continuation_run_id = ?, status = ?, expires_at = ?, data = ? WHERE id = ?',
    ),
    insertGrant: db.prepare(
      'INSERT INTO grants (id, agent, scope, created_at, expires_at, data) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    removeGrant: db.prepare('DELETE FROM grants WHERE id = ?'),
    expireGrants: db.prepare('DELETE FROM grants WHERE expires_at <= ?'),
    insertFile: db.prepare(
      'INSERT INTO files (id, sid, owner, name, mime_type, bytes, sha256, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    attachFile: db.prepare('UPDATE files SET sid = ? WHERE id = ? AND sid IS NULL'),
    removeUnsent: db.prepare('DELETE FROM files WHERE sid IS NULL AND created_at < ?'),
    endOtherLeases: db.prepare('DELETE FROM leases WHERE owner <> ?'),
    renewLease: db.prepare(
      'INSERT INTO leases (owner, until) VALUES (?, ?) ON CONFLICT DO UPDATE SET until = excluded.until',
    ),
  }

  function sid(sessionId: string): number {
    const found = session.sid(sessionId)
    if (found === null) throw new Error(`The rules change session ${sessionId}, which does not exist.`)
    return found
  }

  return (change) => {
    switch (change.write) {
      case 'insert_session':
        session.made(change.session.id, sessions.insert(change.session))
        return
      case 'update_session':
        sessions.update(sid(change.id), change.patch)
        return
      case 'bury_session': {
        const id = sid(change.session.id)
        sessions.eraseContent(id)
        sessions.bury(id, change.at)
        writer.trimTail()
        state.drop(change.session.id)
        return
      }
      case 'remove_session': {
        const id = sid(change.session.id)
        sessions.eraseContent(id)
        sessions.remove(id)
        session.found(change.session.id, null)
        state.drop(change.session.id)
        return
      }

      case 'insert_run':
        runs.insert(sid(change.run.sessionId), change.run)
        return
      case 'update_run':
        runs.update(sid(change.run.sessionId), change.before, change.run)
        return
      case 'put_key': {
        const { digest, runId, expiresAt } = change.value
        sql.putKey.run(change.owner, change.key, digest, runId, expiresAt)
        return
      }

      case 'append_entries': {
        const id = sid(change.sessionId)
        const live = session.isNew(change.sessionId)
          ? writer.begun(change.sessionId, id)
          : writer.live(change.sessionId, id)
        if (change.inFlight) writer.appendText(live, change.runId, change.entries)
        else writer.appendComplete(live, change.runId, change.entries)
        return
      }
      case 'import_entries': {
        const id = sid(change.sessionId)
        packed.insert(id, change.entries)
        sql.setCeiling.run((change.entries.at(-1)?.seq ?? 0) + SEQ_BLOCK, id)
        return
      }
      case 'compact_entries': {
        const id = sid(change.sessionId)
        packed.replace(id, change.entries)
        sql.setCompacted.run(id)
        state.drop(change.sessionId)
        return
      }
      case 'insert_messages':
        messages.insert(sid(change.sessionId), change.messages)
        return
      case 'supersede_messages':
        messages.supersede(sid(change.sessionId), change.after, change.byRun)
        return

      case 'insert_wait': {
        const { wait } = change
        const { id, sessionId, runId, continuationRunId, owner, status, createdAt, expiresAt } = wait
        const data = waitData(wait)
        sql.insertWait.run(
          id,
          sid(sessionId),
          runId,
          continuationRunId,
          owner,
          wait.wait,
          status,
          createdAt,
          expiresAt,
          data,
        )
        return
      }
      case 'update_wait': {
        const { id, runId, continuationRunId, status, expiresAt } = change.wait
        sql.updateWait.run(runId, continuationRunId, status, expiresAt, waitData(change.wait), id)
        return
      }
      case 'insert_grant': {
        const { id, agent, sessionId, createdAt, expiresAt } = change.grant
        sql.insertGrant.run(id, agent, sessionId ?? EVERY_SESSION, createdAt, expiresAt, grantData(change.grant))
        return
      }
      case 'remove_grant':
        sql.removeGrant.run(change.id)
        return

      case 'insert_file': {
        const { id, sessionId, owner, name, mimeType, bytes, sha256, createdAt } = change.file
        const at = sessionId === null ? null : sid(sessionId)
        sql.insertFile.run(id, at, owner, name, mimeType, bytes, sha256, createdAt)
        return
      }
      case 'attach_files': {
        const id = sid(change.sessionId)
        for (const fileId of change.ids) sql.attachFile.run(id, fileId)
        return
      }

      case 'put_outbox_cursor':
        outbox.putCursor(change.channel, change.n)
        return
      case 'put_delivery':
        outbox.put(change.delivery)
        return
      case 'remove_delivery':
        outbox.remove(change.channel, change.n)
        return

      case 'add_audit':
        addAudit(change.records)
        return
      case 'renew_lease':
        sql.renewLease.run(change.owner, change.until)
        return
      case 'end_other_leases':
        sql.endOtherLeases.run(change.owner)
        return
      case 'add_to_feed':
        feed.add(change.items)
        return
      case 'remove_expired':
        sql.expireKeys.run(change.now)
        sql.expireGrants.run(change.now)
        sql.removeUnsent.run(change.unsentBefore)
        feed.removeOld(change.now - FEED_MS, FEED_ITEMS)
        return
      default:
        unreachable(change)
    }
  }
}
