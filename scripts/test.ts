// `npm test`: the quick tests, and `npm run check` beside them; with `--all` all tests. Tests wait a lot, and the checkers use what they
// leave of the processor. What follows `npm test --` goes to Vitest. A check that finds something ends the tests; what the checks say
// comes last.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { getPriority, setPriority } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
/** The tests come first. 19 is the lowest priority there is. */
const priority = Math.min(getPriority() + 5, 19)

const check = spawn(process.execPath, [join(root, 'scripts/check.ts')], { stdio: ['ignore', 'pipe', 'pipe'] })
if (check.pid !== undefined) setPriority(check.pid, priority)
const said: Buffer[] = []
for (const stream of [check.stdout, check.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk))

const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const given = process.argv.slice(2)
const isAll = given[0] === '--all'
const tests = spawn(process.execPath, [vitest, 'run', ...given.slice(isAll ? 1 : 0)], {
  stdio: 'inherit',
  env: { ...process.env, QUARTERDECK_TESTS: isAll ? 'all' : 'quick' },
})
process.on('SIGTERM', () => {
  for (const child of [check, tests]) child.kill()
})
check.once('close', (code) => code === 0 || tests.kill())

const codes = await Promise.all([check, tests].map((child) => once(child, 'close')))
process.stdout.write(Buffer.concat(said))
process.exitCode = codes.every(([code]) => code === 0) ? 0 : 1
