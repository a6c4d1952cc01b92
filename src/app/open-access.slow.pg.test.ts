// Two whole servers on one Postgres: whoever signs in at one of them is in at both.

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openTestDatabase } from '../../test/postgres/test-database.ts'
import { resolveSettings } from '../config/settings/resolve-settings.ts'
import { type LogLine, recordingLogger } from '../domain/testing/recording-logger.ts'
import { testAgent } from '../engine/testing/open-engine.ts'
import { proofText } from '../http/auth/console/testing/open-proofs.ts'
import {
  createSoftwareAuthenticator,
  type SoftwareAuthenticator,
} from '../http/auth/console/testing/software-authenticator.ts'
import { createApp } from './app.ts'
import { testAppOptions } from './testing/test-app.ts'

async function startServer(store: string, lines: LogLine[] = [], file = '{}') {
  const directory = await mkdtemp(join(tmpdir(), 'quarterdeck-replica-'))
  const [dataDir, configDir] = [join(directory, 'data'), join(directory, 'config')]
  for (const folder of [dataDir, configDir]) await mkdir(folder, { mode: 0o700 })
  const { settings } = resolveSettings({
    flags: { port: '0', store },
    env: {},
    file: { path: join(directory, 'quarterdeck.yaml'), text: file },
    onTerminal: false,
  })
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
  // Passkeys need a name.
  const origin = running.url.replace('127.0.0.1', 'localhost')
  const post = (path: string, body: object, token?: string, headers: Record<string, string> = {}) =>
    fetch(`${origin}${path}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: JSON.stringify(body),
    })
  const status = async (token: string) =>
    (await fetch(`${running.url}/me`, { headers: { Authorization: `Bearer ${token}` } })).status
  return { newCode: running.newConsoleCode, tokens: running.tokens, origin, post, status }
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

test.each([
  ['whom the settings name gets in', 'eve', [200, 'eve']],
  ['whom a provider signs in does not', 'mia', [403, undefined]],
  ['whom the settings do not name does not', 'zoe', [403, undefined]],
  ['who is everybody at this machine does not', 'local_user', [403, undefined]],
])('of those who have nothing left but a passkey, %s, also at the other server', async (_who, user, expected) => {
  const database = await openTestDatabase()
  onTestFinished(() => database.drop())
  const operators = [{ name: 'eve' }, { name: 'mia', logins: 'corp:mia' }, { name: 'local_user' }]
  const start = () => startServer(database.url, [], JSON.stringify({ operators }))
  const [a, b] = await Promise.all([start(), start()])
  const made = await a.tokens.create({ name: '', user, role: 'operator' }, 'test')
  const { token } = (await (await a.post('/sign-in', {}, made.token)).json()) as { token: string }
  const first = (await (await a.post('/passkeys/options', {}, token)).json()) as Asked
  const key = createSoftwareAuthenticator()
  const response = key.create(first.options, { origin: a.origin, rpId: 'localhost' })
  expect((await a.post('/passkeys', { challenge_id: first.challenge_id, response }, token)).status).toBe(201)
  expect((await a.post('/sign-out', {}, token)).status).toBe(204)
  await a.tokens.revoke(made.record.id, 'test')

  const asked = (await (await b.post('/sign-in/challenges', {})).json()) as Asked
  const proof = proofText(asked.challenge_id, key.get(asked.options, { origin: b.origin, rpId: 'localhost' }))
  const answer = await b.post('/sign-in', {}, undefined, { 'X-Passkey': proof })

  expect([answer.status, ((await answer.json()) as { user?: string }).user]).toEqual(expected)
})

type Asked = { challenge_id: string; options: Parameters<SoftwareAuthenticator['get']>[0] }
