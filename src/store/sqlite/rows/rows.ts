// Converts rows of the tables to the domain's records, and back.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { MessageMark, StoredMessage } from '../../../domain/session/message.ts'
import type { RunRecord, RunSummary } from '../../../domain/session/run.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import { stateOf, unpackMark, unpackMessage } from '../../packing/stored-fields.ts'

/** Exactly the condition of the partial index `runs_open`: otherwise SQLite does not use the index. */
export const OPEN = `status IN ('queued', 'running', 'waiting')`

type Value = null | number | bigint | string | NodeJS.ArrayBufferView
export type Row = Record<string, Value>

const text = (value: Value | undefined): string => String(value)
const textOrNull = (value: Value | undefined): string | null => (value == null ? null : String(value))
const numberOrNull = (value: Value | undefined): number | null => (value == null ? null : Number(value))
const json = (value: Value | undefined) => (value == null ? undefined : JSON.parse(String(value)))

const SESSION_COLUMNS =
  'sid, id, owner, agent, active_agent, status, created_at, last_activity, terminated_at, last_tool, metadata, alias, label, message_count, unlisted, supervision'
type SessionRow = [
  sid: number,
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
  unlisted: number,
  supervision: string | null,
  state?: string | null,
]

/**
 * Prepares a query of sessions whose rows are arrays. Every run reads its session, and an object with a key for each column costs
 * about twice as much. Lists leave out the state, which may be large.
 */
export function prepareSessions(db: DatabaseSync, where: string, { withState = true } = {}): StatementSync {
  const statement = db.prepare(`SELECT ${SESSION_COLUMNS}${withState ? ', state' : ''} FROM sessions WHERE ${where}`)
  statement.setReturnArrays(true)
  return statement
}

/** Converts a row of `prepareSessions` to the session and its number in the tables. */
export function readSession(row: unknown): { sid: number; session: SessionRecord } {
  const [
    sid,
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
    state = null,
  ] = row as SessionRow
  const session: SessionRecord = {
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
    ...(label === null ? {} : { label }),
    messageCount,
    state: stateOf(state),
    unlisted: unlisted === 1,
    ...(supervision === null ? {} : { supervision: JSON.parse(supervision) }),
  }
  return { sid, session }
}

export const RUN_COLUMNS = 'runs.*, sessions.id AS session_id FROM runs JOIN sessions USING (sid)'

/** Needs the session's id as `session_id`. Exports write the keys in this order. */
export function toRun(row: Row): RunRecord {
  return {
    id: text(row.id),
    sessionId: text(row.session_id),
    owner: text(row.owner),
    agent: text(row.agent),
    wireId: text(row.wire_id),
    parentRunId: textOrNull(row.parent_run_id),
    status: text(row.status) as RunRecord['status'],
    origin: text(row.origin) as RunRecord['origin'],
    input: json(row.input),
    createdAt: Number(row.created_at),
    startedAt: numberOrNull(row.started_at),
    finishedAt: numberOrNull(row.finished_at),
    usage: json(row.usage),
    error: json(row.error) ?? null,
    cancelRequested: row.cancel_requested === 1,
    firstSeq: numberOrNull(row.first_seq),
    lastSeq: numberOrNull(row.last_seq),
    fence: Number(row.fence),
    leaseOwner: textOrNull(row.lease_owner),
  }
}

/** For a row that was read without its input. */
export function toRunSummary(row: Row): RunSummary {
  const { input, ...summary } = toRun(row)
  return summary
}

export const toMark = (row: Row): MessageMark => unpackMark(marksOf(row))

export const toMessage = (row: Row): StoredMessage =>
  unpackMessage({
    ...marksOf(row),
    role: text(row.role),
    content: text(row.content),
    runId: text(row.run_id),
    createdAt: Number(row.created_at),
    extra: textOrNull(row.extra),
  })

const marksOf = (row: Row) => ({
  id: text(row.id),
  lane: textOrNull(row.lane),
  supersededBy: textOrNull(row.superseded_by),
})
