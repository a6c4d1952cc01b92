// Writes the changes that the rules decided, inside the transaction of `sqlite-store.ts`.

import type { DatabaseSync } from 'node:sqlite'
import type { AnyRecord } from '../../../domain/records/record.ts'
import { tokensOf } from '../../../domain/session/run.ts'
import { FEED_ITEMS, FEED_MS } from '../../ports/feed.ts'
import type { StoredEntry } from '../../ports/journal.ts'
import type { Change } from '../../rules/rows.ts'
import { packRows, replacedSeqs, replaceEntries, toEntries } from '../../tables/packed-rows.ts'
import { expiredRows, type RowChange, rowWriteOf, rowWrites } from '../../tables/row-writes.ts'
import { insertRow, putRow } from '../../tables/statement.ts'
import { ADD_USAGE, usageColumns, usageKey, usageSums } from '../../tables/usage.ts'
import { waitKey, waitKeyColumns, waitState, waitStateColumns } from '../../tables/waits.ts'
import type { EntryWriter } from '../entry-writer.ts'
import { type LiveState, SEQ_BLOCK } from '../live-sessions.ts'
import { createStatements, type Statements } from '../statements.ts'
import { createAuditTable } from './audit-table.ts'
import { createFeedTable } from './feed-table.ts'
import { createMessageRows } from './message-table.ts'
import { createRunRows } from './run-table.ts'
import { type CommandSession, createSessionRows } from './session-table.ts'

export function createRowWriter(
  db: DatabaseSync,
  state: LiveState,
  writer: EntryWriter,
  session: CommandSession,
): (change: Change) => void {
  const statements = createStatements(db)
  const sessions = createSessionRows(db, statements)
  const runs = createRunRows(statements, state, writer)
  const addUsage = statements.run(`${insertRow('usage', Object.keys(usageColumns).join(', ')).text} ${ADD_USAGE}`)
  const messages = createMessageRows(statements)
  const audit = createAuditTable(db)
  const feed = createFeedTable(db, state)
  feed.load()
  const log = createLogRows(db, statements, state, writer)
  const putKey = statements.run(putRow('idempotency', 'owner, key, digest, run_id, expires_at', 'owner, key').text)
  const waits = createWaitRows(statements)
  const rows = createRowWrites(statements)
  const expired = expiredRows.map(({ statement, before }) => ({ remove: statements.run(statement.text), before }))

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
        putKey(change.owner, change.key, change.value.digest, change.value.runId, change.value.expiresAt)
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
        for (const row of change.rows) addUsage(...usageKey(row), ...usageSums(row))
        return
      case 'add_to_feed':
        feed.add(change.items)
        return
      case 'remove_expired':
        for (const { remove, before } of expired) remove(before(change))
        feed.removeOld(change.now - FEED_MS, FEED_ITEMS)
        return
      default:
        rows(change)
    }
  }
}

type ChangeOf<Write extends Change['write']> = Extract<Change, { write: Write }>

function createLogRows(db: DatabaseSync, statements: Statements, state: LiveState, writer: EntryWriter) {
  const packed = createPackedEntries(db, statements)
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

function createWaitRows({ run }: Statements) {
  const columns = Object.keys({ ...waitKeyColumns, ...waitStateColumns }).join(', ')
  const sets = Object.keys(waitStateColumns).map((column, i) => `${column} = $${i + 2}`)
  const insert = run(insertRow('waits', columns).text)
  const update = run(`UPDATE waits SET ${sets.join(', ')} WHERE id = $1`)

  return {
    insert: (wait: AnyRecord) => insert(...waitKey(wait), ...waitState(wait)),
    update: (wait: AnyRecord) => update(wait.id, ...waitState(wait)),
  }
}

function createRowWrites({ run }: Statements): (change: RowChange) => void {
  const prepared = new Map(Object.values(rowWrites).map(({ statement }) => [statement, run(statement.text)]))
  return (change) => {
    const [statement, values] = rowWriteOf(change)
    prepared.get(statement)?.(...values)
  }
}

/** Writes a session's log in large pieces, for imports and compaction. `entry-writer.ts` appends to it. */
function createPackedEntries(db: DatabaseSync, { many }: Statements) {
  const insert = db.prepare(
    'INSERT INTO entries (sid, first_seq, last_seq, run_id, data, layout) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const RANGE = 'FROM entries WHERE sid = ?1 AND last_seq >= ?2 AND last_seq <= ?3'
  const range = many(`SELECT first_seq, run_id, data, layout ${RANGE} ORDER BY last_seq`, toEntries)
  const remove = db.prepare(`DELETE ${RANGE}`)
  const endOfRow = db.prepare('SELECT min(last_seq) AS seq FROM entries WHERE sid = ? AND last_seq >= ?')

  function insertAll(sid: number, entries: readonly StoredEntry[]): void {
    for (const { firstSeq, lastSeq, runId, data, layout } of packRows(entries)) {
      insert.run(sid, firstSeq, lastSeq, runId, data, layout)
    }
  }

  return {
    insert: insertAll,
    /** Each entry replaces the entries that its spans name. The entries are in order. */
    replace(sid: number, entries: readonly StoredEntry[]): void {
      const { seqs, first, last } = replacedSeqs(entries)
      // Whole rows: those that the first and the last of them lie in are written anew.
      const end = Number(endOfRow.get(sid, last)?.seq ?? last)
      const log = replaceEntries(range(sid, first, end).flat(), entries, seqs)
      remove.run(sid, first, end)
      insertAll(sid, log)
    },
  }
}
