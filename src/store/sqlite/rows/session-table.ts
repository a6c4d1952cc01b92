import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { textOf } from '../../../domain/session/message.ts'
import { type RunRecord, tokensOf } from '../../../domain/session/run.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import { activityOf, type SessionOverview, titleOf } from '../../../domain/session/session-overview.ts'
import { type Supervision, supervisedStatuses } from '../../../domain/supervision/supervision.ts'
import type { SessionReads } from '../../ports/sessions.ts'
import type { SupervisedReads } from '../../ports/supervised.ts'
import type { Change, SessionPatch } from '../../rules/rows.ts'
import { patched } from '../../rules/run-rules.ts'
import { activityConditions, OPEN_RECORD, OPEN_RECORD_OF_ANY_KIND } from '../../tables/conditions.ts'
import { messageColumns, toMessage } from '../../tables/messages.ts'
import { eraseRows } from '../../tables/row-writes.ts'
import { OPEN } from '../../tables/runs.ts'
import {
  createSessionLists,
  jsonOrNull,
  LISTED_COLUMNS,
  mergedPatch,
  newSessionColumns,
  SESSION_COLUMNS,
  sessionValues,
  toSession,
} from '../../tables/sessions.ts'
import { insertRow, type Reading } from '../../tables/statement.ts'
import { type LiveState, SEQ_BLOCK } from '../live-sessions.ts'
import type { Statements } from '../statements.ts'

const OWN_COLUMNS = 'supervision, supervised_status, seq_ceiling, compacted, tokens'

/** Writes the rows of sessions. */
export function createSessionRows(db: DatabaseSync, { run }: Statements) {
  const insert = run(insertRow('sessions', `${Object.keys(newSessionColumns).join(', ')}, ${OWN_COLUMNS}`).text)
  /** By the columns that they set: an update writes the indexes of every column that it names. */
  const updates = new Map<string, StatementSync>()
  const setSupervision = db.prepare(
    'UPDATE sessions SET owner = ?, last_activity = ?, last_tool = ?, supervision = ?, supervised_status = ? WHERE sid = ?',
  )
  const bury = db.prepare(
    `UPDATE sessions SET status = 'terminated', supervision = NULL, supervised_status = NULL, terminated_at = ?, alias = NULL, label = NULL, active_agent = NULL, metadata = '{}', state = NULL, last_tool = NULL, message_count = 0, tokens = 0, title = NULL, failure = NULL WHERE sid = ?`,
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

  return {
    /** Writes it as the update leaves it. Returns the session's number. */
    insert(made: SessionRecord, { patch, tokens }: SessionUpdate = NO_UPDATE): number {
      const session = patched(made, patch)
      const { supervision } = session
      const own = [jsonOrNull(supervision), supervision?.status ?? null, SEQ_BLOCK, patch.grows !== true]
      const sid = insert(...sessionValues(session), ...own, tokens)
      if (supervision !== undefined) titleIsDue.run(sid)
      return sid
    },

    update(sid: number, { patch, tokens }: SessionUpdate): void {
      const { lastActivity, lastRead, messagesAdded, grows, title, failure, metadata, state, lastTool, activeAgent } =
        patch
      let sets = grows ? 'compacted = 0' : ''
      const values: (string | number | null)[] = []
      function set(column: string, value: string | number | null): void {
        sets += sets === '' ? column : `, ${column}`
        values.push(value)
      }
      if (lastActivity !== undefined) set('last_activity = max(last_activity, ?)', lastActivity)
      if (lastRead !== undefined) set('last_read = ?', lastRead)
      if (title !== undefined) set('title = ?', title)
      if (failure !== undefined) set('failure = ?', failure)
      if (messagesAdded !== undefined) set('message_count = message_count + ?', messagesAdded)
      if (tokens !== 0) set('tokens = tokens + ?', tokens)
      if (metadata !== undefined) set('metadata = ?', JSON.stringify(metadata))
      if (state !== undefined) set('state = ?', JSON.stringify(state))
      if (lastTool !== undefined) set('last_tool = ?', lastTool)
      if (activeAgent !== undefined) set('active_agent = ?', activeAgent)
      if (sets === '') return
      const known = updates.get(sets)
      const statement = known ?? db.prepare(`UPDATE sessions SET ${sets} WHERE sid = ?`)
      if (known === undefined) updates.set(sets, statement)
      statement.run(...values, sid)
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
  }
}

/** What the changes of one command do to a session. */
export interface SessionUpdate {
  patch: SessionPatch
  /** Tokens of its runs. */
  tokens: number
}

const NO_UPDATE: SessionUpdate = { patch: {}, tokens: 0 }

/** The updates of sessions among these changes, one for each session. */
export function sessionUpdates(changes: readonly Change[]): Map<string, SessionUpdate> {
  const updates = new Map<string, SessionUpdate>()
  function add(id: string, patch: SessionPatch, tokens: number): void {
    const known = updates.get(id)
    if (known === undefined) updates.set(id, { patch, tokens })
    else updates.set(id, { patch: mergedPatch(known.patch, patch), tokens: known.tokens + tokens })
  }
  for (const change of changes) {
    if (change.write === 'update_session') add(change.id, change.patch, 0)
    else if (change.write === 'insert_run') addTokens(change.run, tokensOf(change.run))
    else if (change.write === 'update_run') addTokens(change.run, tokensOf(change.run) - tokensOf(change.before))
  }
  function addTokens({ sessionId }: RunRecord, tokens: number): void {
    if (tokens !== 0) add(sessionId, {}, tokens)
  }
  return updates
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
          ORDER BY sid LIMIT $2`,
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
  failure: 'failure',
})

function createOverview(db: DatabaseSync, { one }: Statements): (id: string) => SessionOverview | null {
  const session = db.prepare(
    `SELECT sid, tokens, supervision, title, failure,
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
    const { sid, tokens, supervision, title, failure, running, queued, pending } = row
    const elsewhere = supervision === null ? null : (JSON.parse(String(supervision)) as Supervision)
    const isTalk = elsewhere === null || elsewhere.hosted !== undefined
    const first = isTalk && title === null ? firstMessage(sid) : null
    const work = {
      supervised: elsewhere?.status ?? null,
      isRunning: running === 1,
      hasQueued: queued === 1,
      pending: Number(pending),
      failure: failure === null ? null : String(failure),
    }
    const words = first === null ? (elsewhere?.title ?? '') : textOf(first.content)
    return {
      id,
      title: title === null ? titleOf(words) : String(title),
      activity: activityOf(work),
      failure: work.failure,
      pending: work.pending,
      tokens: Number(tokens),
      elsewhere,
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
