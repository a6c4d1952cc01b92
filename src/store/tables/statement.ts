// Statements that both databases share. Their texts are valid for Postgres: `$1` is the first value, and a row is an array in the order
// of its columns. `sqlite/statements.ts` translates them for SQLite.

/** The name stands for the text: two statements with one name are a bug. */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** Reads of one database. What they return takes the values of `$1`, `$2`, …. */
export interface Reading {
  readonly dialect: Dialect
  one<Row extends readonly unknown[], T>(
    statement: Statement,
    toRecord: (row: Row) => T,
  ): (...values: readonly unknown[]) => Promise<T | null>
  many<Row extends readonly unknown[], T>(
    statement: Statement,
    toRecord: (row: Row) => T,
  ): (...values: readonly unknown[]) => Promise<T[]>
  /** For queries whose text depends on what is asked. Each text is prepared once. `name` is the beginning of their names. */
  list<Row extends readonly unknown[], T>(name: string, toRecord: (row: Row) => T): (query: Query) => Promise<T[]>
}

export interface Dialect {
  /**
   * The session of an id, as an expression: the keys of Postgres's tables begin with the session. Null where a table finds its rows by
   * their ids alone.
   */
  sessionOf(kind: 'run' | 'wait' | 'checkpoint', id: string): string | null
}

/** The condition that finds the row with the id `$1`. */
export function withId(dialect: Dialect, kind: 'run' | 'wait' | 'checkpoint'): string {
  const session = dialect.sessionOf(kind, '$1')
  return session === null ? 'id = $1' : `session = ${session} AND id = $1`
}

/** Stands before a column by which SQLite should not choose an index. Postgres reads it as a comment. */
export const LOOSE = '/*+*/'

export interface Query {
  readonly text: string
  readonly values: readonly unknown[]
}

/** A condition, in which `$` stands for each of its values. */
export type Condition = readonly [text: string, ...values: readonly unknown[]]

/** Not a condition if the value is not asked for. */
export const asked = (text: string, value: unknown): Condition | false => value !== undefined && [text, value]

/** Joins conditions. Their values are added to `values`. */
export function allOf(conditions: readonly (Condition | false)[], values: unknown[]): string {
  let text = ''
  for (const condition of conditions) {
    if (condition === false) continue
    if (text !== '') text += ' AND '
    const [first = '', ...others] = condition[0].split('$')
    text += first
    for (let i = 0; i < others.length; i += 1) text += `$${values.push(condition[i + 1])}${others[i]}`
  }
  return text
}

/** Rows of a query without its conditions, which meet them all. */
export function select(
  from: string,
  conditions: readonly (Condition | false)[],
  { order, limit }: { order: string; limit?: number },
): Query {
  const values: unknown[] = []
  const where = allOf(conditions, values)
  const text = `${from}${where === '' ? '' : ` WHERE ${where}`} ORDER BY ${order}`
  return { text: limit === undefined ? text : `${text} LIMIT $${values.push(limit)}`, values }
}

const places = (columns: string): string =>
  columns
    .split(', ')
    .map((_, i) => `$${i + 1}`)
    .join(', ')

/** The values are those of the columns, in their order. */
export const insertRow = (table: string, columns: string): Statement => ({
  name: `insert_row_${table}`,
  text: `INSERT INTO ${table} (${columns}) VALUES (${places(columns)})`,
})

/** Replaces the row with the same key. */
export function putRow(table: string, columns: string, key: string): Statement {
  const keys = key.split(', ')
  const sets = columns.split(', ').filter((column) => !keys.includes(column))
  return {
    name: `put_row_${table}`,
    text: `INSERT INTO ${table} (${columns}) VALUES (${places(columns)})
      ON CONFLICT (${key}) DO UPDATE SET ${sets.map((column) => `${column} = excluded.${column}`).join(', ')}`,
  }
}

/** The values are those of the key, in the order of its columns. */
export function removeRow(table: string, key: string): Statement {
  const conditions = key.split(', ').map((column, i) => `${column} = $${i + 1}`)
  return { name: `remove_row_${table}`, text: `DELETE FROM ${table} WHERE ${conditions.join(' AND ')}` }
}
