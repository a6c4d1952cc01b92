import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** A database that collects the query plan of each prepared statement, by its text. */
export function watchPlans(db: DatabaseSync): { db: DatabaseSync; plans: Map<string, string[]> } {
  const plans = new Map<string, string[]>()
  const watched = {
    prepare(sql: string): StatementSync {
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
      plans.set(
        sql.replaceAll(/\s+/g, ' ').trim(),
        plan.map((row) => String(row.detail)),
      )
      return db.prepare(sql)
    },
  }
  return { db: Object.assign(Object.create(db), watched), plans }
}
