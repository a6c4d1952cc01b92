import type { DatabaseSync } from 'node:sqlite'
import { textOf } from '../../../domain/session/message.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import { activityOf, type SessionOverview, titleOf } from '../../../domain/session/session-overview.ts'
import { type SupervisedStatus, supervisedStatuses } from '../../../domain/supervision/supervision.ts'
import type { SessionReads } from '../../ports/sessions.ts'
import type { SupervisedReads } from '../../ports/supervised.ts'
import type { SessionPatch } from '../../rules/rows.ts'
import { activityConditions, OPEN_RECORD, OPEN_RECORD_OF_ANY_KIND } from '../../tables/conditions.ts'
import { messageColumns, toMessage } from '../../tables/messages.ts'
import { eraseRows } from '../../tables/row-writes.ts'
import { OPEN } from '../../tables/runs.ts'
import {
  createSessionLists,
  jsonOrNull,
  LISTED_COLUMNS,
  newSessionColumns,
  SESSION_COLUMNS,
  sessionValues,
  toSession,
} from '../../tables/sessions.ts'
import { insertRow, type Reading } from '../../tables/statement.ts'
import type { LiveState } from '../live-sessions.ts'
import type { Statements } from '../statements.ts'

const OWN_COLUMNS = 'supervision, supervised_status, seq_ceiling, compacted'

/** Writes the rows of sessions. */
export function createSessionRows(db: DatabaseSync, { run }: Statements) {
  const insert = run(insertRow('sessions', `${Object.keys(newSessionColumns).join(', ')}, ${OWN_COLUMNS}`).text)
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
  const shared = eraseRows.map(({ text }) => run(text))
  // SQLite gives the numbers of removed messages to new ones if they were the highest.
  const indexAgain = db.prepare(
    'UPDATE search_state SET indexed_to = min(indexed_to, (SELECT ifnull(max(mid), 0) FROM messages)) WHERE only = 1',
  )
  const titleIsDue = db.prepare('INSERT OR IGNORE INTO search_due (sid) VALUES (?)')
  const addTokens = db.prepare('UPDATE sessions SET tokens = tokens + ? WHERE sid = ?')

  return {
    /** Returns the session's number. */
    insert(session: SessionRecord): number {
      const { supervision } = session
      const sid = insert(...sessionValues(session), jsonOrNull(supervision), supervision?.status ?? null, 0, true)
      if (supervision !== undefined) titleIsDue.run(sid)
      return sid
    },

    update(sid: number, patch: SessionPatch): void {
      const { lastActivity, messagesAdded, metadata, state, lastTool, activeAgent } = patch
      if (messagesAdded === undefined) {
        if (lastActivity !== undefined) setActivity.run(lastActivity, sid)
      } else if (lastActivity === undefined) addMessages.run(messagesAdded, sid)
      else addMessagesAt.run(lastActivity, messagesAdded, sid)
      if (metadata !== undefined) setMetadata.run(JSON.stringify(metadata), sid)
      if (state !== undefined) setState.run(JSON.stringify(state), sid)
      if (lastTool !== undefined) setTool.run(lastTool, sid)
      if (activeAgent !== undefined) setActiveAgent.run(activeAgent, sid)
    },

    updateSupervision(sid: number, before: SessionRecord, session: SessionRecord): void {
      const { owner, lastActivity, lastTool, supervision } = session
      const { title, prompt } = before.supervision ?? {}
      if (title !== supervision?.title || prompt !== supervision?.prompt || owner !== before.owner) titleIsDue.run(sid)
      setSupervision.run(owner, lastActivity, lastTool, jsonOrNull(supervision), supervision?.status ?? null, sid)
    },
    /** Leaves a tombstone. */
    bury: (sid: number, at: number): void => void bury.run(at, sid),
    remove: (sid: number): void => void remove.run(sid),
    /** Removes everything that belongs to the session, except the audit trail, which has no content. */
    eraseContent(sid: number, sessionId: string): void {
      for (const statement of numbered) statement.run(sid)
      for (const erase of shared) erase(sessionId)
      indexAgain.run()
    },
    addTokens: (sid: number, tokens: number): void => void addTokens.run(tokens, sid),
  }
}

export function createSessionReads(db: DatabaseSync, statements: Statements, reading: Reading): SessionReads {
  const { one, many } = reading
  const overview = createOverview(db, statements)

  return {
    ...createSessionLists(reading, WITH_ACTIVITY),
    byAlias: one(
      { name: 'session_by_alias', text: `SELECT ${SESSION_COLUMNS} FROM sessions WHERE owner = $1 AND alias = $2` },
      toSession,
    ),
    overview: async (ids) => ids.flatMap((id) => overview(id) ?? []),
    toCompact: many(
      {
        name: 'sessions_to_compact',
        text: `SELECT id FROM sessions INDEXED BY sessions_uncompacted WHERE compacted = 0 AND last_activity < $1 AND status <> 'terminated'
          AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.sid = sessions.sid AND runs.${OPEN})
          ORDER BY +last_activity LIMIT $2`,
      },
      ([id]: [string]) => id,
    ),
  }
}

/** There are few of them, so SQLite should find them by status and sort them. */
export function createSupervisedSessions({ many }: Reading): SupervisedReads['sessions'] {
  const found = many(
    {
      name: 'supervised_list',
      text: `SELECT ${LISTED_COLUMNS} FROM sessions
        WHERE supervised_status = ANY($4::text[]) AND NOT unlisted AND ($1 IS NULL OR owner = $1)
          AND ($2 IS NULL OR supervision ->> 'workspaceRoot' = $2) AND ($3 IS NULL OR supervision ->> 'tokenId' = $3)
          AND ($6 IS NULL OR EXISTS (SELECT 1 FROM json_each(supervision, '$.mcp') WHERE json_each.value ->> 'id' = $6))
          AND ($7 IS NULL OR substr(supervision ->> 'connectionId', 1, length($7)) = $7)
        ORDER BY +last_activity DESC, +id DESC LIMIT $5`,
    },
    toSession,
  )
  return ({ owner, workspaceRoot, tokenId, mcpConnection, connectionFrom, statuses = supervisedStatuses, limit }) =>
    found(owner, workspaceRoot, tokenId, statuses, limit, mcpConnection, connectionFrom)
}

const WITH_ACTIVITY = activityConditions({
  // Not a reason to choose another index: the list is read in its order.
  supervised: '+supervised_status',
  running: (is) => `sid ${is} (SELECT sid FROM runs WHERE ${OPEN} AND status = 'running')`,
  queued: (is) => `sid ${is} (SELECT sid FROM runs WHERE ${OPEN} AND status = 'queued')`,
  waiting: (is) => `id ${is} (SELECT session FROM waits WHERE ${OPEN_RECORD_OF_ANY_KIND})`,
})

function createOverview(db: DatabaseSync, { one }: Statements): (id: string) => SessionOverview | null {
  const session = db.prepare(
    `SELECT sid, tokens, supervised_status AS supervised, supervision ->> 'title' AS title,
       supervision ->> 'workspaceRoot' AS folder, supervision ->> 'prompt' AS prompt,
       EXISTS (SELECT 1 FROM runs WHERE runs.sid = sessions.sid AND runs.${OPEN} AND runs.status = 'running') AS running,
       EXISTS (SELECT 1 FROM runs WHERE runs.sid = sessions.sid AND runs.${OPEN} AND runs.status = 'queued') AS queued,
       (SELECT count(*) FROM waits WHERE waits.session = sessions.id AND waits.${OPEN_RECORD}) AS pending
     FROM sessions WHERE id = ? AND status <> 'terminated'`,
  )
  // A conversation begins with what its user says, or with a few words to the model before it.
  const firstMessage = one(
    `SELECT * FROM (SELECT ${messageColumns('mid')} FROM messages WHERE sid = $1 AND superseded_by IS NULL AND lane IS NULL ORDER BY mid LIMIT 10)
     WHERE role = 'user' LIMIT 1`,
    toMessage,
  )

  return (id) => {
    const row = session.get(id)
    if (row === undefined) return null
    const { sid, tokens, supervised, title, folder, prompt, running, queued, pending } = row
    const first = supervised === null ? firstMessage(sid) : null
    const work = {
      supervised: supervised === null ? null : (String(supervised) as SupervisedStatus),
      isRunning: running === 1,
      hasQueued: queued === 1,
      pending: Number(pending),
    }
    return {
      id,
      title: titleOf(first === null ? String(title ?? '') : textOf(first.content)),
      activity: activityOf(work),
      pending: work.pending,
      tokens: Number(tokens),
      elsewhere:
        work.supervised === null
          ? null
          : { workspaceRoot: String(folder), prompt: prompt === null ? null : String(prompt) },
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

export type CommandSession = ReturnType<typeof createCommandSession>

/** Remembers the session of the current command, so that its number is looked up once and not for every row. */
export function createCommandSession(lookUp: SessionIds) {
  let known: string | null = null
  let knownSid: number | null = null
  let isNew = false

  /** The command read this session's row, or found that there is none. */
  function found(sessionId: string, sid: number | null): void {
    known = sessionId
    knownSid = sid
    isNew = false
  }

  return {
    sid(sessionId: string): number | null {
      if (sessionId !== known) found(sessionId, lookUp(sessionId))
      return knownSid
    },
    found,
    /** The command created this session, so its log is empty. */
    made(sessionId: string, sid: number): void {
      found(sessionId, sid)
      isNew = true
    },
    isNew: (sessionId: string): boolean => isNew && sessionId === known,
    /** Call it before each command: the last one may have been rolled back. */
    forget(): void {
      known = null
    },
  }
}
