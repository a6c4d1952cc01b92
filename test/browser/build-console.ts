// Builds the console before its tests, unless the one in `dist/console` is newer than its sources.

import { execFile } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../..')

export default async function buildConsole(): Promise<void> {
  const built = statSync(join(root, 'dist/console/index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = globSync(
    ['console/src/**', 'console/public/**', 'console/talk/**', 'console/*.*', 'src/client/**', 'src/domain/**'],
    {
      cwd: root,
    },
  )
  if (sources.every((path) => statSync(join(root, path)).mtimeMs < built)) return
  // A process of its own: Vite must not see the settings of the test runner.
  await promisify(execFile)(process.execPath, [join(root, 'scripts/build-console.ts')], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
  })
}
