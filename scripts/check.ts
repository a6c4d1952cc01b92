// Format, lint and types, all at the same time: `npm run check`. Ends with 1 if one of them finds something.

import { spawn } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

// Several checkers would look at the same types several times. With one of them and Biome, two cores have enough to do.
const checks = [
  ['biome', 'ci', '.'],
  ['tsc', '--noEmit', '-p', '.', '--checkers', '1'],
  ['tsc', '--noEmit', '-p', 'console', '--checkers', '1'],
] as const

function run([program, ...args]: (typeof checks)[number]): Promise<boolean> {
  const path = join(root, 'node_modules/.bin', program)
  const child = spawn(path, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code === 0))
  })
}

const passed = await Promise.all(checks.map(run))
process.exitCode = passed.every(Boolean) ? 0 : 1
