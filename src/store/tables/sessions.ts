import type { SessionRecord } from '../../domain/session/session.ts'
import { MOST_COUNTED, type SessionActivity } from '../../domain/session/session-overview.ts'
import { jsonLimits } from '../../json/json-limits.ts'
import type { SessionQuery, SessionReads } from '../ports/sessions.ts'
import type { SessionPatch } from '../rules/rows.ts'
import { allOf, asked, type Condition, LOOSE, type Query, type Reading, type Statement, select } from './statement.ts'

/** Lists leave out the state, which may be large. */
export const LISTED_COLUMNS =
  'id, owner, agent, active_agent, status, created_at, last_activity, terminated_at, last_tool, metadata, alias, label, message_count, unlisted, supervision, last_read, title, failure'
export const SESSION_COLUMNS = `${LISTED_COLUMNS}, state`

export type SessionRow = [
  id: string,
  owner: string,
  agent: string,
  activeAgent: string | null,
  status: SessionRecord['status'],
  createdAt: number,
  lastActivity: number,
  terminatedAt: number | null,
  lastTool: string | null,
  metadata: string,
  alias: string | null,
  label: string | null,
  messageCount: number,
  unlisted: boolean | number,
  supervision: string | null,
  lastRead: number | null,
  title: string | null,
  failure: string | null,
  state?: string | null,
]

export function toSession(row: SessionRow): SessionRecord {
  const [
    id,
    owner,
    agent,
    activeAgent,
    status,
    createdAt,
    lastActivity,
    terminatedAt,
    lastTool,
    metadata,
    alias,
    label,
    messageCount,
    unlisted,
    supervision,
    lastRead,
    title,
    failure,
    state = null,
  ] = row
  return {
    id,
    owner,
    agent,
    activeAgent,
    status,
    createdAt,
    lastActivity,
    terminatedAt,
    lastTool,
    metadata: JSON.parse(metadata),
    alias,
    label: label ?? undefined,
    messageCount,
    // A state that is too large is ignored, because every run would have to send it.
    state: state === null || state.length > jsonLimits.bytes ? undefined : JSON.parse(state),
    unlisted: Boolean(unlisted),
    supervision: supervision === null ? undefined : JSON.parse(supervision),
    lastRead: lastRead ?? undefined,
    title: title ?? undefined,
    failure: failure ?? undefined,
  }
}

/** Columns of a new session that both databases have, in the order of `sessionValues`. */
export const newSessionColumns = {
  id: 'text',
  owner: 'text',
  agent: 'text',
  active_agent: 'text',
  status: 'text',
  created_at: 'bigint',
  last_activity: 'bigint',
  terminated_at: 'bigint',
  last_tool: 'text',
  metadata: 'text',
  alias: 'text',
  label: 'text',
  message_count: 'bigint',
  state: 'text',
  unlisted: 'boolean',
  last_read: 'bigint',
  title: 'text',
  failure: 'text',
} as const

export function sessionValues(session: SessionRecord): unknown[] {
  const { id, owner, agent, activeAgent, status, createdAt, lastActivity, terminatedAt, lastTool } = session
  const { metadata, alias, label = null, messageCount, state, unlisted } = session
  const { lastRead = null, title = null, failure = null } = session
  return [
    ...[id, owner, agent, activeAgent, status, createdAt, lastActivity, terminatedAt, lastTool],
    ...[JSON.stringify(metadata), alias, label, messageCount, jsonOrNull(state), unlisted],
    ...[lastRead, title, failure],
  ]
}

export const jsonOrNull = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))

/** One patch that does what both do. */
export function mergedPatch(before: SessionPatch, patch: SessionPatch): SessionPatch {
  const { lastActivity, messagesAdded } = before
  return {
    ...before,
    ...patch,
    lastActivity: lastActivity === undefined ? patch.lastActivity : Math.max(lastActivity, patch.lastActivity ?? 0),
    messagesAdded: messagesAdded === undefined ? patch.messagesAdded : messagesAdded + (patch.messagesAdded ?? 0),
  }
}

export const sessionById: Statement = {
  name: 'session_by_id',
  text: `SELECT ${SESSION_COLUMNS} FROM sessions WHERE id = $1`,
}

const countSince: Statement = {
  name: 'sessions_count',
  text: `SELECT (SELECT count(*) FROM sessions WHERE last_activity >= $1 AND status <> 'terminated')
    + (SELECT count(*) FROM sessions WHERE last_read >= $1 AND ${LOOSE}last_activity < $1 AND status <> 'terminated')`,
}

/** `withActivity` has the condition of each activity. */
export function createSessionLists(
  { one, list }: Reading,
  withActivity: Readonly<Record<SessionActivity, string>>,
): Pick<SessionReads, 'get' | 'list' | 'countFound' | 'count'> {
  const found = list('sessions_list', toSession)
  const countFound = list('sessions_found', ([n]: [number]) => n)
  const count = one(countSince, ([n]: [number]) => n)
  return {
    get: one(sessionById, toSession),
    list: (query) => found(listOf(query, withActivity)),
    countFound: async (query) => (await countFound(countOf(query, withActivity)))[0] ?? 0,
    count: async (since) => (await count(since)) ?? 0,
  }
}

type Activities = Readonly<Record<SessionActivity, string>>

function listOf({ order = 'newest', limit, before, ...query }: SessionQuery, activities: Activities): Query {
  const conditions = conditionsOf(query, activities)
  if (order === 'tokens') {
    const newest = select(`SELECT ${LISTED_COLUMNS}, tokens FROM sessions`, conditions, NEWEST)
    const values = [...newest.values]
    const after = allOf([before !== undefined && ['(tokens, id) < ($, $)', before.tokens ?? 0, before.id]], values)
    const text = `SELECT ${LISTED_COLUMNS} FROM (${newest.text}) AS newest ${after && `WHERE ${after}`}
      ORDER BY tokens DESC, id DESC LIMIT $${values.push(limit)}`
    return { text, values }
  }
  const [follows, direction] = order === 'oldest' ? ['>', 'ASC'] : ['<', 'DESC']
  return select(
    `SELECT ${LISTED_COLUMNS} FROM sessions`,
    [...conditions, before !== undefined && [`(last_activity, id) ${follows} ($, $)`, before.lastActivity, before.id]],
    { order: `last_activity ${direction}, id ${direction}`, limit },
  )
}

function countOf(query: Parameters<SessionReads['countFound']>[0], activities: Activities): Query {
  const { text, values } = select('SELECT 1 FROM sessions', conditionsOf(query, activities), NEWEST)
  return { text: `SELECT count(*) FROM (${text}) AS newest`, values }
}

/** They are read by an index. */
const NEWEST = { order: 'last_activity DESC, id DESC', limit: MOST_COUNTED }

/** The agent and the kind must not make SQLite choose another index: the list is read in its order. */
function conditionsOf(query: Omit<SessionQuery, 'order' | 'limit' | 'before'>, activities: Activities) {
  const { owner, label, agent, kind, activity, feedback, since, until, unlisted = false } = query
  return [
    ["status <> 'terminated'"],
    !unlisted && ['NOT unlisted'],
    asked('owner = $', owner),
    asked(`${LOOSE}agent = $`, agent),
    asked('last_activity >= $', since),
    asked('last_activity <= $', until),
    kind !== undefined && [`${LOOSE}supervised_status IS ${kind === 'chat' ? '' : 'NOT '}NULL`],
    activity !== undefined && [activities[activity]],
    asked('id IN (SELECT session FROM feedback WHERE value = $)', feedback),
    label === null ? ['label IS NULL'] : asked('label = $', label),
  ] satisfies (Condition | false)[]
}
