// What a start loads. Finding, reading and compiling files is most of a start.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tempFolder } from '../../src/cli/testing/temp-folder.ts'
import { startLimits } from './limits.ts'

test('the files that a start loads are counted', async () => {
  const root = join(import.meta.dirname, '../..')
  const folder = await tempFolder()
  const agent = join(folder, 'agent.yaml')
  writeFileSync(agent, 'name: plain\nmodel: { provider: demo, name: demo }\ninstructions: { inline: Be brief. }\n')
  const hook = join(import.meta.dirname, 'count-files.ts')
  // With this flag the launcher does not start Node once more.
  const flags = ['--max-semi-space-size=32', '--import', hook, join(root, 'bin/quarterdeck.js')]
  const serve = ['serve', agent, '--port', '0', '--data-dir', join(folder, 'data'), '--log-level', 'warn']
  const child = spawn(process.execPath, [...flags, ...serve], {
    env: { PATH: process.env.PATH, HOME: folder, QUARTERDECK_CONFIG_DIR: join(folder, 'config') },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  onTestFinished(async () => {
    child.kill()
    await once(child, 'exit')
  })
  let said = ''
  for await (const text of child.stdout ?? []) {
    said += text
    if (said.includes('ready')) break
  }
  expect(said).toContain('ready')
  child.send('which')
  const [loaded] = (await once(child, 'message')) as [string[]]
  const packages = loaded.filter((url) => url.includes('/node_modules/'))
  const sources = loaded.filter((url) => url.includes('/src/') && !url.includes('/node_modules/'))

  expect(sources.length).toBeLessThanOrEqual(startLimits.sources)
  expect(packages.length).toBeLessThanOrEqual(startLimits.packages)
})
