// Rows of the tables as the domain's records, and back.

import type { Entry, EntryKind } from '../../domain/entry.ts'
import type { FileRecord } from '../../domain/file.ts'
import type { Grant } from '../../domain/grant.ts'
import type { MessageMark, StoredMessage } from '../../domain/message.ts'
import type { RunRecord, RunSummary } from '../../domain/run.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { Wait } from '../../domain/wait.ts'
import { jsonLimits } from '../../json/json-limits.ts'
import type { NewEntry, StoredEntry } from '../ports/entry.ts'

/** In the very words of the partial index `runs_open`: only then does SQLite use it. */
export const OPEN = `status IN ('queued', 'running', 'waiting')`

type Value = null | number | bigint | string | NodeJS.ArrayBufferView
export type Row = Record<string, Value>

const text = (value: Value | undefined): string => String(value)
const textOrNull = (value: Value | undefined): string | null => (value == null ? null : String(value))
const numberOrNull = (value: Value | undefined): number | null => (value == null ? null : Number(value))
const json = (value: Value | undefined) => (value == null ? undefined : JSON.parse(String(value)))

/** Earlier versions stored states of any size. One that is too large is not read: every run would have to send it. */
const stateOf = (value: Value | undefined): unknown =>
  typeof value === 'string' && value.length > jsonLimits.bytes ? undefined : json(value)

export function toSession(row: Row): SessionRecord {
  return {
    id: text(row.id),
    owner: text(row.owner),
    agent: text(row.agent),
    activeAgent: textOrNull(row.active_agent),
    status: text(row.status) as SessionRecord['status'],
    createdAt: Number(row.created_at),
    lastActivity: Number(row.last_activity),
    terminatedAt: numberOrNull(row.terminated_at),
    lastTool: textOrNull(row.last_tool),
    metadata: json(row.metadata),
    alias: textOrNull(row.alias),
    ...(row.label == null ? {} : { label: text(row.label) }),
    messageCount: Number(row.message_count),
    state: stateOf(row.state),
    unlisted: row.unlisted === 1,
  }
}

export const RUN_COLUMNS = 'runs.*, sessions.id AS session_id FROM runs JOIN sessions USING (sid)'

/** A run's row joined with its session's id as `session_id`. The order of the keys is that of archives. */
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

/** Of a row that was read without its input. */
export function toRunSummary(row: Row): RunSummary {
  const { input, ...summary } = toRun(row)
  return summary
}

export const toMark = (row: Row): MessageMark => ({
  id: text(row.id),
  ...(row.lane == null ? {} : { lane: text(row.lane) }),
  ...(row.superseded_by == null ? {} : { supersededBy: text(row.superseded_by) }),
})

export function toMessage(row: Row): StoredMessage {
  const { structured, ...extra } = json(row.extra) ?? {}
  const { id, ...mark } = toMark(row)
  return {
    id,
    role: text(row.role) as StoredMessage['role'],
    content: structured === true ? json(row.content) : text(row.content),
    runId: text(row.run_id),
    createdAt: Number(row.created_at),
    ...extra,
    ...mark,
  }
}

export const WAIT_COLUMNS = 'waits.*, sessions.id AS session_id FROM waits JOIN sessions USING (sid)'

/** A wait's row joined with its session's id as `session_id`. */
export function toWait(row: Row): Wait {
  return {
    wait: text(row.kind),
    id: text(row.id),
    status: text(row.status),
    sessionId: text(row.session_id),
    owner: text(row.owner),
    runId: text(row.run_id),
    continuationRunId: textOrNull(row.continuation_run_id),
    createdAt: Number(row.created_at),
    expiresAt: numberOrNull(row.expires_at),
    ...json(row.data),
  }
}

/** What has no column of its own. */
export function waitData(wait: Wait): string {
  const { id, sessionId, runId, continuationRunId, owner, wait: kind, status, createdAt, expiresAt, ...data } = wait
  return JSON.stringify(data)
}

export function toGrant(row: Row): Grant {
  return {
    id: text(row.id),
    agent: text(row.agent),
    sessionId: row.scope === EVERY_SESSION ? null : text(row.scope),
    createdAt: Number(row.created_at),
    expiresAt: numberOrNull(row.expires_at),
    ...json(row.data),
  }
}

export const FILE_COLUMNS = 'files.*, sessions.id AS session_id FROM files LEFT JOIN sessions USING (sid)'

/** A file's row joined with its session's id, or null, as `session_id`. */
export function toFile(row: Row): FileRecord {
  return {
    id: text(row.id),
    owner: text(row.owner),
    sessionId: textOrNull(row.session_id),
    name: text(row.name),
    mimeType: text(row.mime_type) as FileRecord['mimeType'],
    bytes: Number(row.bytes),
    sha256: text(row.sha256),
    createdAt: Number(row.created_at),
  }
}

/** The scope of a grant that holds in all sessions. */
export const EVERY_SESSION = ''

export function grantData(grant: Grant): string {
  const { id, agent, sessionId, createdAt, expiresAt, ...data } = grant
  return JSON.stringify(data)
}

/** Text that survives SQLite's UTF-8 as it is. Half a surrogate pair, which a model may well send, does not. */
export const isPlainText = (content: StoredMessage['content']): content is string =>
  typeof content === 'string' && content.isWellFormed()

/** What has no column of its own; null for the plain messages that most are. */
export function messageExtra(message: StoredMessage): string | null {
  const { id, role, content, runId, createdAt, lane, supersededBy, ...extra } = message
  const structured = !isPlainText(content)
  if (!structured && Object.keys(extra).length === 0) return null
  return JSON.stringify(structured ? { ...extra, structured } : extra)
}

/**
 * One line an entry: an event as it is, a fact with an `f` before it (JSON objects begin with a brace). JSON never holds a
 * raw newline, so lines need no escaping.
 */
export function packLines(entries: readonly NewEntry[]): string {
  const lines: string[] = []
  for (const { kind, data } of entries) lines.push(kind === 'event' ? data : `f${data}`)
  return lines.join('\n')
}

export function unpackLine(line: string, seq: number, runId: string | null): Entry {
  const kind: EntryKind = line.startsWith('f') ? 'fact' : 'event'
  return { seq, runId, kind, data: kind === 'fact' ? line.slice(1) : line }
}

type Layout = (number | [number, [number, number][]])[]

export function packLayout(entries: readonly StoredEntry[]): string {
  const layout: Layout = entries.map((entry) =>
    entry.spans === undefined ? entry.seq : [entry.seq, entry.spans.map(([seq, length]) => [seq, length])],
  )
  return JSON.stringify(layout)
}

/** The entries of one packed row. */
export function unpackRow(firstSeq: number, runId: string | null, data: string, layout: string | null): StoredEntry[] {
  const lines = data.split('\n')
  if (layout === null) return lines.map((line, i) => unpackLine(line, firstSeq + i, runId))
  const seqs: Layout = JSON.parse(layout)
  return lines.map((line, i) => {
    const at = seqs[i] ?? 0
    if (typeof at === 'number') return unpackLine(line, at, runId)
    return { ...unpackLine(line, at[0], runId), spans: at[1] }
  })
}
