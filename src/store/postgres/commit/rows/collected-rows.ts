// Rows that a transaction collects, to send those of all commands at once.

import type { AnyRecord } from '../../../../domain/records/record.ts'
import type { RunRecord } from '../../../../domain/session/run.ts'
import { runFactColumns, runFacts, runState, runStateColumns } from '../../../tables/runs.ts'
import { waitKey, waitKeyColumns, waitState, waitStateColumns } from '../../../tables/waits.ts'
import { columnsOf, insertRows, type Sending, setAll, updateRows } from '../batch.ts'

/** Rows that are only ever added, in order. */
export function createList<T>(
  sending: Sending,
  statement: Parameters<Sending['send']>[0],
  rowOf: (one: T) => readonly unknown[],
) {
  let rows: (readonly unknown[])[] = []
  return {
    add(...items: readonly T[]): void {
      for (const item of items) rows.push(rowOf(item))
    },
    flush(): void {
      if (rows.length === 0) return
      sending.send(statement, columnsOf(rows))
      rows = []
    },
  }
}

/** Records that are inserted or changed. The last state of each counts. */
export function createRecords<T>(
  insert: (rows: readonly T[]) => void,
  update: (rows: readonly T[]) => void,
  keyOf: (one: T) => string,
) {
  const made = new Map<string, T>()
  const changed = new Map<string, T>()
  return {
    insert: (one: T): void => void made.set(keyOf(one), one),
    update: (one: T): void => void (made.has(keyOf(one)) ? made : changed).set(keyOf(one), one),
    flush(): void {
      if (made.size > 0) insert([...made.values()])
      if (changed.size > 0) update([...changed.values()])
      made.clear()
      changed.clear()
    },
  }
}

// Rows of records that change their state and nothing else: runs, and the waits of runs (approvals, questions and calls).

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
