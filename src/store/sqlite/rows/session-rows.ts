import type { DatabaseSync } from 'node:sqlite'
import type { SessionRecord } from '../../../domain/session.ts'
import type { SessionPatch } from '../../rules/rows.ts'

/** Writes the rows of sessions. */
export interface SessionRows {
  /** Returns the session's number. */
  insert(session: SessionRecord): number
  update(sid: number, patch: SessionPatch): void
  /** Leaves a tombstone. */
  bury(sid: number, at: number): void
  remove(sid: number): void
  /** Removes everything that belongs to the session, except the audit trail, which has no content. */
  eraseContent(sid: number): void
}

export function createSessionRows(db: DatabaseSync): SessionRows {
  const insert = db.prepare(
    `INSERT INTO sessions (id, owner, agent, active_agent, status, created_at, last_activity, terminated_at, last_tool, metadata, alias, label, message_count, state, unlisted, seq_ceiling, compacted)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 1)`,
  )
  const addMessagesAt = db.prepare(
    'UPDATE sessions SET last_activity = max(last_activity, ?), message_count = message_count + ?, compacted = 0 WHERE sid = ?',
  )
  const addMessages = db.prepare('UPDATE sessions SET message_count = message_count + ?, compacted = 0 WHERE sid = ?')
  const setActivity = db.prepare('UPDATE sessions SET last_activity = max(last_activity, ?) WHERE sid = ?')
  const setMetadata = db.prepare('UPDATE sessions SET metadata = ? WHERE sid = ?')
  const setState = db.prepare('UPDATE sessions SET state = ? WHERE sid = ?')
  const setTool = db.prepare('UPDATE sessions SET last_tool = ? WHERE sid = ?')
  const setActiveAgent = db.prepare('UPDATE sessions SET active_agent = ? WHERE sid = ?')
  const bury = db.prepare(
    `UPDATE sessions SET status = 'terminated', terminated_at = ?, alias = NULL, label = NULL, active_agent = NULL, metadata = '{}', state = NULL, last_tool = NULL, message_count = 0 WHERE sid = ?`,
  )
  const remove = db.prepare('DELETE FROM sessions WHERE sid = ?')
  const content = [
    'DELETE FROM idempotency WHERE run_id IN (SELECT id FROM runs WHERE sid = ?)',
    'DELETE FROM entries WHERE sid = ?',
    'DELETE FROM messages WHERE sid = ?',
    'DELETE FROM waits WHERE sid = ?',
    'DELETE FROM grants WHERE scope = (SELECT id FROM sessions WHERE sid = ?)',
    'DELETE FROM files WHERE sid = ?',
    'DELETE FROM runs WHERE sid = ?',
  ].map((statement) => db.prepare(statement))

  return {
    insert(session) {
      const { lastInsertRowid } = insert.run(
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

    update(sid, { lastActivity, messagesAdded, metadata, state, lastTool, activeAgent }) {
      if (messagesAdded === undefined) {
        if (lastActivity !== undefined) setActivity.run(lastActivity, sid)
      } else if (lastActivity === undefined) addMessages.run(messagesAdded, sid)
      else addMessagesAt.run(lastActivity, messagesAdded, sid)
      if (metadata !== undefined) setMetadata.run(JSON.stringify(metadata), sid)
      if (state !== undefined) setState.run(JSON.stringify(state), sid)
      if (lastTool !== undefined) setTool.run(lastTool, sid)
      if (activeAgent !== undefined) setActiveAgent.run(activeAgent, sid)
    },

    bury: (sid, at) => void bury.run(at, sid),
    remove: (sid) => void remove.run(sid),
    eraseContent(sid) {
      for (const statement of content) statement.run(sid)
    },
  }
}
