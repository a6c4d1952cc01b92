// The commands of whole sessions: made, changed, removed, imported, compacted.

import { ServerError, sessionNotFound } from '../../domain/errors.ts'
import type {
  CompactSession,
  CreateSession,
  DeleteSession,
  ImportSession,
  PurgeSessions,
  UpdateSession,
} from '../ports/sessions.ts'
import { SEQ_BLOCK } from './live-sessions.ts'
import { createPackedEntries } from './packed-entries.ts'
import { type Done, nothing } from './records.ts'
import { OPEN } from './rows.ts'
import type { Tables } from './tables.ts'

export interface SessionCommands {
  createSession(command: CreateSession): Done
  updateSession(command: UpdateSession): Done
  deleteSession(command: DeleteSession): Done
  purgeSessions(command: PurgeSessions): Done
  compactSession(command: CompactSession): Done
  importSession(command: ImportSession): Done
}

export function createSessionCommands({ db, state, writer, records, waits, grants, files }: Tables): SessionCommands {
  const packed = createPackedEntries(db)
  const sql = {
    bury: db.prepare(
      `UPDATE sessions SET status = 'terminated', terminated_at = ?, alias = NULL, label = NULL, active_agent = NULL, metadata = '{}', state = NULL, last_tool = NULL, message_count = 0 WHERE sid = ?`,
    ),
    setCompacted: db.prepare('UPDATE sessions SET compacted = 1 WHERE sid = ?'),
    deleteMessages: db.prepare('DELETE FROM messages WHERE sid = ?'),
    deleteRuns: db.prepare('DELETE FROM runs WHERE sid = ?'),
    deleteKeys: db.prepare('DELETE FROM idempotency WHERE run_id IN (SELECT id FROM runs WHERE sid = ?)'),
    setCeiling: db.prepare('UPDATE sessions SET seq_ceiling = ? WHERE sid = ?'),
    expireKeys: db.prepare('DELETE FROM idempotency WHERE expires_at <= ?'),
    toPurge: db.prepare(
      `SELECT sid FROM sessions
       WHERE (?4 IS NULL OR agent = ?4)
         AND ((unlisted = 0 AND max(last_activity, coalesce(terminated_at, 0)) < ?1) OR (unlisted = 1 AND last_activity < ?2))
         AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.sid = sessions.sid AND runs.${OPEN})
       ORDER BY last_activity LIMIT ?3`,
    ),
    deleteSession: db.prepare('DELETE FROM sessions WHERE sid = ?'),
  }

  /** The audit trail stays: it holds no content. */
  function eraseContent(sid: number): void {
    sql.deleteKeys.run(sid)
    packed.remove(sid)
    sql.deleteMessages.run(sid)
    waits.removeOfSession(sid)
    grants.removeOfSession(sid)
    files.removeOfSession(sid)
    sql.deleteRuns.run(sid)
  }

  function createSession({ session }: CreateSession): Done {
    if (
      records.sessionRow(session.id) !== undefined ||
      (session.alias !== null && records.sessionRowByAlias(session.owner, session.alias) !== undefined)
    ) {
      throw new ServerError('conflict', `There is a session ${session.alias ?? session.id} already.`)
    }
    records.insertSession(session)
    return { ok: true, firstSeq: 0, session }
  }

  return {
    createSession,

    updateSession(command) {
      const { sid, session } = records.findSession(command.sessionId)
      if (session.status === 'terminated') throw sessionNotFound(command.sessionId)
      if (command.lastActivity !== undefined) records.setActivity(sid, command.lastActivity)
      if (command.metadata !== undefined) records.setMetadata(sid, command.metadata)
      if (command.state !== undefined) records.setState(sid, command.state)
      return { ok: true, firstSeq: 0, session: records.findSession(command.sessionId).session }
    },

    deleteSession(command) {
      const row = records.sessionRow(command.sessionId)
      if (row === undefined || row.status === 'terminated') return nothing
      const sid = Number(row.sid)
      if (records.hasOpenRun(sid)) throw new ServerError('conflict', 'The session has an open run; end it first.')
      eraseContent(sid)
      sql.bury.run(command.now, sid)
      writer.trimTail()
      state.sessions.delete(command.sessionId)
      return nothing
    },

    purgeSessions(command) {
      sql.expireKeys.run(command.now)
      grants.removeExpired(command.now)
      files.removeUnsent(command.unsentBefore)
      const rows = sql.toPurge.all(command.before ?? 0, command.unlistedBefore, command.limit, command.agent ?? null)
      for (const row of rows) {
        eraseContent(Number(row.sid))
        sql.deleteSession.run(Number(row.sid))
      }
      return { ok: true, firstSeq: 0, count: rows.length }
    },

    compactSession(command) {
      const { sid } = records.findSession(command.sessionId)
      if (records.hasOpenRun(sid) || writer.live(command.sessionId, sid).head !== command.head) {
        throw new ServerError('conflict', 'The session went on while it was compacted.')
      }
      const replaced = new Set(
        command.entries.flatMap((entry) => [entry.seq, ...(entry.spans ?? []).map(([seq]) => seq)]),
      )
      const kept = packed.all(sid).filter((entry) => !replaced.has(entry.seq))
      packed.remove(sid)
      packed.insert(
        sid,
        [...kept, ...command.entries].sort((a, b) => a.seq - b.seq),
      )
      sql.setCompacted.run(sid)
      state.sessions.delete(command.sessionId)
      return nothing
    },

    importSession(command) {
      const run = command.runs.find(({ id }) => records.hasRun(id))
      if (run !== undefined) throw new ServerError('conflict', `There is a run ${run.id} already.`)
      const wait = command.waits?.find(({ id }) => waits.find(id) !== null)
      if (wait !== undefined) throw new ServerError('conflict', `There is a wait ${wait.id} already.`)
      createSession({ type: 'create_session', session: { ...command.session, messageCount: 0 } })
      const { sid } = records.findSession(command.session.id)
      for (const one of command.runs) records.insertRun(sid, one)
      records.addToCount(sid, records.insertMessages(sid, command.messages))
      for (const one of command.waits ?? []) waits.insert(sid, one)
      packed.insert(sid, command.entries)
      sql.setCeiling.run((command.entries.at(-1)?.seq ?? 0) + SEQ_BLOCK, sid)
      return nothing
    },
  }
}
