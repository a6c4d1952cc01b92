// What a plain run asks of the disk and writes into the log.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { StatementSync } from 'node:sqlite'
import { expect, onTestFinished, test, vi } from 'vitest'
import { tempFolder } from '../../src/cli/testing/temp-folder.ts'
import { runLimits } from './limits.ts'
import { openPlainServer } from './plain-server.ts'

/** They depend on how often the model's words come, and on other commits of the same moment. */
const UNCOUNTED = /^(BEGIN|COMMIT|ROLLBACK|PRAGMA)|INTO tail|FROM tail|leases|search_/

test('statements, rows, syncs and log lines of a plain run are counted', async () => {
  const counted = { statements: [] as string[], rows: 0, syncs: 0, lines: [] as string[] }
  for (const how of ['run', 'get', 'all', 'iterate'] as const) {
    const real = StatementSync.prototype[how] as (...values: unknown[]) => unknown
    vi.spyOn(StatementSync.prototype, how).mockImplementation(function (this: StatementSync, ...values: unknown[]) {
      const result = real.apply(this, values)
      if (UNCOUNTED.test(this.sourceSQL)) return result as never
      counted.statements.push(this.sourceSQL)
      if (how === 'run') counted.rows += Number((result as { changes: number | bigint }).changes)
      return result as never
    })
  }
  const sync = fs.fdatasync
  vi.spyOn(fs, 'fdatasync').mockImplementation((...values) => {
    counted.syncs += 1
    sync(...values)
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  })
  const { post } = await openPlainServer(await tempFolder(), (line) => counted.lines.push(line))
  await post('warm', '1')

  async function costOf(thread: string, run: string) {
    Object.assign(counted, { statements: [], rows: 0, syncs: 0, lines: [] })
    expect(await post(thread, run)).toContain('RUN_FINISHED')
    // The line of the request comes when its connection is done with it.
    await expect.poll(() => counted.lines.length).toBeGreaterThanOrEqual(3)
    return { ...counted, statements: counted.statements.length, chars: counted.lines.join('').length }
  }
  // Work that the server does from time to time may fall into one of the three, but not into all.
  const leastOf = (costs: Awaited<ReturnType<typeof costOf>>[]) =>
    costs.reduce((least, cost) => (cost.statements < least.statements ? cost : least))
  const first = leastOf([await costOf('a', '2'), await costOf('b', '3'), await costOf('c', '4')])
  const second = leastOf([await costOf('a', '5'), await costOf('b', '6'), await costOf('c', '7')])

  expect([first.statements, second.statements]).toEqual([runLimits.statementsOfFirst, runLimits.statementsOfSecond])
  for (const { rows, syncs, lines, chars } of [first, second]) {
    expect({ rows, syncs, lines: lines.length, chars }).toEqual({
      rows: expect.toSatisfy((n: number) => n <= runLimits.rows),
      syncs: expect.toSatisfy((n: number) => n <= runLimits.syncs),
      lines: runLimits.logLines,
      chars: expect.toSatisfy((n: number) => n <= runLimits.logChars),
    })
  }
})
