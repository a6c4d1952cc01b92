import type { Statement } from '../../tables/statement.ts'
import type { Sql } from '../sql.ts'

/** A part of a query plan. Only what tests look at. */
export interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  /** In each of its loops. Only where the statement was measured. */
  'Actual Rows'?: number
  'Actual Loops'?: number
  'Rows Removed by Filter'?: number
  Plans?: PlanNode[]
}

export interface WatchedSql extends Sql {
  /** The plans of the statements that ran, with all their nodes. */
  plans: { statement: Statement; nodes: PlanNode[] }[]
}

/** Runs statements, and asks Postgres how it finds their rows. `measured`: also how many it reads. */
export function watchPlans(sql: Sql, { measured = false } = {}): WatchedSql {
  const plans: WatchedSql['plans'] = []
  return {
    plans,
    async rows(statement, values = []) {
      const explain = { name: '', text: `EXPLAIN (FORMAT JSON${measured ? ', ANALYZE' : ''}) ${statement.text}` }
      const [row] = await sql.rows<[[{ Plan: PlanNode }]]>(explain, values)
      if (row !== undefined) plans.push({ statement, nodes: nodesOf(row[0][0].Plan) })
      return sql.rows(statement, values)
    },
  }
}

/** How many rows this part of a measured plan has read. */
export const rowsRead = (node: PlanNode): number =>
  ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 0)

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]
