// Many rows in one statement: a parameter for each column, which is an array with an element for each row.

import type { Statement } from '../../tables/statement.ts'
import type { Sql } from '../sql.ts'

/** Types of the columns, in the order of the values. */
export type Columns = Readonly<Record<string, 'text' | 'bigint' | 'boolean' | 'bytea'>>

const given = (columns: Columns): string => {
  const arrays = Object.values(columns).map((type, i) => `$${i + 1}::${type}[]`)
  return `unnest(${arrays.join(', ')}) AS given (${Object.keys(columns).join(', ')})`
}

/** `ending` may say what happens to a row that is there already. */
export function insertRows(name: string, table: string, columns: Columns, ending = ''): Statement {
  const names = Object.keys(columns).join(', ')
  return { name, text: `INSERT INTO ${table} (${names}) SELECT ${names} FROM ${given(columns)} ${ending}` }
}

/** Rows are found by `keys`. `sets` are assignments, in which the new values are called `given.…`. */
export function updateRows(
  name: string,
  table: string,
  columns: Columns,
  keys: readonly string[],
  sets: string,
): Statement {
  const found = keys.map((key) => `${table}.${key} = given.${key}`).join(' AND ')
  return { name, text: `UPDATE ${table} SET ${sets} FROM ${given(columns)} WHERE ${found}` }
}

/** Assigns these columns their new values. */
export const setAll = (names: readonly string[]): string => names.map((one) => `${one} = given.${one}`).join(', ')

/** The parameters for these rows. */
export function columnsOf(rows: readonly (readonly unknown[])[]): unknown[][] {
  const width = rows[0]?.length ?? 0
  return Array.from({ length: width }, (_, i) => rows.map((row) => row[i]))
}

export type Sending = ReturnType<typeof createSending>

/** The writes of one transaction. They are sent one after the other, and nobody waits for each answer. */
export function createSending(sql: Sql) {
  let failure: { error: unknown } | null = null
  // What follows in a failed transaction fails too. The first error is the reason.
  const run = (sent: Promise<unknown>): void =>
    void sent.catch((error: unknown) => {
      failure ??= { error }
    })
  return {
    /** Something that was sent already. */
    run,
    send: (statement: Statement, values: readonly unknown[]): void => run(sql.rows(statement, values)),
    /** Throws the first error of what was sent. Wait for a later answer first. */
    check(): void {
      if (failure !== null) throw failure.error
    },
  }
}
