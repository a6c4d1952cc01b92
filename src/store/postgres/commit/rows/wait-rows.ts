// Rows of waits: approvals, questions and calls that a run waits for.

import type { AnyRecord } from '../../../../domain/records/record.ts'
import { waitData } from '../../../packing/stored-fields.ts'
import { isUnapplied } from '../../rows/wait-table.ts'
import { columnsOf, insertRows, setAll, updateRows } from '../batch.ts'
import type { Sending } from '../sending.ts'
import { createRecords } from './collected-rows.ts'

const waitState = {
  run_id: 'text',
  continuation_run_id: 'text',
  owner: 'text',
  status: 'text',
  expires_at: 'bigint',
  data: 'text',
  unapplied: 'boolean',
} as const
const insertWaits = insertRows('insert_waits', 'waits', {
  session: 'text',
  id: 'text',
  kind: 'text',
  created_at: 'bigint',
  ...waitState,
})
const updateWaits = updateRows(
  'update_waits',
  'waits',
  { session: 'text', id: 'text', ...waitState },
  ['session', 'id'],
  setAll(Object.keys(waitState)),
)

const waitStateOf = (wait: AnyRecord): unknown[] => [
  ...[wait.runId, wait.continuationRunId, wait.owner, wait.status, wait.expiresAt, waitData(wait), isUnapplied(wait)],
]

export const createWaitRows = (sending: Sending) =>
  createRecords<AnyRecord>(
    (rows) =>
      sending.send(
        insertWaits,
        columnsOf(rows.map((wait) => [wait.sessionId, wait.id, wait.wait, wait.createdAt, ...waitStateOf(wait)])),
      ),
    (rows) => sending.send(updateWaits, columnsOf(rows.map((wait) => [wait.sessionId, wait.id, ...waitStateOf(wait)]))),
    ({ id }) => id,
  )
