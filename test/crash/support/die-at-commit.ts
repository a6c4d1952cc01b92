// Loaded into a server before its program: once the file ARM_FILE exists, the process kills itself before or after the n-th commit of its
// database. DIE_AT is n, and negative for after it.
//   --import file:///…/die-at-commit.ts

import { existsSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'

const armFile = process.env.ARM_FILE ?? ''
const dieAt = Number(process.env.DIE_AT)
let commits = 0

const die = () => process.kill(process.pid, 'SIGKILL')

const { prepare } = DatabaseSync.prototype
DatabaseSync.prototype.prepare = function watched(this: DatabaseSync, sql: string, ...rest: unknown[]): StatementSync {
  const statement: StatementSync = Reflect.apply(prepare, this, [sql, ...rest])
  if (sql !== 'COMMIT') return statement
  const { run } = statement
  Reflect.set(statement, 'run', (...values: unknown[]): unknown => {
    if (existsSync(armFile)) commits += 1
    if (commits > 0 && commits === dieAt) die()
    const done: unknown = Reflect.apply(run, statement, values)
    if (commits > 0 && commits === -dieAt) die()
    return done
  })
  return statement
}
