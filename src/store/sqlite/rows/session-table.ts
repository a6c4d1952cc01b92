import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { SessionRecord } from '../../../domain/session.ts'
import type { SessionQuery, SessionReads } from '../../ports/sessions.ts'
import type { SessionPatch } from '../../rules/rows.ts'
import type { LiveState } from '../live-sessions.ts'
import { OPEN, prepareSessions, readSession } from './rows.ts'

/** Writes the rows of sessions. */
export interface SessionRows {
  /** Returns the session's number. */
  insert(session: SessionRecord): number
  update(sid: number, patch: SessionPatch): void
  updateSupervision(sid: number, session: SessionRecord): void
  /** Leaves a tombstone. */
  bury(sid: number, at: number): void
  remove(sid: number): void
  /** Removes everything that belongs to the session, except the audit trail, which has no content. */
  eraseContent(sid: number): void
}

export function createSessionRows(db: DatabaseSync): SessionRows {
  const insert = db.prepare(
    `INSERT INTO sessions (id, owner, agent, active_agent, status, created_at, last_activity, terminated_at, last_tool, metadata, alias, label, message_count, state, unlisted, supervision, supervised_status, seq_ceiling, compacted)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 1)`,
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
  const setSupervision = db.prepare(
    'UPDATE sessions SET owner = ?, last_activity = ?, last_tool = ?, supervision = ?, supervised_status = ? WHERE sid = ?',
  )
  const bury = db.prepare(
    `UPDATE sessions SET status = 'terminated', supervision = NULL, supervised_status = NULL, terminated_at = ?, alias = NULL, label = NULL, active_agent = NULL, metadata = '{}', state = NULL, last_tool = NULL, message_count = 0 WHERE sid = ?`,
  )
  const remove = db.prepare('DELETE FROM sessions WHERE sid = ?')
  const content = [
    'DELETE FROM idempotency WHERE run_id IN (SELECT id FROM runs WHERE sid = ?)',
    'DELETE FROM entries WHERE sid = ?',
    'DELETE FROM messages WHERE sid = ?',
    'DELETE FROM waits WHERE sid = ?',
    'DELETE FROM proposals WHERE sid = ?',
    'DELETE FROM instructions WHERE sid = ?',
    'DELETE FROM checkpoints WHERE sid = ?',
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
        session.supervision === undefined ? null : JSON.stringify(session.supervision),
        session.supervision?.status ?? null,
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

    updateSupervision(sid, { owner, lastActivity, lastTool, supervision }) {
      const data = supervision === undefined ? null : JSON.stringify(supervision)
      setSupervision.run(owner, lastActivity, lastTool, data, supervision?.status ?? null, sid)
    },
    bury: (sid, at) => void bury.run(at, sid),
    remove: (sid) => void remove.run(sid),
    eraseContent(sid) {
      for (const statement of content) statement.run(sid)
    },
  }
}

export function createSessionReads(db: DatabaseSync): SessionReads {
  const sessionById = prepareSessions(db, 'id = ?')
  const sessionByAlias = prepareSessions(db, 'owner = ? AND alias = ?')
  const sessionLists = new Map<string, StatementSync>()
  /** Prepares one statement for each combination of conditions. */
  function listSessions({ owner, label, unlisted = false, limit, before }: SessionQuery) {
    const conditions = ["status <> 'terminated'"]
    const values: (string | number)[] = []
    if (!unlisted) conditions.push('unlisted = 0')
    if (owner !== undefined) {
      conditions.push('owner = ?')
      values.push(owner)
    }
    if (label === null) conditions.push('label IS NULL')
    else if (label !== undefined) {
      conditions.push('label = ?')
      values.push(label)
    }
    if (before !== undefined) {
      conditions.push('(last_activity, id) < (?, ?)')
      values.push(before.lastActivity, before.id)
    }
    const where = `${conditions.join(' AND ')} ORDER BY last_activity DESC, id DESC LIMIT ?`
    const statement = sessionLists.get(where) ?? prepareSessions(db, where, { withState: false })
    sessionLists.set(where, statement)
    return statement.all(...values, limit)
  }
  const countSince = db.prepare(
    `SELECT count(*) AS n FROM sessions WHERE last_activity >= ? AND status <> 'terminated'`,
  )
  const toCompact = db.prepare(
    `SELECT id FROM sessions INDEXED BY sessions_uncompacted WHERE compacted = 0 AND last_activity < ? AND status <> 'terminated'
     AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.sid = sessions.sid AND runs.${OPEN})
     ORDER BY +last_activity LIMIT ?`,
  )

  return {
    async get(id) {
      const row = sessionById.get(id)
      return row === undefined ? null : readSession(row).session
    },
    async byAlias(owner, alias) {
      const row = sessionByAlias.get(owner, alias)
      return row === undefined ? null : readSession(row).session
    },
    async list(query) {
      return listSessions(query).map((row) => readSession(row).session)
    },
    async count(since) {
      return Number(countSince.get(since)?.n ?? 0)
    },
    async toCompact(before, limit) {
      return toCompact.all(before, limit).map((row) => String(row.id))
    },
  }
}

/** The number that a session has in the tables, null when there is no such session. */
export type SessionIds = (sessionId: string) => number | null

export function createSessionIds(db: DatabaseSync, state: LiveState): SessionIds {
  const find = db.prepare('SELECT sid FROM sessions WHERE id = ?')
  return (sessionId) => {
    const live = state.sessions.get(sessionId)
    if (live !== undefined) return live.sid
    const row = find.get(sessionId)
    return row === undefined ? null : Number(row.sid)
  }
}

/** Remembers the session of the current command, so that its number is looked up once and not for every row. */
export interface CommandSession {
  sid: SessionIds
  /** The command read this session's row, or found that there is none. */
  found(sessionId: string, sid: number | null): void
  /** The command created this session, so its log is empty. */
  made(sessionId: string, sid: number): void
  isNew(sessionId: string): boolean
  /** Call it before each command: the last one may have been rolled back. */
  forget(): void
}

export function createCommandSession(lookUp: SessionIds): CommandSession {
  let known: string | null = null
  let knownSid: number | null = null
  let isNew = false

  function found(sessionId: string, sid: number | null): void {
    known = sessionId
    knownSid = sid
    isNew = false
  }

  return {
    sid(sessionId) {
      if (sessionId !== known) found(sessionId, lookUp(sessionId))
      return knownSid
    },
    found,
    made(sessionId, sid) {
      found(sessionId, sid)
      isNew = true
    },
    isNew: (sessionId) => isNew && sessionId === known,
    forget() {
      known = null
    },
  }
}
