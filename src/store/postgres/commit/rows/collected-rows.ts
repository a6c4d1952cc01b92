// Rows that a transaction collects, to send those of all commands at once.

import type { AnyRecord } from '../../../../domain/records/record.ts'
import type { RunRecord } from '../../../../domain/session/run.ts'
import { runFactColumns, runFacts, runState, runStateColumns } from '../../../tables/runs.ts'
import { waitKey, waitKeyColumns, waitState, waitStateColumns } from '../../../tables/waits.ts'
import { type Columns, columnsOf, insertRows, type Sending, setAll, updateRows } from '../batch.ts'

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

/** Rows by a key, so that what has the same key meets before it is sent. */
export function createKeyed(sending: Sending, statement: Parameters<Sending['send']>[0]) {
  const rows = new Map<string, unknown[]>()
  return {
    rows,
    flush(): void {
      if (rows.size === 0) return
      sending.send(statement, columnsOf([...rows.values()]))
      rows.clear()
    },
  }
}

/** Records that are inserted or changed. The last state of each counts. */
function createRecords<T>(
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

/** Rows of records of a session that change their state and nothing else: runs, and waits. */
function createStateRows<T extends Pick<AnyRecord, 'sessionId' | 'id'>>(
  table: 'runs' | 'waits',
  columns: { fixed: Columns; state: Columns },
  values: { fixed: (one: T) => unknown[]; state: (one: T) => unknown[] },
) {
  const insert = insertRows(`insert_${table}`, table, { ...columns.fixed, ...columns.state })
  const key = { session: 'text', id: 'text' } as const
  const sets = setAll(Object.keys(columns.state))
  const update = updateRows(`update_${table}`, table, { ...key, ...columns.state }, Object.keys(key), sets)
  return ({ send }: Sending) =>
    createRecords<T>(
      (rows) => send(insert, columnsOf(rows.map((one) => [...values.fixed(one), ...values.state(one)]))),
      (rows) => send(update, columnsOf(rows.map((one) => [one.sessionId, one.id, ...values.state(one)]))),
      ({ id }) => id,
    )
}

export const createRunRows = createStateRows<RunRecord>(
  'runs',
  { fixed: { session: 'text', ...runFactColumns }, state: runStateColumns },
  { fixed: (run) => [run.sessionId, ...runFacts(run)], state: runState },
)

export const createWaitRows = createStateRows<AnyRecord>(
  'waits',
  { fixed: waitKeyColumns, state: waitStateColumns },
  { fixed: waitKey, state: waitState },
)
