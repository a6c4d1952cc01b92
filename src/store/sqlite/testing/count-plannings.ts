import { constants, type DatabaseSync } from 'node:sqlite'

/** How often SQLite has asked what a statement may do. It asks when it plans one. All statements are planned once more from now on. */
export function countPlannings(db: DatabaseSync): () => number {
  let asked = 0
  db.setAuthorizer(() => {
    asked += 1
    return constants.SQLITE_OK
  })
  return () => asked
}
