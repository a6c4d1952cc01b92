// Writes the changes that the rules decided, inside the transaction of `sqlite-store.ts`.

import type { DatabaseSync } from 'node:sqlite'
import type { AnyRecord } from '../../../domain/records/record.ts'
import type { FileRecord } from '../../../domain/session/file.ts'
import { tokensOf } from '../../../domain/session/run.ts'
import type { Grant } from '../../../domain/supervision/grant.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import { EVERY_SESSION, grantData, waitData } from '../../packing/stored-fields.ts'
import type { StoredEntry } from '../../ports/entry.ts'
import { FEED_ITEMS, FEED_MS } from '../../ports/feed.ts'
import type { Change, IdempotencyKey } from '../../rules/rows.ts'
import type { EntryWriter } from '../entry-writer.ts'
import { type LiveState, SEQ_BLOCK } from '../live-sessions.ts'
import { createAuditTable } from './audit-table.ts'
import { createFeedTable } from './feed-table.ts'
import { createMessageRows } from './message-table.ts'
import { createOutboxTable } from './outbox-table.ts'
import { createPackedEntries } from './packed-entries.ts'
import { createRunRows } from './run-table.ts'
import type { CommandSession } from './session-table.ts'
import { createSessionRows } from './session-table.ts'
import { createSupervisedRows } from './supervised-table.ts'
import { createUsageRows } from './usage-table.ts'

export function createRowWriter(
  db: DatabaseSync,
  state: LiveState,
  writer: EntryWriter,
  session: CommandSession,
): (change: Change) => void {
  const sessions = createSessionRows(db)
  const runs = createRunRows(db, state, writer)
  const usage = createUsageRows(db)
  const messages = createMessageRows(db)
  const audit = createAuditTable(db)
  const outbox = createOutboxTable(db)
  const feed = createFeedTable(db, state)
  feed.load()
  const log = createLogRows(db, state, writer)
  const keys = createKeyRows(db)
  const waits = createWaitRows(db)
  const supervised = createSupervisedRows(db)
  const grants = createGrantRows(db)
  const files = createFileRows(db)
  const leases = createLeaseRows(db)

  function sid(sessionId: string): number {
    const found = session.sid(sessionId)
    if (found === null) throw new Error(`The rules change session ${sessionId}, which does not exist.`)
    return found
  }

  function addTokens(sessionId: string, tokens: number): void {
    if (tokens !== 0) sessions.addTokens(sid(sessionId), tokens)
  }

  return (change) => {
    switch (change.write) {
      case 'insert_session':
        session.made(change.session.id, sessions.insert(change.session))
        return
      case 'update_session':
        sessions.update(sid(change.id), change.patch)
        return
      case 'update_supervision':
        sessions.updateSupervision(sid(change.session.id), change.before, change.session)
        return
      case 'bury_session': {
        const id = sid(change.session.id)
        sessions.eraseContent(id)
        sessions.bury(id, change.at)
        outbox.forgetSession(change.session.id)
        writer.trimTail()
        state.drop(change.session.id)
        return
      }
      case 'remove_session': {
        const id = sid(change.session.id)
        sessions.eraseContent(id)
        sessions.remove(id)
        outbox.forgetSession(change.session.id)
        session.found(change.session.id, null)
        state.drop(change.session.id)
        return
      }

      case 'insert_run':
        runs.insert(sid(change.run.sessionId), change.run)
        addTokens(change.run.sessionId, tokensOf(change.run))
        return
      case 'update_run':
        runs.update(sid(change.run.sessionId), change.before, change.run)
        addTokens(change.run.sessionId, tokensOf(change.run) - tokensOf(change.before))
        return
      case 'put_key':
        keys.put(change.owner, change.key, change.value)
        return

      case 'append_entries':
        log.append(sid(change.sessionId), change, session.isNew(change.sessionId))
        return
      case 'import_entries':
        log.import(sid(change.sessionId), change.entries)
        return
      case 'compact_entries':
        log.compact(sid(change.sessionId), change)
        return
      case 'insert_messages':
        messages.insert(sid(change.sessionId), change.messages)
        return
      case 'supersede_messages':
        messages.supersede(sid(change.sessionId), change.after, change.byRun)
        return

      case 'insert_wait':
        waits.insert(sid(change.wait.sessionId), change.wait)
        return
      case 'update_wait':
        waits.update(change.wait)
        return
      case 'put_proposal':
        supervised.putProposal(sid(change.sessionId), change.proposal)
        return
      case 'insert_instruction': {
        const { sessionId } = change.instruction
        supervised.insertInstruction(sessionId === null ? null : sid(sessionId), change.instruction)
        return
      }
      case 'update_instruction': {
        const { sessionId } = change.instruction
        supervised.updateInstruction(sessionId === null ? null : sid(sessionId), change.instruction)
        return
      }
      case 'insert_checkpoint':
        supervised.insertCheckpoint(sid(change.checkpoint.sessionId), change.checkpoint)
        return
      case 'put_pin':
        supervised.putPin(change.pin)
        return
      case 'insert_grant':
        grants.insert(change.grant)
        return
      case 'remove_grant':
        grants.remove(change.id)
        return

      case 'insert_file': {
        const { sessionId } = change.file
        files.insert(sessionId === null ? null : sid(sessionId), change.file)
        return
      }
      case 'attach_files':
        files.attach(sid(change.sessionId), change.ids)
        return

      case 'put_outbox_cursor':
        outbox.putCursor(change.channel, change.n)
        return
      case 'put_delivery':
        outbox.put(change.delivery)
        return
      case 'remove_delivery':
        outbox.remove(change.channel, change.n)
        return
      case 'put_note':
        outbox.putNote(change.note)
        return
      case 'remove_note':
        outbox.removeNote(change.channel, change.key)
        return

      case 'add_audit':
        audit.add(change.records)
        return
      case 'import_audit':
        audit.import(change.entries)
        return
      case 'add_usage':
        usage.add(change.rows)
        return
      case 'renew_lease':
        leases.renew(change.owner, change.until)
        return
      case 'end_other_leases':
        leases.endOthers(change.owner)
        return
      case 'add_to_feed':
        feed.add(change.items)
        return
      case 'remove_expired':
        keys.removeExpired(change.now)
        grants.removeExpired(change.now)
        files.removeUnsent(change.unsentBefore)
        feed.removeOld(change.now - FEED_MS, FEED_ITEMS)
        usage.removeOld(change.now)
        return
      default:
        unreachable(change)
    }
  }
}

type ChangeOf<Write extends Change['write']> = Extract<Change, { write: Write }>

function createLogRows(db: DatabaseSync, state: LiveState, writer: EntryWriter) {
  const packed = createPackedEntries(db)
  const setCompacted = db.prepare('UPDATE sessions SET compacted = 1 WHERE sid = ?')
  const setCeiling = db.prepare('UPDATE sessions SET seq_ceiling = ? WHERE sid = ?')

  return {
    append(
      sid: number,
      { sessionId, runId, entries, inFlight }: ChangeOf<'append_entries'>,
      isNewSession: boolean,
    ): void {
      const live = isNewSession ? writer.begun(sessionId, sid) : writer.live(sessionId, sid)
      if (inFlight && runId !== null) writer.appendText(live, runId, entries)
      else writer.appendComplete(live, runId, entries)
    },
    import(sid: number, entries: readonly StoredEntry[]): void {
      packed.insert(sid, entries)
      setCeiling.run((entries.at(-1)?.seq ?? 0) + SEQ_BLOCK, sid)
    },
    compact(sid: number, { sessionId, entries, isPart }: ChangeOf<'compact_entries'>): void {
      packed.replace(sid, entries)
      if (!isPart) setCompacted.run(sid)
      state.drop(sessionId)
    },
  }
}

function createKeyRows(db: DatabaseSync) {
  const put = db.prepare(
    'INSERT OR REPLACE INTO idempotency (owner, key, digest, run_id, expires_at) VALUES (?, ?, ?, ?, ?)',
  )
  const removeExpired = db.prepare('DELETE FROM idempotency WHERE expires_at <= ?')

  return {
    put(owner: string, key: string, { digest, runId, expiresAt }: IdempotencyKey): void {
      put.run(owner, key, digest, runId, expiresAt)
    },
    removeExpired(now: number): void {
      removeExpired.run(now)
    },
  }
}

function createWaitRows(db: DatabaseSync) {
  const insert = db.prepare(
    'INSERT INTO waits (id, sid, run_id, continuation_run_id, owner, kind, status, created_at, expires_at, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const update = db.prepare(
    'UPDATE waits SET run_id = ?, continuation_run_id = ?, owner = ?, status = ?, expires_at = ?, data = ? WHERE id = ?',
  )

  return {
    insert(sid: number, wait: AnyRecord): void {
      const { id, runId, continuationRunId, owner, wait: kind, status, createdAt, expiresAt } = wait
      const data = waitData(wait)
      insert.run(id, sid, runId, continuationRunId, owner, kind, status, createdAt, expiresAt, data)
    },
    update(wait: AnyRecord): void {
      const { id, runId, continuationRunId, owner, status, expiresAt } = wait
      update.run(runId, continuationRunId, owner, status, expiresAt, waitData(wait), id)
    },
  }
}

function createGrantRows(db: DatabaseSync) {
  const insert = db.prepare(
    'INSERT INTO grants (id, agent, scope, created_at, expires_at, data) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const remove = db.prepare('DELETE FROM grants WHERE id = ?')
  const removeExpired = db.prepare('DELETE FROM grants WHERE expires_at <= ?')

  return {
    insert(grant: Grant): void {
      const { id, agent, sessionId, createdAt, expiresAt } = grant
      insert.run(id, agent, sessionId ?? EVERY_SESSION, createdAt, expiresAt, grantData(grant))
    },
    remove(id: string): void {
      remove.run(id)
    },
    removeExpired(now: number): void {
      removeExpired.run(now)
    },
  }
}

function createFileRows(db: DatabaseSync) {
  const insert = db.prepare(
    'INSERT INTO files (id, sid, owner, name, mime_type, bytes, sha256, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const attach = db.prepare('UPDATE files SET sid = ? WHERE id = ? AND sid IS NULL')
  const removeUnsent = db.prepare('DELETE FROM files WHERE sid IS NULL AND created_at < ?')

  return {
    insert(sid: number | null, { id, owner, name, mimeType, bytes, sha256, createdAt }: FileRecord): void {
      insert.run(id, sid, owner, name, mimeType, bytes, sha256, createdAt)
    },
    attach(sid: number, ids: readonly string[]): void {
      for (const id of ids) attach.run(sid, id)
    },
    removeUnsent(before: number): void {
      removeUnsent.run(before)
    },
  }
}

function createLeaseRows(db: DatabaseSync) {
  const renew = db.prepare(
    'INSERT INTO leases (owner, until) VALUES (?, ?) ON CONFLICT DO UPDATE SET until = excluded.until',
  )
  const endOthers = db.prepare('DELETE FROM leases WHERE owner <> ?')

  return {
    renew(owner: string, until: number): void {
      renew.run(owner, until)
    },
    endOthers(owner: string): void {
      endOthers.run(owner)
    },
  }
}
