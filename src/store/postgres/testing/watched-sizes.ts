import type { Statement } from '../../tables/statement.ts'
import type { Sql } from '../sql.ts'

/** Runs statements, and notes how many characters one of them brings at most. */
export function watchSizes(sql: Sql): Sql & { readonly most: number } {
  let most = 0
  return {
    get most() {
      return most
    },
    async rows<Row extends readonly unknown[]>(statement: Statement, values?: readonly unknown[]) {
      const rows = await sql.rows<Row>(statement, values)
      most = Math.max(most, JSON.stringify(rows).length)
      return rows
    },
  }
}
