// What a start loads. Finding, reading and compiling files is most of a start.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tempFolder } from '../../src/cli/testing/temp-folder.ts'
import { startLimits } from './limits.ts'

const root = join(import.meta.dirname, '../..')

/** The files that `quarterdeck serve` has loaded when it is ready. */
async function loadedBy(launcher: string): Promise<string[]> {
  const folder = await tempFolder()
  const agent = join(folder, 'agent.yaml')
  writeFileSync(agent, 'name: plain\nmodel: { provider: demo, name: demo }\ninstructions: { inline: Be brief. }\n')
  const hook = join(import.meta.dirname, 'count-files.ts')
  // With this flag the launcher does not start Node once more.
  const flags = ['--max-semi-space-size=32', '--import', hook, launcher]
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
  return loaded
}

test('the files that a start loads are counted', async () => {
  const loaded = await loadedBy(join(root, 'bin/quarterdeck.js'))
  const packages = loaded.filter((url) => url.includes('/node_modules/'))
  const sources = loaded.filter((url) => url.includes('/src/') && !url.includes('/node_modules/'))

  expect(sources.length).toBeLessThanOrEqual(startLimits.sources)
  expect(packages.length).toBeLessThanOrEqual(startLimits.packages)
})

test('as published, a start loads few files', async () => {
  // Under `node_modules` the launcher uses the build.
  const place = join(await tempFolder(), 'node_modules/quarterdeck')
  execFileSync(process.execPath, [join(root, 'scripts/build.ts'), '--to', join(place, 'dist')], { cwd: root })
  for (const name of ['bin', 'package.json']) cpSync(join(root, name), join(place, name), { recursive: true })
  const loaded = await loadedBy(join(place, 'bin/quarterdeck.js'))

  expect(loaded.filter((url) => url.includes('/dist/')).length).toBeLessThanOrEqual(startLimits.built)
})
