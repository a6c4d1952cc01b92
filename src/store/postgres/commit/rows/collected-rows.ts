// Rows that a transaction collects, to send those of all commands at once.

import { columnsOf, type Sending } from '../batch.ts'

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
