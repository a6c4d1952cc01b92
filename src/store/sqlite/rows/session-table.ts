import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { textOf } from '../../../domain/session/message.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import { activityOf, type SessionOverview, titleOf } from '../../../domain/session/session-overview.ts'
import { type SupervisedStatus, supervisedStatuses } from '../../../domain/supervision/supervision.ts'
import { activityConditions, OPEN_RECORD, OPEN_RECORD_OF_ANY_KIND } from '../../packing/conditions.ts'
import type { SessionQuery, SessionReads } from '../../ports/sessions.ts'
import type { SupervisedReads } from '../../ports/supervised.ts'
import type { SessionPatch } from '../../rules/rows.ts'
import type { LiveState } from '../live-sessions.ts'
import { OPEN, prepareSessions, readSession, toMessage } from './rows.ts'

/** Writes the rows of sessions. */
export interface SessionRows {
  /** Returns the session's number. */
  insert(session: SessionRecord): number
  update(sid: number, patch: SessionPatch): void
  updateSupervision(sid: number, before: SessionRecord, session: SessionRecord): void
  /** Leaves a tombstone. */
  bury(sid: number, at: number): void
  remove(sid: number): void
  /** Removes everything that belongs to the session, except the audit trail, which has no content. */
  eraseContent(sid: number, sessionId: string): void
  addTokens(sid: number, tokens: number): void
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
    `UPDATE sessions SET status = 'terminated', supervision = NULL, supervised_status = NULL, terminated_at = ?, alias = NULL, label = NULL, active_agent = NULL, metadata = '{}', state = NULL, last_tool = NULL, message_count = 0, tokens = 0 WHERE sid = ?`,
  )
  const remove = db.prepare('DELETE FROM sessions WHERE sid = ?')
  const numbered = [
    'DELETE FROM idempotency WHERE run_id IN (SELECT id FROM runs WHERE sid = ?)',
    'DELETE FROM search_words WHERE rowid IN (SELECT mid FROM messages WHERE sid = ?)',
    'DELETE FROM search_words WHERE rowid = -?',
    ...['search_due', 'entries', 'messages', 'runs'].map((table) => `DELETE FROM ${table} WHERE sid = ?`),
  ].map((statement) => db.prepare(statement))
  const named = [
    ...['waits', 'proposals', 'instructions', 'checkpoints', 'files', 'channel_notes'].map(
      (table) => `DELETE FROM ${table} WHERE session = ?`,
    ),
    'DELETE FROM grants WHERE scope = ?',
  ].map((statement) => db.prepare(statement))
  // SQLite gives the numbers of removed messages to new ones if they were the highest.
  const indexAgain = db.prepare(
    'UPDATE search_state SET indexed_to = min(indexed_to, (SELECT ifnull(max(mid), 0) FROM messages)) WHERE only = 1',
  )
  const titleIsDue = db.prepare('INSERT OR IGNORE INTO search_due (sid) VALUES (?)')
  const addTokens = db.prepare('UPDATE sessions SET tokens = tokens + ? WHERE sid = ?')

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
      if (session.supervision !== undefined) titleIsDue.run(lastInsertRowid)
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

    updateSupervision(sid, before, { owner, lastActivity, lastTool, supervision }) {
      const { title, prompt } = before.supervision ?? {}
      if (title !== supervision?.title || prompt !== supervision?.prompt || owner !== before.owner) titleIsDue.run(sid)
      const data = supervision === undefined ? null : JSON.stringify(supervision)
      setSupervision.run(owner, lastActivity, lastTool, data, supervision?.status ?? null, sid)
    },
    bury: (sid, at) => void bury.run(at, sid),
    remove: (sid) => void remove.run(sid),
    eraseContent(sid, sessionId) {
      for (const statement of numbered) statement.run(sid)
      for (const statement of named) statement.run(sessionId)
      indexAgain.run()
    },
    addTokens: (sid, tokens) => void addTokens.run(tokens, sid),
  }
}

export function createSessionReads(db: DatabaseSync): SessionReads {
  const sessionById = prepareSessions(db, 'id = ?')
  const sessionByAlias = prepareSessions(db, 'owner = ? AND alias = ?')
  const sessionLists = new Map<string, StatementSync>()
  /** Prepares one statement for each combination of conditions. */
  function listSessions(query: SessionQuery) {
    const { owner, label, agent, kind, activity, since, until, unlisted = false, limit, before } = query
    const conditions = ["status <> 'terminated'"]
    const values: (string | number)[] = []
    const where = (condition: string, value: string | number | undefined) => {
      if (value === undefined) return
      conditions.push(condition)
      values.push(value)
    }
    if (!unlisted) conditions.push('unlisted = 0')
    where('owner = ?', owner)
    // Not a reason to choose another index: the list is read in its order.
    where('+agent = ?', agent)
    where('last_activity >= ?', since)
    where('last_activity <= ?', until)
    if (kind !== undefined) conditions.push(`+supervised_status IS ${kind === 'chat' ? '' : 'NOT '}NULL`)
    if (activity !== undefined) conditions.push(WITH_ACTIVITY[activity])
    if (label === null) conditions.push('label IS NULL')
    else where('label = ?', label)
    if (before !== undefined) {
      conditions.push('(last_activity, id) < (?, ?)')
      values.push(before.lastActivity, before.id)
    }
    const sql = `${conditions.join(' AND ')} ORDER BY last_activity DESC, id DESC LIMIT ? + 0`
    const statement = sessionLists.get(sql) ?? prepareSessions(db, sql, { withState: false })
    sessionLists.set(sql, statement)
    return statement.all(...values, limit)
  }
  const countSince = db.prepare(
    `SELECT count(*) AS n FROM sessions WHERE last_activity >= ? AND status <> 'terminated'`,
  )
  const overview = createOverview(db)
  const toCompact = db.prepare(
    `SELECT id FROM sessions INDEXED BY sessions_uncompacted WHERE compacted = 0 AND last_activity < ? AND status <> 'terminated'
     AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.sid = sessions.sid AND runs.${OPEN})
     ORDER BY +last_activity LIMIT ? + 0`,
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
    async overview(ids) {
      return ids.flatMap((id) => overview(id) ?? [])
    },
    async count(since) {
      return Number(countSince.get(since)?.n ?? 0)
    },
    async toCompact(before, limit) {
      return toCompact.all(before, limit).map((row) => String(row.id))
    },
  }
}

/** There are few of them, so SQLite should find them by status and sort them. */
export function createSupervisedSessions(db: DatabaseSync): SupervisedReads['sessions'] {
  const found = prepareSessions(
    db,
    `supervised_status IN (SELECT value FROM json_each(?4)) AND unlisted = 0 AND (?1 IS NULL OR owner = ?1)
     AND (?2 IS NULL OR supervision ->> 'workspaceRoot' = ?2) AND (?3 IS NULL OR supervision ->> 'tokenId' = ?3)
     AND (?6 IS NULL OR EXISTS (SELECT 1 FROM json_each(supervision, '$.mcp') WHERE json_each.value ->> 'id' = ?6))
     ORDER BY +last_activity DESC, +id DESC LIMIT ?5 + 0`,
    { withState: false },
  )
  return async (query) => {
    const { owner = null, workspaceRoot = null, tokenId = null, mcpConnection = null } = query
    const { statuses = supervisedStatuses, limit } = query
    return found
      .all(owner, workspaceRoot, tokenId, JSON.stringify(statuses), limit, mcpConnection)
      .map((row) => readSession(row).session)
  }
}

const WITH_ACTIVITY = activityConditions({
  // Not a reason to choose another index: the list is read in its order.
  supervised: '+supervised_status',
  running: (is) => `sid ${is} (SELECT sid FROM runs WHERE ${OPEN} AND status = 'running')`,
  queued: (is) => `sid ${is} (SELECT sid FROM runs WHERE ${OPEN} AND status = 'queued')`,
  waiting: (is) => `id ${is} (SELECT session FROM waits WHERE ${OPEN_RECORD_OF_ANY_KIND})`,
})

function createOverview(db: DatabaseSync): (id: string) => SessionOverview | null {
  const session = db.prepare(
    `SELECT sid, tokens, supervised_status AS supervised, supervision ->> 'title' AS title,
       supervision ->> 'workspaceRoot' AS folder, supervision ->> 'prompt' AS prompt,
       EXISTS (SELECT 1 FROM runs WHERE runs.sid = sessions.sid AND runs.${OPEN} AND runs.status = 'running') AS running,
       EXISTS (SELECT 1 FROM runs WHERE runs.sid = sessions.sid AND runs.${OPEN} AND runs.status = 'queued') AS queued,
       (SELECT count(*) FROM waits WHERE waits.session = sessions.id AND waits.${OPEN_RECORD}) AS pending
     FROM sessions WHERE id = ? AND status <> 'terminated'`,
  )
  // A conversation begins with what its user says, or with a few words to the model before it.
  const firstWords = db.prepare(
    `SELECT * FROM (SELECT * FROM messages WHERE sid = ? AND superseded_by IS NULL AND lane IS NULL ORDER BY mid LIMIT 10)
     WHERE role = 'user' LIMIT 1`,
  )

  return (id) => {
    const row = session.get(id)
    if (row === undefined) return null
    const { sid, tokens, supervised, title, folder, prompt, running, queued, pending } = row
    const first = supervised === null ? firstWords.get(sid ?? null) : undefined
    const work = {
      supervised: supervised === null ? null : (String(supervised) as SupervisedStatus),
      isRunning: running === 1,
      hasQueued: queued === 1,
      pending: Number(pending),
    }
    return {
      id,
      title: titleOf(first === undefined ? String(title ?? '') : textOf(toMessage(first).content)),
      activity: activityOf(work),
      pending: work.pending,
      tokens: Number(tokens),
      elsewhere:
        work.supervised === null
          ? null
          : {
              status: work.supervised,
              workspaceRoot: String(folder),
              prompt: prompt === null ? null : String(prompt),
            },
    }
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
