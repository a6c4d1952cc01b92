// Finds and writes the rows of sessions, runs and messages that several commands have to do with.

import type { DatabaseSync } from 'node:sqlite'
import { runNotFound, ServerError, sessionNotFound } from '../../domain/errors.ts'
import { countsAsMessage, type StoredMessage } from '../../domain/message.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { Result } from '../ports/command.ts'
import type { RunStart } from '../ports/runs.ts'
import { isPlainText, messageExtra, OPEN, type Row, toRun, toSession } from './rows.ts'
import { RUN_COLUMNS } from './run-reads.ts'

export type Done = Extract<Result, { ok: true }>

export const nothing: Done = { ok: true, firstSeq: 0 }

export const fenced = (runId: string): ServerError =>
  new ServerError('run_fenced', `Run ${runId} has ended or belongs to another process.`, {
    details: { run_id: runId },
  })

export interface FoundRun {
  run: RunRecord
  rid: number
  sid: number
}

export interface OpenRun {
  id: string
  status: RunRecord['status']
}

export interface Records {
  /** Throws `run_not_found`. */
  findRun(runId: string): FoundRun
  hasRun(runId: string): boolean
  /** Throws `session_not_found`. */
  findSession(sessionId: string): { session: SessionRecord; sid: number }
  sessionRow(sessionId: string): Row | undefined
  sessionRowByAlias(owner: string, alias: string): Row | undefined
  openRuns(sid: number): OpenRun[]
  hasOpenRun(sid: number): boolean
  insertSession(session: SessionRecord): number
  insertRun(sid: number, run: RunRecord): number
  /** The first message of an id stays. Returns how many count as messages of the session. */
  insertMessages(sid: number, messages: readonly StoredMessage[]): number
  addToCount(sid: number, count: number): void
  setState(sid: number, state: unknown): void
  setMetadata(sid: number, metadata: Record<string, unknown>): void
  setActivity(sid: number, at: number): void
  /** Activity that added messages or entries. */
  touch(sid: number, at: number, counted: number): void
  /** Everything a run writes when it begins but its own row. Returns how the session changed. */
  begin(sid: number, session: SessionRecord, runId: string, now: number, start: RunStart): SessionRecord
}

export function createRecords(db: DatabaseSync): Records {
  const sql = {
    session: db.prepare('SELECT * FROM sessions WHERE id = ?'),
    sessionByAlias: db.prepare('SELECT * FROM sessions WHERE owner = ? AND alias = ?'),
    insertSession: db.prepare(
      `INSERT INTO sessions (id, owner, agent, active_agent, status, created_at, last_activity, terminated_at, last_tool, metadata, alias, label, message_count, state, unlisted, seq_ceiling, compacted)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 1)`,
    ),
    touch: db.prepare(
      'UPDATE sessions SET last_activity = max(last_activity, ?), message_count = message_count + ?, compacted = 0 WHERE sid = ?',
    ),
    setState: db.prepare('UPDATE sessions SET state = ? WHERE sid = ?'),
    setMetadata: db.prepare('UPDATE sessions SET metadata = ? WHERE sid = ?'),
    setActivity: db.prepare('UPDATE sessions SET last_activity = max(last_activity, ?) WHERE sid = ?'),
    addToCount: db.prepare('UPDATE sessions SET message_count = message_count + ? WHERE sid = ?'),
    run: db.prepare(`SELECT runs.sid AS sid, runs.rid AS rid, ${RUN_COLUMNS} WHERE runs.id = ?`),
    openRuns: db.prepare(`SELECT id, status FROM runs WHERE sid = ? AND ${OPEN}`),
    insertRun: db.prepare(
      `INSERT INTO runs (id, sid, owner, agent, wire_id, parent_run_id, status, origin, input, created_at, started_at, finished_at, usage, error, cancel_requested, first_seq, last_seq, fence, lease_owner)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    insertMessage: db.prepare(
      `INSERT INTO messages (sid, id, role, content, run_id, created_at, extra, lane, superseded_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (sid, id) DO UPDATE SET extra = excluded.extra WHERE messages.role = 'activity' AND excluded.role = 'activity'`,
    ),
    mark: db.prepare('SELECT superseded_by IS NULL AND lane IS NULL AS shown FROM messages WHERE sid = ? AND id = ?'),
    lastSaid: db.prepare(
      `SELECT id FROM messages WHERE sid = ? AND superseded_by IS NULL AND lane IS NULL AND role = 'user' ORDER BY mid DESC LIMIT 1`,
    ),
    // Two, each in the words of its index: what a session shows, and what its sub-agents said.
    supersede: db.prepare(
      `UPDATE messages SET superseded_by = ?3 WHERE sid = ?1 AND superseded_by IS NULL AND lane IS NULL AND mid > (SELECT mid FROM messages WHERE sid = ?1 AND id = ?2) RETURNING role`,
    ),
    supersedeLanes: db.prepare(
      `UPDATE messages SET superseded_by = ?3 WHERE sid = ?1 AND superseded_by IS NULL AND lane IS NOT NULL AND +mid > (SELECT mid FROM messages WHERE sid = ?1 AND id = ?2)`,
    ),
  }

  const setState = (sid: number, state: unknown): void => void sql.setState.run(JSON.stringify(state), sid)
  const touch = (sid: number, at: number, counted: number): void => void sql.touch.run(at, counted, sid)

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
        message.lane ?? null,
        message.supersededBy ?? null,
      )
      const isShown = message.supersededBy === undefined && message.lane === undefined
      if (Number(changes) === 1 && isShown && countsAsMessage(message.role)) counted += 1
    }
    return counted
  }

  /** Where the run branches off now: since it was asked for, others may have branched, or said the same. */
  function branchPoint(sid: number, { supersedeAfter, messages }: RunStart): string | undefined {
    const isShown = (id: string) => sql.mark.get(sid, id)?.shown === 1
    const said = messages.findLast(({ role }) => role === 'user')?.id
    const brings = said !== undefined && sql.mark.get(sid, said) === undefined
    if (said !== undefined && isShown(said)) return said
    if ((brings || said === undefined) && (supersedeAfter === undefined || isShown(supersedeAfter)))
      return supersedeAfter
    const last = brings ? undefined : sql.lastSaid.get(sid)
    return last === undefined ? undefined : String(last.id)
  }

  /** Returns how many of those that were counted are hidden now. */
  function supersede(sid: number, after: string, byRun: string): number {
    sql.supersedeLanes.run(sid, after, byRun)
    const hidden = sql.supersede.all(sid, after, byRun)
    return hidden.filter((row) => countsAsMessage(String(row.role) as StoredMessage['role'])).length
  }

  return {
    findRun(runId) {
      const row = sql.run.get(runId)
      if (row === undefined) throw runNotFound(runId)
      return { run: toRun(row), rid: Number(row.rid), sid: Number(row.sid) }
    },
    hasRun: (runId) => sql.run.get(runId) !== undefined,

    findSession(sessionId) {
      const row = sql.session.get(sessionId)
      if (row === undefined) throw sessionNotFound(sessionId)
      return { session: toSession(row), sid: Number(row.sid) }
    },
    sessionRow: (sessionId) => sql.session.get(sessionId),
    sessionRowByAlias: (owner, alias) => sql.sessionByAlias.get(owner, alias),

    openRuns: (sid) =>
      sql.openRuns.all(sid).map((row) => ({ id: String(row.id), status: String(row.status) as RunRecord['status'] })),
    hasOpenRun: (sid) => sql.openRuns.get(sid) !== undefined,

    insertSession(session) {
      const { lastInsertRowid } = sql.insertSession.run(
        session.id,
        session.owner,
        session.agent,
        session.activeAgent,
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
    },

    insertRun(sid, run) {
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
    },

    insertMessages,
    addToCount: (sid, count) => void sql.addToCount.run(count, sid),
    setState,
    setMetadata: (sid, metadata) => void sql.setMetadata.run(JSON.stringify(metadata), sid),
    setActivity: (sid, at) => void sql.setActivity.run(at, sid),
    touch,

    begin(sid, session, runId, now, start) {
      let counted = 0
      const point = branchPoint(sid, start)
      if (point !== undefined) counted -= supersede(sid, point, runId)
      counted += insertMessages(sid, start.messages)
      if (start.state !== undefined) setState(sid, start.state)
      touch(sid, now, counted)
      return {
        ...session,
        lastActivity: Math.max(session.lastActivity, now),
        messageCount: session.messageCount + counted,
        state: start.state === undefined ? session.state : start.state,
      }
    },
  }
}
