import type { Dialect, Reading } from '../tables/statement.ts'
import { sessionOfRoute } from './rows/route.ts'
import { createNaming, type Sql } from './sql.ts'

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
