// Prepares statements, in the words of Postgres as those that both databases share. Rows are arrays: an object with a key for each
// column costs about twice as much.

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { type Dialect, LOOSE, type Query, type Reading } from '../tables/statement.ts'

export type Statements = ReturnType<typeof createStatements>

export const sqliteDialect: Dialect = { sessionOf: () => null }

/** The same as `Reading`, with answers at once. */
export function createStatements(db: DatabaseSync) {
  function prepare(text: string): StatementSync {
    const statement = db.prepare(translated(text))
    statement.setReturnArrays(true)
    return statement
  }
  const readMany = <Row, T>(statement: StatementSync, values: readonly unknown[], toRecord: (row: Row) => T): T[] =>
    (statement.all(...bound(values)) as Row[]).map((row) => toRecord(row))

  return {
    one<Row extends readonly unknown[], T>(text: string, toRecord: (row: Row) => T) {
      const statement = prepare(text)
      return (...values: readonly unknown[]): T | null => {
        const row = statement.get(...bound(values))
        return row === undefined ? null : toRecord(row as unknown as Row)
      }
    },
    many<Row extends readonly unknown[], T>(text: string, toRecord: (row: Row) => T) {
      const statement = prepare(text)
      return (...values: readonly unknown[]): T[] => readMany(statement, values, toRecord)
    },
    list<Row extends readonly unknown[], T>(toRecord: (row: Row) => T) {
      const known = new Map<string, StatementSync>()
      return ({ text, values }: Query): T[] => {
        let statement = known.get(text)
        if (statement === undefined) {
          statement = prepare(text)
          known.set(text, statement)
        }
        return readMany(statement, values, toRecord)
      }
    },
    /** Says which number the new row has, if there is one. */
    run(text: string) {
      const statement = prepare(text)
      return (...values: readonly unknown[]): number => Number(statement.run(...bound(values)).lastInsertRowid)
    },
  }
}

export const createReading = ({ one, many, list }: Statements): Reading => ({
  dialect: sqliteDialect,
  one({ text }, toRecord) {
    const read = one(text, toRecord)
    return async (...values) => read(...values)
  },
  many({ text }, toRecord) {
    const read = many(text, toRecord)
    return async (...values) => read(...values)
  },
  list(_name, toRecord) {
    const read = list(toRecord)
    return async (query) => read(query)
  },
})

/**
 * SQLite's words for the same statement. It has no types, and lists come as JSON. It plans a statement again, each time it runs, if the
 * plan could depend on a value, as after a bare `LIMIT ?`. It does not look into `? + 0`.
 */
export const translated = (text: string): string =>
  text
    .replaceAll(/= ANY\((\$\d+)::text\[\]\)/g, 'IN (SELECT value FROM json_each($1))')
    .replaceAll(/::\w+/g, '')
    .replaceAll(LOOSE, '+')
    .replaceAll(/LIMIT (\$\d+)/g, 'LIMIT $1 + 0')
    .replaceAll(/\$(\d)/g, '?$1')

/** SQLite has no booleans and no arrays. Changes the list of values, which is nobody else's. */
function bound(values: readonly unknown[]): SQLInputValue[] {
  const found = values as SQLInputValue[]
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i]
    if (value === undefined) found[i] = null
    else if (typeof value === 'boolean') found[i] = value ? 1 : 0
    else if (Array.isArray(value)) found[i] = JSON.stringify(value)
  }
  return found
}
