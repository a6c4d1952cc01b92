// The whole server in memory on a free port, with a model that answers at once.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../../src/app.ts'
import { resolveSettings } from '../../src/config/resolve-settings.ts'
import { silentLogger } from '../../src/domain/logger.ts'
import { testAgent } from '../../src/engine/testing/open-engine.ts'

/** Ends with `await using`. */
export async function openApp() {
  const dataDir = await mkdtemp(join(tmpdir(), 'quarterdeck-openapi-'))
  const script = join(dataDir, 'script.json')
  await writeFile(script, JSON.stringify({ loop: true, answers: [{ parts: [{ text: 'Hello ' }, { text: 'you.' }] }] }))
  const flags = { port: '0', store: ':memory:' }
  const { settings } = resolveSettings({ flags, env: {}, file: null, onTerminal: false })
  const app = await createApp({
    agents: [{ ...testAgent, directory: dataDir, model: { ...testAgent.model, script } }],
    settings,
    dataDir,
    version: '0.0.0-test',
    log: silentLogger,
    exit: (code) => {
      throw new Error(`the server wanted to exit with ${code}`)
    },
  })
  const { url } = await app.listen()
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      await app.close({ drainMs: 0 })
      await rm(dataDir, { recursive: true })
    },
  }
}
