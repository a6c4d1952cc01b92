// A newcomer's first hour in a clone. `package.test.ts` has the one with the packed program.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { findOldNode } from '../src/cli/testing/old-node.ts'
import { tempFolder } from '../src/cli/testing/temp-folder.ts'
import { firstHour } from './first-hour.ts'
import { hasScript } from './terminal.ts'

const cwd = join(import.meta.dirname, '..')
const run = promisify(execFile)
const oldNode = findOldNode()

/** The older one, with which more can go wrong; in the long tests both. */
const nodes: [name: string, node: string][] = oldNode === null ? [] : [['an older', oldNode]]
if (oldNode === null || process.env.LONG === '1') nodes.push(['this', process.execPath])

test.runIf(hasScript).each(nodes)(
  'with %s Node all commands of the README and of the banner work, and leave the clone as it is',
  { timeout: 300_000 },
  async (_, node) => {
    const changes = async () => (await run('git', ['status', '--porcelain'], { cwd })).stdout
    const before = await changes()

    await firstHour({ cwd, node, folder: await tempFolder(), start: 'npm start' })

    expect(await changes()).toBe(before)
  },
)
