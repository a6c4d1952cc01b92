// kill -9 of the real server in the middle of a decision that a person made in the console. The decision is made once or not at all, and
// when the server is back, the page says which.

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { connectBrowser } from '../clients/chat-page.ts'
import { ledgerYard, openLedger } from '../crash/support/ledger-tool.ts'
import { approvals, endOf, eventsOf, OPERATOR_TOKEN, operatorEnv } from '../crash/support/operator.ts'
import { runInput } from '../crash/support/run-input.ts'
import { record } from '../crash/support/sse-recorder.ts'
import { openYard } from '../crash/support/start-server.ts'
import { until } from '../crash/support/until.ts'
import { DESK, watch } from './support/console-page.ts'
import { putConsole } from './support/program-console.ts'
import { pasteToken } from './support/sign-in-steps.ts'

const inBrowser = test.skipIf(inject('browser') === null)
const LATE = { timeout: 60_000 }
const LATE_MS = 60_000

const lost = { isDecided: false, says: 'your decision did not arrive. Nothing was decided.', paid: [1] }
const made = { isDecided: true, says: 'in the console', paid: [1] }
/** The call begins as soon as the decision is committed, so it may be under way. Then it is not repeated. */
const begun = { ...made, paid: [0, 1] }

inBrowser.each([
  ['when the decision comes', 'request', lost],
  ['before the decision is committed', 'before the commit', lost],
  ['after the decision was committed', 'after the commit', made],
  ['before the decision is answered', 'answer', begun],
] as const)('a server dies %s: it is made once or not at all, and the page says which', async (_, point, expected) => {
  const yard = await openYard(onTestFinished, ledgerYard([{ name: 'rope', hold: 'none' }]))
  const ledger = openLedger(yard.directory)
  const armFile = join(yard.directory, 'armed')
  const nodeArgs = ['--import', new URL('../crash/support/die-while-deciding.ts', import.meta.url).href]
  const start = (port: number) =>
    yard.start({ nodeArgs, flags: ['--port', String(port)], env: { ...operatorEnv, ARM_FILE: armFile } })
  putConsole()
  let server = await start(0)
  await record({ url: server.url, method: 'POST', body: runInput('t', 't', 'Please pay for rope;') }).done

  await using browser = await connectBrowser()
  const own = await browser.newContext({ viewport: DESK })
  const url = `http://localhost:${server.port}`
  const { page, complaints } = watch(await own.newPage(), url)
  await page.goto(`${url}/console/inbox`)
  await pasteToken(page, OPERATOR_TOKEN)
  await page.getByRole('link', { name: /pay/ }).first().click()
  const approve = page.getByRole('button', { name: /^Approve/, disabled: false })
  await approve.waitFor()
  writeFileSync(armFile, point)
  await approve.click()

  expect((await server.exited).signal).toBe('SIGKILL')
  await page.getByText('Not connected.', { exact: true }).waitFor(LATE)
  await page.getByText('nobody knows whether the decision arrived').first().waitFor(LATE)
  rmSync(armFile)
  server = await start(server.port)

  await page.getByText('Not connected.', { exact: true }).waitFor({ state: 'detached', ...LATE })
  await page.getByText(expected.says).first().waitFor(LATE)
  expect(await page.getByText('nobody knows').count()).toBe(0)
  const question = async () => (await approvals(server.url))[0]
  if (!expected.isDecided) {
    expect((await question())?.status).toBe('pending')
    expect(ledger.count('rope')).toBe(0)
    // The same press works now.
    await approve.click()
    await page.getByText('All done').waitFor(LATE)
  }
  await until('the approval is used up', async () => (await question())?.status === 'consumed', LATE_MS)
  const { continuation_run_id: runId } = (await question()) ?? {}
  expect(endOf(await eventsOf(server.url, runId ?? ''))).not.toEqual({})
  expect(expected.paid).toContain(ledger.count('rope'))
  expect(await approvals(server.url)).toHaveLength(1)
  expect(complaints).toEqual([])
})
