// What a plain run reads of a store that has grown. `src/store/sqlite/rows/query-plans.test.ts` proves that each statement finds its rows
// by an index.

import { join } from 'node:path'
import { StatementSync } from 'node:sqlite'
import { expect, onTestFinished, test, vi } from 'vitest'
import { HISTORY_THREAD, seed } from '../../bench/seed.ts'
import { tempFolder } from '../../src/cli/testing/temp-folder.ts'
import { createSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { runLimits } from './limits.ts'
import { openPlainServer } from './plain-server.ts'

const fatal = (error: Error) => {
  throw error
}

test('the rows that a run reads do not grow with the store, nor with the session beyond what the model may get', async () => {
  const folder = await tempFolder()
  const store = createSqliteStore({ path: join(folder, 'data', 'quarterdeck.db'), fatal })
  await seed(store, { sessions: 1_000, history: 1_000 }, Date.now())
  await store.close()
  const limited = { QUARTERDECK_LIMITS_SESSIONS: '5000' }
  const { post } = await openPlainServer(folder, () => {}, limited)
  await post('warm', '1')
  const read = countRows()

  async function costOf(thread: string, run: string) {
    read.splice(0)
    expect(await post(thread, run)).toContain('RUN_FINISHED')
    return read.reduce((sum, { rows }) => sum + rows, 0)
  }
  const fresh = await costOf('talk', '2')
  const statements = read.map(({ sql }) => sql)
  const long = await costOf(HISTORY_THREAD, '3')

  expect(fresh).toBeLessThanOrEqual(runLimits.rowsReadOfFirst)
  expect(long).toBeLessThanOrEqual(runLimits.rowsReadOfLong)
  // With a limit of sessions, the store counts them once.
  expect(statements.filter((sql) => sql.includes('count(*) FROM sessions'))).toEqual([])
})

/** The statements that are executed from now on, with the rows that they return. The search index has its own pace. */
function countRows(): { sql: string; rows: number }[] {
  const read: { sql: string; rows: number }[] = []
  function note({ sourceSQL: sql }: StatementSync, rows: number): void {
    if (!sql.includes('search_')) read.push({ sql, rows })
  }
  const { get, all, iterate } = StatementSync.prototype
  vi.spyOn(StatementSync.prototype, 'get').mockImplementation(function (this: StatementSync, ...values) {
    const row = get.apply(this, values)
    note(this, row === undefined ? 0 : 1)
    return row
  })
  vi.spyOn(StatementSync.prototype, 'all').mockImplementation(function (this: StatementSync, ...values) {
    const rows = all.apply(this, values)
    note(this, rows.length)
    return rows
  })
  vi.spyOn(StatementSync.prototype, 'iterate').mockImplementation(function* (this: StatementSync, ...values) {
    for (const row of iterate.apply(this, values)) {
      note(this, 1)
      yield row
    }
    return undefined
  })
  onTestFinished(() => void vi.restoreAllMocks())
  return read
}
