// Runs. SQLite's rows have the number of the session where Postgres's have its id.

import type { RunRecord, RunSummary } from '../../domain/session/run.ts'

/** Exactly the condition of the partial index `runs_open`: otherwise no database uses the index. */
export const OPEN = `status IN ('queued', 'running', 'waiting')`

/** `session` is the column with the session's id. */
export const summaryColumns = (session: string): string =>
  `runs.id, ${session}, runs.owner, runs.agent, wire_id, parent_run_id, runs.status, origin, runs.created_at, started_at, finished_at, usage, error, cancel_requested, first_seq, last_seq, fence, lease_owner`
export const runColumns = (session: string): string => `${summaryColumns(session)}, input`

export type RunSummaryRow = [
  id: string,
  session: string,
  owner: string,
  agent: string,
  wireId: string,
  parentRunId: string | null,
  status: RunRecord['status'],
  origin: RunRecord['origin'],
  createdAt: number,
  startedAt: number | null,
  finishedAt: number | null,
  usage: string,
  error: string | null,
  cancelRequested: boolean | number,
  firstSeq: number | null,
  lastSeq: number | null,
  fence: number,
  leaseOwner: string | null,
]
export type RunRow = [...RunSummaryRow, input: string]

/** Exports write the keys in this order. */
export function toRun(row: RunRow): RunRecord {
  const [
    id,
    sessionId,
    owner,
    agent,
    wireId,
    parentRunId,
    status,
    origin,
    createdAt,
    startedAt,
    finishedAt,
    usage,
    error,
    cancelRequested,
    firstSeq,
    lastSeq,
    fence,
    leaseOwner,
    input,
  ] = row
  return {
    id,
    sessionId,
    owner,
    agent,
    wireId,
    parentRunId,
    status,
    origin,
    input: JSON.parse(input),
    createdAt,
    startedAt,
    finishedAt,
    usage: JSON.parse(usage),
    error: error === null ? null : JSON.parse(error),
    cancelRequested: Boolean(cancelRequested),
    firstSeq,
    lastSeq,
    fence,
    leaseOwner,
  }
}

export function toRunSummary(row: RunSummaryRow): RunSummary {
  const { input, ...summary } = toRun([...row, 'null'])
  return summary
}

type OwnedRow = [id: string, session: string, fence: number, cancelRequested: boolean | number]
export const toOwned = ([id, sessionId, fence, cancelRequested]: OwnedRow) => ({
  id,
  sessionId,
  fence,
  cancelRequested: Boolean(cancelRequested),
})

/** Columns of a run beside its session that never change, and those of its state, in the order of `runFacts` and `runState`. */
export const runFactColumns = {
  id: 'text',
  owner: 'text',
  agent: 'text',
  wire_id: 'text',
  parent_run_id: 'text',
  origin: 'text',
  input: 'text',
  created_at: 'bigint',
} as const
export const runStateColumns = {
  status: 'text',
  started_at: 'bigint',
  finished_at: 'bigint',
  usage: 'text',
  error: 'text',
  cancel_requested: 'boolean',
  first_seq: 'bigint',
  last_seq: 'bigint',
  fence: 'bigint',
  lease_owner: 'text',
} as const

export function runFacts(run: RunRecord): unknown[] {
  const { id, owner, agent, wireId, parentRunId, origin, input, createdAt } = run
  return [id, owner, agent, wireId, parentRunId, origin, JSON.stringify(input), createdAt]
}

export function runState(run: RunRecord): unknown[] {
  const { status, startedAt, finishedAt, usage, cancelRequested, firstSeq, lastSeq, fence, leaseOwner } = run
  const error = run.error === null ? null : JSON.stringify(run.error)
  return [
    status,
    startedAt,
    finishedAt,
    JSON.stringify(usage),
    error,
    cancelRequested,
    firstSeq,
    lastSeq,
    fence,
    leaseOwner,
  ]
}
