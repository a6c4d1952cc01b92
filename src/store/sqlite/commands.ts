// Applies commands inside the transaction that `sqlite-store.ts` opened. Each handler checks its guard before it writes
// anything, so that a refused command leaves no trace and its neighbours stand.

import type { DatabaseSync } from 'node:sqlite'
import { runNotFound, ServerError, sessionNotFound } from '../../domain/errors.ts'
import { countsAsMessage, type StoredMessage } from '../../domain/message.ts'
import { isFinished, type RunRecord } from '../../domain/run.ts'
import type { SessionRecord } from '../../domain/session.ts'
import { unreachable } from '../../domain/unreachable.ts'
import type * as port from '../store.ts'
import type { EntryWriter } from './entry-writer.ts'
import { type LiveRun, type LiveState, SEQ_BLOCK } from './live-sessions.ts'
import { RUN_COLUMNS } from './reads.ts'
import { isPlainText, messageExtra, OPEN, packLayout, packLines, toRun, toSession, unpackRow } from './rows.ts'

type Done = Extract<port.Result, { ok: true }>

const nothing: Done = { ok: true, firstSeq: 0 }

export function createCommands(
  db: DatabaseSync,
  state: LiveState,
  writer: EntryWriter,
): (command: port.Command) => Done {
  const sql = {
    session: db.prepare('SELECT * FROM sessions WHERE id = ?'),
    sessionByAlias: db.prepare('SELECT * FROM sessions WHERE owner = ? AND alias = ?'),
    insertSession: db.prepare(
      `INSERT INTO sessions (id, owner, agent, status, created_at, last_activity, terminated_at, last_tool, metadata, alias, label, message_count, state, unlisted, seq_ceiling, compacted)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 1)`,
    ),
    countSessions: db.prepare(`SELECT count(*) AS n FROM sessions WHERE status <> 'terminated'`),
    touch: db.prepare(
      'UPDATE sessions SET last_activity = max(last_activity, ?), message_count = message_count + ?, compacted = 0 WHERE sid = ?',
    ),
    setState: db.prepare('UPDATE sessions SET state = ? WHERE sid = ?'),
    setTool: db.prepare('UPDATE sessions SET last_tool = ? WHERE sid = ?'),
    setMetadata: db.prepare('UPDATE sessions SET metadata = ? WHERE sid = ?'),
    setActivity: db.prepare('UPDATE sessions SET last_activity = max(last_activity, ?) WHERE sid = ?'),
    addToCount: db.prepare('UPDATE sessions SET message_count = message_count + ? WHERE sid = ?'),
    bury: db.prepare(
      `UPDATE sessions SET status = 'terminated', terminated_at = ?, alias = NULL, label = NULL, metadata = '{}', state = NULL, last_tool = NULL, message_count = 0 WHERE sid = ?`,
    ),
    setCompacted: db.prepare('UPDATE sessions SET compacted = 1 WHERE sid = ?'),
    run: db.prepare(`SELECT runs.sid AS sid, runs.rid AS rid, ${RUN_COLUMNS} WHERE runs.id = ?`),
    runByWire: db.prepare(`SELECT ${RUN_COLUMNS} WHERE sid = ? AND wire_id = ?`),
    openRuns: db.prepare(`SELECT status FROM runs WHERE sid = ? AND ${OPEN}`),
    insertRun: db.prepare(
      `INSERT INTO runs (id, sid, owner, agent, wire_id, parent_run_id, status, origin, input, created_at, started_at, finished_at, usage, error, cancel_requested, first_seq, last_seq, fence, lease_owner)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    startRun: db.prepare(
      `UPDATE runs SET status = 'running', started_at = ?, first_seq = ?, fence = ?, lease_owner = ? WHERE rid = ?`,
    ),
    finishRun: db.prepare(
      `UPDATE runs SET status = ?, finished_at = ?, first_seq = ?, last_seq = ?, usage = ?, error = ?, lease_owner = NULL WHERE rid = ?`,
    ),
    claimRun: db.prepare('UPDATE runs SET fence = ?, lease_owner = ? WHERE rid = ?'),
    releaseRun: db.prepare('UPDATE runs SET lease_owner = NULL, fence = fence + 1 WHERE rid = ?'),
    cancelRun: db.prepare('UPDATE runs SET cancel_requested = 1 WHERE rid = ?'),
    insertMessage: db.prepare(
      `INSERT INTO messages (sid, id, role, content, run_id, created_at, extra, superseded_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    ),
    supersede: db.prepare(
      `UPDATE messages SET superseded_by = ?3 WHERE sid = ?1 AND superseded_by IS NULL AND mid > (SELECT mid FROM messages WHERE sid = ?1 AND id = ?2) RETURNING role`,
    ),
    insertEntries: db.prepare(
      'INSERT INTO entries (sid, first_seq, last_seq, run_id, data, layout) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    entries: db.prepare('SELECT first_seq, run_id, data, layout FROM entries WHERE sid = ? ORDER BY last_seq'),
    deleteEntries: db.prepare('DELETE FROM entries WHERE sid = ?'),
    deleteMessages: db.prepare('DELETE FROM messages WHERE sid = ?'),
    deleteRuns: db.prepare('DELETE FROM runs WHERE sid = ?'),
    deleteKeys: db.prepare('DELETE FROM idempotency WHERE run_id IN (SELECT id FROM runs WHERE sid = ?)'),
    setCeiling: db.prepare('UPDATE sessions SET seq_ceiling = ? WHERE sid = ?'),
    key: db.prepare('SELECT digest, run_id, expires_at FROM idempotency WHERE owner = ? AND key = ?'),
    putKey: db.prepare(
      'INSERT OR REPLACE INTO idempotency (owner, key, digest, run_id, expires_at) VALUES (?, ?, ?, ?, ?)',
    ),
    expireKeys: db.prepare('DELETE FROM idempotency WHERE expires_at <= ?'),
    toPurge: db.prepare(
      `SELECT sid FROM sessions
       WHERE (?4 IS NULL OR agent = ?4)
         AND ((unlisted = 0 AND max(last_activity, coalesce(terminated_at, 0)) < ?1) OR (unlisted = 1 AND last_activity < ?2))
         AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.sid = sessions.sid AND runs.${OPEN})
       ORDER BY last_activity LIMIT ?3`,
    ),
    deleteSession: db.prepare('DELETE FROM sessions WHERE sid = ?'),
    renewLease: db.prepare(
      'INSERT INTO leases (owner, until) VALUES (?, ?) ON CONFLICT DO UPDATE SET until = excluded.until',
    ),
  }

  const findRun = (runId: string) => {
    const row = sql.run.get(runId)
    if (row === undefined) throw runNotFound(runId)
    return { run: toRun(row), rid: Number(row.rid), sid: Number(row.sid) }
  }

  const findSession = (sessionId: string) => {
    const row = sql.session.get(sessionId)
    if (row === undefined) throw sessionNotFound(sessionId)
    return { session: toSession(row), sid: Number(row.sid) }
  }

  const hasOpenRun = (sid: number): boolean => sql.openRuns.get(sid) !== undefined

  function insertSession(session: SessionRecord): number {
    const { lastInsertRowid } = sql.insertSession.run(
      session.id,
      session.owner,
      session.agent,
      session.status,
      session.createdAt,
      session.lastActivity,
      session.terminatedAt,
      session.lastTool,
      JSON.stringify(session.metadata),
      session.alias,
      session.label ?? null,
      session.messageCount,
      session.state === undefined ? null : JSON.stringify(session.state),
      session.unlisted ? 1 : 0,
    )
    return Number(lastInsertRowid)
  }

  function insertRun(sid: number, run: RunRecord): number {
    const { lastInsertRowid } = sql.insertRun.run(
      run.id,
      sid,
      run.owner,
      run.agent,
      run.wireId,
      run.parentRunId,
      run.status,
      run.origin,
      JSON.stringify(run.input),
      run.createdAt,
      run.startedAt,
      run.finishedAt,
      JSON.stringify(run.usage),
      run.error === null ? null : JSON.stringify(run.error),
      run.cancelRequested ? 1 : 0,
      run.firstSeq,
      run.lastSeq,
      run.fence,
      run.leaseOwner,
    )
    return Number(lastInsertRowid)
  }

  /** Returns how many count as messages of the session. */
  function insertMessages(sid: number, messages: readonly StoredMessage[]): number {
    let counted = 0
    for (const message of messages) {
      const content = isPlainText(message.content) ? message.content : JSON.stringify(message.content)
      const { changes } = sql.insertMessage.run(
        sid,
        message.id,
        message.role,
        content,
        message.runId,
        message.createdAt,
        messageExtra(message),
        message.supersededBy ?? null,
      )
      if (Number(changes) === 1 && countsAsMessage(message.role) && message.supersededBy === undefined) counted += 1
    }
    return counted
  }

  /** Everything a run writes when it begins but its own row. Returns how the session changed. */
  function begin(sid: number, session: SessionRecord, runId: string, now: number, start: port.RunStart): SessionRecord {
    let counted = 0
    if (start.supersedeAfter !== undefined) {
      const hidden = sql.supersede.all(sid, start.supersedeAfter, runId)
      counted -= hidden.filter((row) => countsAsMessage(String(row.role) as StoredMessage['role'])).length
    }
    counted += insertMessages(sid, start.messages)
    if (start.state !== undefined) sql.setState.run(JSON.stringify(start.state), sid)
    sql.touch.run(now, counted, sid)
    return {
      ...session,
      lastActivity: Math.max(session.lastActivity, now),
      messageCount: session.messageCount + counted,
      state: start.state === undefined ? session.state : start.state,
    }
  }

  function own(live: LiveRun): void {
    const { id } = live.record
    const before = state.runs.get(id)
    state.runs.set(id, live)
    state.onRollback(() => (before === undefined ? state.runs.delete(id) : state.runs.set(id, before)))
  }

  function disown({ id, sessionId }: RunRecord): void {
    const run = state.runs.get(id)
    const session = state.sessions.get(sessionId)
    state.runs.delete(id)
    state.sessions.delete(sessionId)
    state.onRollback(() => {
      if (run !== undefined) state.runs.set(id, run)
      if (session !== undefined) state.sessions.set(sessionId, session)
    })
  }

  const fenced = (runId: string): ServerError =>
    new ServerError('run_fenced', `Run ${runId} has ended or belongs to another process.`, {
      details: { run_id: runId },
    })

  function withMetadata(sid: number, session: SessionRecord, patch: port.AcceptRun['metadata']): SessionRecord {
    if (patch === undefined) return session
    const metadata = { ...session.metadata, ...patch }
    sql.setMetadata.run(JSON.stringify(metadata), sid)
    return { ...session, metadata }
  }

  function acceptRun(command: port.AcceptRun): Done {
    const { run, idempotency } = command
    if (idempotency !== undefined) {
      const key = sql.key.get(run.owner, idempotency.key)
      if (key !== undefined && Number(key.expires_at) > run.createdAt) {
        if (key.digest !== idempotency.digest) {
          throw new ServerError(
            'idempotency_mismatch',
            'This Idempotency-Key was used with another request body. Use a new key for a new request.',
          )
        }
        const earlier = findRun(String(key.run_id)).run
        return { ok: true, firstSeq: 0, existing: true, run: earlier, session: findSession(earlier.sessionId).session }
      }
    }

    const { id, alias, owner } = command.session
    const row = sql.session.get(id) ?? (alias === null ? undefined : sql.sessionByAlias.get(owner, alias))
    if (row !== undefined && (row.owner !== run.owner || row.status === 'terminated')) throw sessionNotFound(id)
    if (
      row === undefined &&
      command.maxSessions !== null &&
      Number(sql.countSessions.get()?.n) >= command.maxSessions
    ) {
      throw new ServerError('too_many_sessions', `The server holds ${command.maxSessions} sessions, its limit.`)
    }
    if (row !== undefined) {
      const same = sql.runByWire.get(Number(row.sid), run.wireId)
      if (same !== undefined)
        return { ok: true, firstSeq: 0, existing: true, run: toRun(same), session: toSession(row) }
    }

    const open = row === undefined ? [] : sql.openRuns.all(Number(row.sid))
    if (open.length > 0 && command.onBusy === 'reject') {
      throw new ServerError('run_in_progress', 'The session is busy with another run.')
    }
    if (open.length > 0 && open.filter((other) => other.status === 'queued').length >= command.maxQueued) {
      throw new ServerError('queue_full', `${command.maxQueued} runs already wait in this session.`)
    }

    const sid = row === undefined ? insertSession(command.session) : Number(row.sid)
    const session = withMetadata(sid, row === undefined ? command.session : toSession(row), command.metadata)
    const queued: RunRecord = {
      ...run,
      sessionId: session.id,
      status: 'queued',
      fence: 0,
      leaseOwner: null,
      firstSeq: null,
      lastSeq: null,
    }
    if (idempotency !== undefined) {
      sql.putKey.run(run.owner, idempotency.key, idempotency.digest, run.id, idempotency.expiresAt)
    }
    const live = writer.live(session.id, sid)
    const { acceptEntries, start } = command
    if (open.length > 0) {
      const firstSeq = writer.appendComplete(live, run.id, acceptEntries)
      insertRun(sid, queued)
      sql.setActivity.run(run.createdAt, sid)
      const lastActivity = Math.max(session.lastActivity, run.createdAt)
      return { ok: true, firstSeq, existing: false, run: queued, session: { ...session, lastActivity } }
    }
    const firstSeq = writer.appendComplete(live, run.id, [...acceptEntries, ...start.entries])
    const record = running(queued, command.leaseOwner, run.createdAt, firstSeq + acceptEntries.length)
    own({ rid: insertRun(sid, record), sid, record })
    return {
      ok: true,
      firstSeq,
      existing: false,
      run: record,
      session: begin(sid, session, run.id, run.createdAt, start),
    }
  }

  const running = (run: RunRecord, leaseOwner: string, startedAt: number, firstSeq: number): RunRecord => ({
    ...run,
    status: 'running',
    startedAt,
    firstSeq,
    fence: run.fence + 1,
    leaseOwner,
  })

  function startRun(command: port.StartRun): Done {
    const { run, rid, sid } = findRun(command.runId)
    const blocked = sql.openRuns.all(sid).some((other) => other.status !== 'queued')
    if (run.status !== 'queued' || blocked) {
      throw new ServerError(
        'conflict',
        `Run ${run.id} cannot start: it is ${run.status}${blocked ? ' and its session is busy' : ''}.`,
      )
    }
    const firstSeq = writer.appendComplete(writer.live(run.sessionId, sid), run.id, command.start.entries)
    const record = running(run, command.leaseOwner, command.now, firstSeq)
    sql.startRun.run(command.now, firstSeq, record.fence, command.leaseOwner, rid)
    own({ rid, sid, record })
    const session = begin(sid, findSession(run.sessionId).session, run.id, command.now, command.start)
    return { ok: true, firstSeq, run: record, session }
  }

  /** Throws unless the run executes here under this fence. */
  function owned(runId: string, fence: number): LiveRun {
    const live = state.runs.get(runId)
    if (live === undefined || live.record.fence !== fence) throw fenced(runId)
    return live
  }

  function append(command: port.AppendEntries): Done {
    const { sid, record } = owned(command.runId, command.fence)
    const live = writer.live(record.sessionId, sid)
    const firstSeq =
      command.entries.length === 0
        ? 0
        : command.sync
          ? writer.appendComplete(live, command.runId, command.entries)
          : writer.appendText(live, command.runId, command.entries)
    if (command.messages !== undefined) {
      const counted = insertMessages(sid, command.messages)
      if (counted > 0) sql.addToCount.run(counted, sid)
    }
    if (command.state !== undefined) sql.setState.run(JSON.stringify(command.state), sid)
    if (command.lastTool !== undefined) sql.setTool.run(command.lastTool, sid)
    return { ok: true, firstSeq }
  }

  function finishRun(command: port.FinishRun): Done {
    const { run, rid, sid } = finishing(command)
    const live = writer.live(run.sessionId, sid)
    const firstSeq = writer.appendComplete(live, run.id, command.entries)
    writer.seal(live)
    const ended: RunRecord = {
      ...run,
      status: command.status,
      finishedAt: command.now,
      firstSeq: run.firstSeq ?? (firstSeq === 0 ? null : firstSeq),
      lastSeq: live.head,
      usage: command.usage,
      error: command.error,
      leaseOwner: null,
    }
    const error = ended.error === null ? null : JSON.stringify(ended.error)
    sql.finishRun.run(ended.status, command.now, ended.firstSeq, ended.lastSeq, JSON.stringify(ended.usage), error, rid)
    sql.touch.run(command.now, insertMessages(sid, command.messages), sid)
    if (run.status === 'running') disown(run)
    return { ok: true, firstSeq, run: ended }
  }

  function finishing(command: port.FinishRun): { run: RunRecord; rid: number; sid: number } {
    const live = state.runs.get(command.runId)
    if (live !== undefined && live.record.fence === command.fence)
      return { run: live.record, rid: live.rid, sid: live.sid }
    const found = findRun(command.runId)
    const open = found.run.status === 'queued' || (found.run.status === 'waiting' && found.run.fence === command.fence)
    if (!open) throw fenced(command.runId)
    return found
  }

  function claimRun(command: port.ClaimRun): Done {
    const { run, rid, sid } = findRun(command.runId)
    if (run.status !== 'running' || run.fence !== command.fence) throw fenced(run.id)
    const live = writer.live(run.sessionId, sid)
    const record: RunRecord = { ...run, fence: run.fence + 1, leaseOwner: command.leaseOwner }
    sql.claimRun.run(record.fence, command.leaseOwner, rid)
    own({ rid, sid, record })
    const firstSeq = writer.appendComplete(live, run.id, command.entries)
    return { ok: true, firstSeq, run: record }
  }

  function releaseRun(command: port.ReleaseRun): Done {
    const { rid, sid, record } = owned(command.runId, command.fence)
    writer.seal(writer.live(record.sessionId, sid))
    sql.releaseRun.run(rid)
    disown(record)
    return nothing
  }

  function requestCancel(command: port.RequestCancel): Done {
    const { run, rid, sid } = findRun(command.runId)
    if (isFinished(run.status)) throw new ServerError('conflict', `Run ${run.id} has already ended as ${run.status}.`)
    sql.cancelRun.run(rid)
    const record = { ...run, cancelRequested: true }
    if (state.runs.has(run.id)) own({ rid, sid, record })
    const firstSeq = writer.appendComplete(writer.live(run.sessionId, sid), run.id, command.entries)
    return { ok: true, firstSeq, run: record }
  }

  function createSession({ session }: port.CreateSession): Done {
    if (
      sql.session.get(session.id) !== undefined ||
      (session.alias !== null && sql.sessionByAlias.get(session.owner, session.alias) !== undefined)
    ) {
      throw new ServerError('conflict', `There is a session ${session.alias ?? session.id} already.`)
    }
    insertSession(session)
    return { ok: true, firstSeq: 0, session }
  }

  function updateSession(command: port.UpdateSession): Done {
    const { sid, session } = findSession(command.sessionId)
    if (session.status === 'terminated') throw sessionNotFound(command.sessionId)
    if (command.lastActivity !== undefined) sql.setActivity.run(command.lastActivity, sid)
    if (command.metadata !== undefined) sql.setMetadata.run(JSON.stringify(command.metadata), sid)
    if (command.state !== undefined) sql.setState.run(JSON.stringify(command.state), sid)
    return { ok: true, firstSeq: 0, session: findSession(command.sessionId).session }
  }

  function eraseContent(sid: number): void {
    sql.deleteKeys.run(sid)
    sql.deleteEntries.run(sid)
    sql.deleteMessages.run(sid)
    sql.deleteRuns.run(sid)
  }

  function deleteSession(command: port.DeleteSession): Done {
    const row = sql.session.get(command.sessionId)
    if (row === undefined || row.status === 'terminated') return nothing
    const sid = Number(row.sid)
    if (hasOpenRun(sid)) throw new ServerError('conflict', 'The session has an open run; end it first.')
    eraseContent(sid)
    sql.bury.run(command.now, sid)
    writer.trimTail()
    state.sessions.delete(command.sessionId)
    return nothing
  }

  function purgeSessions(command: port.PurgeSessions): Done {
    sql.expireKeys.run(command.now)
    const rows = sql.toPurge.all(command.before ?? 0, command.unlistedBefore, command.limit, command.agent ?? null)
    for (const row of rows) {
      eraseContent(Number(row.sid))
      sql.deleteSession.run(Number(row.sid))
    }
    return { ok: true, firstSeq: 0, count: rows.length }
  }

  const allEntries = (sid: number): port.StoredEntry[] =>
    sql.entries
      .all(sid)
      .flatMap((row) =>
        unpackRow(
          Number(row.first_seq),
          row.run_id === null ? null : String(row.run_id),
          String(row.data),
          row.layout === null ? null : String(row.layout),
        ),
      )

  function insertPacked(sid: number, entries: readonly port.StoredEntry[]): void {
    let from = 0
    while (from < entries.length) {
      const first = entries[from]
      if (first === undefined) return
      let to = from
      let size = 0
      while (to < entries.length && entries[to]?.runId === first.runId && size < 65_536) {
        size += entries[to]?.data.length ?? 0
        to += 1
      }
      const rows = entries.slice(from, to)
      const last = rows.at(-1)?.seq ?? first.seq
      sql.insertEntries.run(sid, first.seq, last, first.runId, packLines(rows), packLayout(rows))
      from = to
    }
  }

  function compactSession(command: port.CompactSession): Done {
    const { sid } = findSession(command.sessionId)
    if (hasOpenRun(sid) || writer.live(command.sessionId, sid).head !== command.head) {
      throw new ServerError('conflict', 'The session went on while it was compacted.')
    }
    const replaced = new Set(
      command.entries.flatMap((entry) => [entry.seq, ...(entry.spans ?? []).map(([seq]) => seq)]),
    )
    const kept = allEntries(sid).filter((entry) => !replaced.has(entry.seq))
    sql.deleteEntries.run(sid)
    insertPacked(
      sid,
      [...kept, ...command.entries].sort((a, b) => a.seq - b.seq),
    )
    sql.setCompacted.run(sid)
    state.sessions.delete(command.sessionId)
    return nothing
  }

  function importSession(command: port.ImportSession): Done {
    const taken = command.runs.find((run) => sql.run.get(run.id) !== undefined)
    if (taken !== undefined) throw new ServerError('conflict', `There is a run ${taken.id} already.`)
    createSession({ type: 'create_session', session: { ...command.session, messageCount: 0 } })
    const { sid } = findSession(command.session.id)
    for (const run of command.runs) insertRun(sid, run)
    sql.addToCount.run(insertMessages(sid, command.messages), sid)
    insertPacked(sid, command.entries)
    sql.setCeiling.run((command.entries.at(-1)?.seq ?? 0) + SEQ_BLOCK, sid)
    return nothing
  }

  return (command) => {
    switch (command.type) {
      case 'append':
        return append(command)
      case 'accept_run':
        return acceptRun(command)
      case 'finish_run':
        return finishRun(command)
      case 'start_run':
        return startRun(command)
      case 'claim_run':
        return claimRun(command)
      case 'release_run':
        return releaseRun(command)
      case 'request_cancel':
        return requestCancel(command)
      case 'create_session':
        return createSession(command)
      case 'update_session':
        return updateSession(command)
      case 'delete_session':
        return deleteSession(command)
      case 'purge_sessions':
        return purgeSessions(command)
      case 'compact_session':
        return compactSession(command)
      case 'import_session':
        return importSession(command)
      case 'renew_lease':
        sql.renewLease.run(command.leaseOwner, command.until)
        return nothing
      default:
        return unreachable(command)
    }
  }
}
