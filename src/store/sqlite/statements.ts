// Prepares statements, in the words of Postgres as those that both databases share. Rows are arrays: an object with a key for each
// column costs about twice as much.

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { type Dialect, LOOSE, type Query, type Reading } from '../tables/statement.ts'

/** The same as `Reading`, with answers at once. */
export interface Statements {
  one<Row extends readonly unknown[], T>(
    text: string,
    toRecord: (row: Row) => T,
  ): (...values: readonly unknown[]) => T | null
  many<Row extends readonly unknown[], T>(
    text: string,
    toRecord: (row: Row) => T,
  ): (...values: readonly unknown[]) => T[]
  list<Row extends readonly unknown[], T>(toRecord: (row: Row) => T): (query: Query) => T[]
  /** Says which number the new row has, if there is one. */
  run(text: string): (...values: readonly unknown[]) => number
}

export const sqliteDialect: Dialect = { sessionOf: () => null }

export function createStatements(db: DatabaseSync): Statements {
  function prepare(text: string): StatementSync {
    const statement = db.prepare(translated(text))
    statement.setReturnArrays(true)
    return statement
  }

  return {
    one<Row, T>(text: string, toRecord: (row: Row) => T) {
      const statement = prepare(text)
      return (...values: readonly unknown[]) => {
        const row = statement.get(...bound(values))
        return row === undefined ? null : toRecord(row as Row)
      }
    },
    many<Row, T>(text: string, toRecord: (row: Row) => T) {
      const statement = prepare(text)
      return (...values: readonly unknown[]) => (statement.all(...bound(values)) as Row[]).map(toRecord)
    },
    list<Row, T>(toRecord: (row: Row) => T) {
      const known = new Map<string, StatementSync>()
      return ({ text, values }: Query) => {
        let statement = known.get(text)
        if (statement === undefined) {
          statement = prepare(text)
          known.set(text, statement)
        }
        return (statement.all(...bound(values)) as Row[]).map(toRecord)
      }
    },
    run(text) {
      const statement = prepare(text)
      return (...values) => Number(statement.run(...bound(values)).lastInsertRowid)
    },
  }
}

export function createReading({ one, many, list }: Statements): Reading {
  type AtOnce<T> = (...values: readonly unknown[]) => T
  const later =
    <T>(read: AtOnce<T>) =>
    async (...values: readonly unknown[]): Promise<T> =>
      read(...values)
  return {
    dialect: sqliteDialect,
    one: ({ text }, toRecord) => later(one(text, toRecord)),
    many: ({ text }, toRecord) => later(many(text, toRecord)),
    list(_name, toRecord) {
      const read = list(toRecord)
      return async (query) => read(query)
    },
  }
}

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

/** SQLite has no booleans. */
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
