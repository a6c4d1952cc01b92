// Writes the changes that the rules decided, inside the transaction of `sqlite-store.ts`.

import type { DatabaseSync } from 'node:sqlite'
import type { AnyRecord } from '../../../domain/records/record.ts'
import { tokensOf } from '../../../domain/session/run.ts'
import type { StoredEntry } from '../../ports/entry.ts'
import { FEED_ITEMS, FEED_MS } from '../../ports/feed.ts'
import type { Change, IdempotencyKey } from '../../rules/rows.ts'
import { type RowChange, rowWriteOf, rowWrites } from '../../tables/row-writes.ts'
import { insertRow } from '../../tables/statement.ts'
import { waitKey, waitKeyColumns, waitState, waitStateColumns } from '../../tables/waits.ts'
import type { EntryWriter } from '../entry-writer.ts'
import { type LiveState, SEQ_BLOCK } from '../live-sessions.ts'
import { createStatements, type Statements } from '../statements.ts'
import { createAuditTable } from './audit-table.ts'
import { createFeedTable } from './feed-table.ts'
import { createMessageRows } from './message-table.ts'
import { createPackedEntries } from './packed-entries.ts'
import { createRunRows } from './run-table.ts'
import type { CommandSession } from './session-table.ts'
import { createSessionRows } from './session-table.ts'
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
  const feed = createFeedTable(db, state)
  feed.load()
  const log = createLogRows(db, state, writer)
  const keys = createKeyRows(db)
  const statements = createStatements(db)
  const waits = createWaitRows(statements)
  const rows = createRowWrites(statements)
  const removeGrants = db.prepare('DELETE FROM grants WHERE expires_at <= ?')
  const removeUnsent = db.prepare('DELETE FROM files WHERE session IS NULL AND created_at < ?')

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
        sessions.eraseContent(id, change.session.id)
        sessions.bury(id, change.at)
        writer.trimTail()
        state.drop(change.session.id)
        return
      }
      case 'remove_session': {
        const id = sid(change.session.id)
        sessions.eraseContent(id, change.session.id)
        sessions.remove(id)
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
        waits.insert(change.wait)
        return
      case 'update_wait':
        waits.update(change.wait)
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
      case 'add_to_feed':
        feed.add(change.items)
        return
      case 'remove_expired':
        keys.removeExpired(change.now)
        removeGrants.run(change.now)
        removeUnsent.run(change.unsentBefore)
        feed.removeOld(change.now - FEED_MS, FEED_ITEMS)
        usage.removeOld(change.now)
        return
      default:
        rows(change)
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

function createWaitRows({ run }: Statements) {
  const columns = Object.keys({ ...waitKeyColumns, ...waitStateColumns }).join(', ')
  const sets = Object.keys(waitStateColumns).map((column, i) => `${column} = $${i + 2}`)
  const insert = run(insertRow('waits', columns))
  const update = run({ name: 'update_wait', text: `UPDATE waits SET ${sets.join(', ')} WHERE id = $1` })

  return {
    insert: (wait: AnyRecord): void => insert(...waitKey(wait), ...waitState(wait)),
    update: (wait: AnyRecord): void => update(wait.id, ...waitState(wait)),
  }
}

function createRowWrites({ run }: Statements): (change: RowChange) => void {
  const prepared = new Map(Object.values(rowWrites).map(({ statement }) => [statement, run(statement)]))
  return (change) => {
    const [statement, values] = rowWriteOf(change)
    prepared.get(statement)?.(...values)
  }
}
