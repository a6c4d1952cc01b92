// Rows of records that change their state and nothing else: runs, and the waits of runs (approvals, questions and calls).

import type { AnyRecord } from '../../../../domain/records/record.ts'
import type { RunRecord } from '../../../../domain/session/run.ts'
import { runFactColumns, runFacts, runState, runStateColumns } from '../../../tables/runs.ts'
import { waitKey, waitKeyColumns, waitState, waitStateColumns } from '../../../tables/waits.ts'
import { columnsOf, insertRows, type Sending, setAll, updateRows } from '../batch.ts'
import { createRecords } from './collected-rows.ts'

const insertRuns = insertRows('insert_runs', 'runs', { session: 'text', ...runFactColumns, ...runStateColumns })
const updateRuns = updateRows(
  'update_runs',
  'runs',
  { session: 'text', id: 'text', ...runStateColumns },
  ['session', 'id'],
  setAll(Object.keys(runStateColumns)),
)

export const createRunRows = (sending: Sending) =>
  createRecords<RunRecord>(
    (rows) =>
      sending.send(insertRuns, columnsOf(rows.map((run) => [run.sessionId, ...runFacts(run), ...runState(run)]))),
    (rows) => sending.send(updateRuns, columnsOf(rows.map((run) => [run.sessionId, run.id, ...runState(run)]))),
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
