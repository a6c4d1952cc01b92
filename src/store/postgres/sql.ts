// How the parts of this store speak to Postgres. A statement runs on a pool for plain reads, or on the connection of a transaction.

import { sha256 } from '../../json/digest.ts'
import type { Dialect, Reading, Statement } from '../tables/statement.ts'
import { sessionOfRoute } from './rows/route.ts'

/** Rows are arrays, in the order of the columns. Postgres's bigint is a number here, bytea a Buffer. Any string can be stored (`toStored`). */
export interface Sql {
  rows<Row extends readonly unknown[]>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>
}

/** Milliseconds by the database's clock: those of the processes differ. */
export const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** Names statements that are put together from parts by their text. Each text is named once. */
export function createNaming(prefix: string): (text: string) => Statement {
  const named = new Map<string, Statement>()
  return (text) => {
    const known = named.get(text)
    if (known !== undefined) return known
    const statement = { name: `${prefix}_${sha256(text).slice(0, 10)}`, text }
    named.set(text, statement)
    return statement
  }
}

export const postgresDialect: Dialect = { sessionOf: sessionOfRoute }

export const createReading = (sql: Sql): Reading => ({
  dialect: postgresDialect,
  one:
    (statement, toRecord) =>
    async (...values) => {
      const [row] = await sql.rows<Parameters<typeof toRecord>[0]>(statement, values)
      return row === undefined ? null : toRecord(row)
    },
  many:
    (statement, toRecord) =>
    async (...values) =>
      (await sql.rows<Parameters<typeof toRecord>[0]>(statement, values)).map(toRecord),
  list(name, toRecord) {
    const named = createNaming(name)
    return async ({ text, values }) =>
      (await sql.rows<Parameters<typeof toRecord>[0]>(named(text), values)).map(toRecord)
  },
})
