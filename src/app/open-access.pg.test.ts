// Two whole servers on one Postgres: whoever signs in at one of them is in at both.

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openTestDatabase } from '../../test/postgres/test-database.ts'
import { resolveSettings } from '../config/settings/resolve-settings.ts'
import { type LogLine, recordingLogger } from '../domain/testing/recording-logger.ts'
import { testAgent } from '../engine/testing/open-engine.ts'
import { createApp } from './app.ts'
import { testAppOptions } from './testing/test-app.ts'

async function startServer(store: string, lines: LogLine[] = []) {
  const directory = await mkdtemp(join(tmpdir(), 'quarterdeck-replica-'))
  const [dataDir, configDir] = [join(directory, 'data'), join(directory, 'config')]
  for (const folder of [dataDir, configDir]) await mkdir(folder, { mode: 0o700 })
  const { settings } = resolveSettings({ flags: { port: '0', store }, env: {}, file: null, onTerminal: false })
  const app = await createApp({
    ...testAppOptions(),
    agents: [{ ...testAgent, directory, model: { ...testAgent.model, provider: 'demo', name: 'demo' } }],
    settings,
    dataDir,
    configDir,
    log: recordingLogger(lines),
  })
  const running = await app.listen()
  onTestFinished(async () => {
    await app.close({ drainMs: 0 })
    await rm(directory, { recursive: true })
  })
  const post = (path: string, body: object, token?: string) =>
    fetch(`${running.url}${path}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    })
  const status = async (token: string) =>
    (await fetch(`${running.url}/me`, { headers: { Authorization: `Bearer ${token}` } })).status
  return { newCode: running.newConsoleCode, post, status }
}

test('a code of one server signs in at the other, once, and who signs out is out at both', async () => {
  const database = await openTestDatabase()
  onTestFinished(() => database.drop())
  const lines: LogLine[] = []
  const [a, b] = await Promise.all([startServer(database.url), startServer(database.url, lines)])
  // Tokens are in the database, so the data directory of a server does not matter.
  expect(lines.map(({ message }) => message).filter((one) => one.includes('no operator token'))).toEqual([
    'There is no operator token: set QUARTERDECK_OPERATOR_TOKEN or run `quarterdeck tokens create --role operator` with the same QUARTERDECK_STORE.',
  ])
  const code = await a.newCode()

  const tries = await Promise.all([b, a, b].map((server) => server.post('/sign-in', { code })))
  expect(tries.map(({ status }) => status).toSorted()).toEqual([200, 401, 401])
  const signedIn = tries.find(({ ok }) => ok) ?? expect.fail('nobody is in')
  const { token } = (await signedIn.json()) as { token: string }
  expect([await a.status(token), await b.status(token)]).toEqual([200, 200])

  expect((await b.post('/sign-out', {}, token)).status).toBe(204)
  expect(await b.status(token)).toBe(401)
  await expect.poll(() => a.status(token), { timeout: 60_000, interval: 50 }).toBe(401)
})
