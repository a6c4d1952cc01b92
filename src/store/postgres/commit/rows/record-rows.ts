// Rows of records that change their state and nothing else: runs, and the waits of runs (approvals, questions and calls).

import type { AnyRecord } from '../../../../domain/records/record.ts'
import type { RunRecord } from '../../../../domain/session/run.ts'
import { waitKey, waitKeyColumns, waitState, waitStateColumns } from '../../../tables/waits.ts'
import { columnsOf, insertRows, type Sending, setAll, updateRows } from '../batch.ts'
import { createRecords } from './collected-rows.ts'

const runColumns = {
  session: 'text',
  id: 'text',
  owner: 'text',
  agent: 'text',
  wire_id: 'text',
  parent_run_id: 'text',
  origin: 'text',
  input: 'text',
  created_at: 'bigint',
} as const
const runState = {
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
const insertRuns = insertRows('insert_runs', 'runs', { ...runColumns, ...runState })
const updateRuns = updateRows(
  'update_runs',
  'runs',
  { session: 'text', id: 'text', ...runState },
  ['session', 'id'],
  setAll(Object.keys(runState)),
)

const runStateOf = (run: RunRecord): unknown[] => [
  ...[run.status, run.startedAt, run.finishedAt, JSON.stringify(run.usage)],
  ...[run.error === null ? null : JSON.stringify(run.error), run.cancelRequested],
  ...[run.firstSeq, run.lastSeq, run.fence, run.leaseOwner],
]

export const createRunRows = (sending: Sending) =>
  createRecords<RunRecord>(
    (rows) =>
      sending.send(
        insertRuns,
        columnsOf(
          rows.map((run) => [
            ...[run.sessionId, run.id, run.owner, run.agent, run.wireId, run.parentRunId, run.origin],
            ...[JSON.stringify(run.input), run.createdAt],
            ...runStateOf(run),
          ]),
        ),
      ),
    (rows) => sending.send(updateRuns, columnsOf(rows.map((run) => [run.sessionId, run.id, ...runStateOf(run)]))),
    ({ id }) => id,
  )

const insertWaits = insertRows('insert_waits', 'waits', { ...waitKeyColumns, ...waitStateColumns })
const updateWaits = updateRows(
  'update_waits',
  'waits',
  { session: 'text', id: 'text', ...waitStateColumns },
  ['session', 'id'],
  setAll(Object.keys(waitStateColumns)),
)

export const createWaitRows = (sending: Sending) =>
  createRecords<AnyRecord>(
    (rows) => sending.send(insertWaits, columnsOf(rows.map((wait) => [...waitKey(wait), ...waitState(wait)]))),
    (rows) => sending.send(updateWaits, columnsOf(rows.map((wait) => [wait.sessionId, wait.id, ...waitState(wait)]))),
    ({ id }) => id,
  )
