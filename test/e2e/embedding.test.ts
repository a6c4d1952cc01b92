// The app inside another program: a failed or closed app leaves nothing behind in the process.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createApp } from '../../src/app/app.ts'
import { testAppOptions } from '../../src/app/testing/test-app.ts'
import { resolveSettings } from '../../src/config/settings/resolve-settings.ts'
import { testAgent } from '../../src/engine/testing/open-engine.ts'

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quarterdeck-embedding-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'script.json'), '{ "answers": [{ "parts": [{ "text": "Hello." }] }] }')
  return folder
}

async function makeApp(folder: string, port = 0) {
  const { settings } = resolveSettings({ flags: { port: String(port) }, env: {}, file: null, onTerminal: false })
  const app = await createApp({
    ...testAppOptions(),
    agents: [{ ...testAgent, directory: folder, model: { ...testAgent.model, script: join(folder, 'script.json') } }],
    settings,
    dataDir: join(folder, 'data'),
  })
  onTestFinished(() => app.close({ drainMs: 0 }))
  return app
}

async function isReady(folder: string, port = 0): Promise<boolean> {
  const app = await makeApp(folder, port)
  const { url } = await app.listen()
  const { status } = await fetch(`${url}/ready`)
  await app.close()
  return status === 200
}

test('an app that was closed cannot be started', async () => {
  const folder = await makeFolder()
  const app = await makeApp(folder)
  await app.close()

  await expect(app.listen()).rejects.toThrow('an app that was closed is not started')
  await expect(app.open()).rejects.toThrow('an app that was closed is not started')
  expect(await isReady(folder)).toBe(true)
})

test('a port that is taken leaves the data directory and the other address free', async () => {
  const folder = await makeFolder()
  const stranger = createServer()
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
  const address = stranger.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const app = await makeApp(folder, port)

  await expect(app.listen()).rejects.toMatchObject({ code: 'config_invalid', details: { reason: 'EADDRINUSE' } })
  await new Promise((resolve) => stranger.close(resolve))

  expect(await isReady(folder, port)).toBe(true)
})

test('a damaged database leaves the port and the data directory free for a restored one', async () => {
  const folder = await makeFolder()
  expect(await isReady(folder)).toBe(true)
  const database = join(folder, 'data', 'quarterdeck.db')
  await writeFile(database, 'Dear diary, '.repeat(500))
  const app = await makeApp(folder)

  await expect(app.listen()).rejects.toMatchObject({ code: 'data_dir_damaged' })
  await rm(database)

  expect(await isReady(folder)).toBe(true)
})
