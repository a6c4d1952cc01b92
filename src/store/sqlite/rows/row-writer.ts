// Writes the changes that the rules decided, inside the transaction of `sqlite-store.ts`.

import type { DatabaseSync } from 'node:sqlite'
import type { AnyRecord } from '../../../domain/records/record.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import { FEED_ITEMS, FEED_MS } from '../../ports/feed.ts'
import type { StoredEntry } from '../../ports/journal.ts'
import type { Change, ChangeOf } from '../../rules/rows.ts'
import { packRows, replacedSeqs, replaceEntries, toEntries } from '../../tables/packed-rows.ts'
import {
  expiredRows,
  isRowChange,
  type OtherWrites,
  type RowChange,
  rowWriteOf,
  rowWrites,
} from '../../tables/row-writes.ts'
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
import { type CommandSession, createSessionRows, type SessionUpdate, sessionUpdates } from './session-table.ts'

export function createRowWriter(
  db: DatabaseSync,
  state: LiveState,
  writer: EntryWriter,
  session: CommandSession,
): (changes: readonly Change[]) => void {
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

  /** The run may ask for its waits from now on. */
  function noteWait({ runId, continuationRunId }: AnyRecord): void {
    for (const id of [runId, continuationRunId]) {
      const live = id === null ? undefined : state.runs.get(id)
      if (live !== undefined) live.mayHaveWaits = true
    }
  }

  function countSession({ status }: Pick<SessionRecord, 'status'>, change: 1 | -1): void {
    if (status !== 'terminated') state.addSessions(change)
  }

  let updates: Map<string, SessionUpdate> = new Map()
  let hasWaits = false
  const writes: OtherWrites<void> = {
    insert_session({ session: made }) {
      session.made(made.id, sessions.insert(made, updates.get(made.id)))
      updates.delete(made.id)
      countSession(made, 1)
    },
    // All updates of a session are written together, at the end.
    update_session() {},
    update_supervision: ({ before, session: now }) => sessions.updateSupervision(sid(now.id), before, now),
    bury_session({ session: buried, at }) {
      const { id } = buried
      sessions.eraseContent(sid(id), id)
      sessions.bury(sid(id), at)
      writer.trimTail()
      state.drop(id)
      countSession(buried, -1)
    },
    remove_session({ session: removed }) {
      const { id } = removed
      sessions.eraseContent(sid(id), id)
      sessions.remove(sid(id))
      session.found(id, null)
      state.drop(id)
      countSession(removed, -1)
    },

    insert_run: ({ run }) => runs.insert(sid(run.sessionId), run, hasWaits),
    update_run: ({ before, run }) => runs.update(sid(run.sessionId), before, run),
    put_key: ({ owner, key, value }) => void putKey(owner, key, value.digest, value.runId, value.expiresAt),

    append_entries: (change) => log.append(sid(change.sessionId), change, session.isNew(change.sessionId)),
    import_entries: ({ sessionId, entries }) => log.import(sid(sessionId), entries),
    compact_entries: (change) => log.compact(sid(change.sessionId), change),
    insert_messages: ({ sessionId, messages: added }) => messages.insert(sid(sessionId), added),
    supersede_messages: ({ sessionId, after, byRun }) => messages.supersede(sid(sessionId), after, byRun),

    insert_wait({ wait }) {
      waits.insert(wait)
      noteWait(wait)
    },
    update_wait({ wait }) {
      waits.update(wait)
      noteWait(wait)
    },

    add_audit: ({ records }) => audit.add(records),
    import_audit: ({ entries }) => audit.import(entries),
    add_usage({ rows: added }) {
      for (const row of added) addUsage(...usageKey(row), ...usageSums(row))
    },
    add_to_feed: ({ items }) => feed.add(items),
    remove_expired(change) {
      for (const { remove, before } of expired) remove(before(change))
      feed.removeOld(change.now - FEED_MS, FEED_ITEMS)
    },
  }

  return (changes) => {
    updates = sessionUpdates(changes)
    hasWaits = changes.some(({ write }) => write === 'insert_wait' || write === 'update_wait')
    for (const change of changes) {
      if (isRowChange(change)) rows(change)
      else (writes[change.write] as (change: Change) => void)(change)
    }
    for (const [id, update] of updates) sessions.update(sid(id), update)
  }
}

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
