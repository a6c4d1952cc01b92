import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createApp } from '../../../app/app.ts'
import { testAppOptions } from '../../../app/testing/test-app.ts'
import { resolveSettings } from '../../../config/settings/resolve-settings.ts'
import type { ScheduleSettings } from '../../../domain/agent/schedule.ts'
import { testAgent } from '../../../engine/testing/open-engine.ts'
import { createSoftwareAuthenticator } from '../../../http/auth/console/testing/software-authenticator.ts'

const answers = [
  { when: 'I like tea', parts: [{ tool_call: { name: 'remember', arguments: { fact: 'Likes tea.' } } }] },
  { when: 'wait', parts: [{ text: 'Wait' }, { hang: true }] },
  { parts: [{ text: 'Yes.' }] },
]
const weekly: ScheduleSettings = {
  name: 'weekly',
  times: { type: 'every', ms: 604_800_000 },
  jitterMs: 0,
  until: null,
  count: null,
  missed: 'skip',
  message: 'Hi',
  inputs: {},
  session: null,
  owner: 'ivan',
  notify: [],
}
const keys = {
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
}
const none = { tokens: 0, devices: 0, push_subscriptions: 0, sign_ins: 0, schedules: 0, sessions: 0, memories: 0 }

/** The whole server. The tokens of the first start are Olga's, who is an admin. Ivan is an operator. */
async function open(agent: Partial<typeof testAgent> = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-users-')))
  const shop = join(folder, 'shop')
  mkdirSync(shop)
  const script = join(folder, 'script.json')
  writeFileSync(script, JSON.stringify({ loop: true, answers }))
  const operators = [{ name: 'olga', admin: true, local: true }, { name: 'ivan' }]
  const file = { operators: { people: operators }, workspaces: [{ path: shop, id: 'shop' }] }
  const app = await createApp({
    ...testAppOptions(),
    agents: [{ ...testAgent, memory: true, directory: folder, model: { ...testAgent.model, script }, ...agent }],
    settings: resolveSettings({
      flags: { port: '0', 'auth.mode': 'token' },
      env: {},
      file: { path: join(folder, 'quarterdeck.yaml'), text: JSON.stringify(file) },
      onTerminal: false,
    }).settings,
    dataDir: join(folder, 'data'),
    configDir: join(folder, 'config'),
    makeTokens: true,
  })
  onTestFinished(async () => {
    await app.close({ drainMs: 0 })
    rmSync(folder, { recursive: true })
  })
  const { url, madeToken } = await app.listen()
  const olga = madeToken ?? ''
  const origin = `http://localhost:${new URL(url).port}`

  async function ask(method: string, path: string, token: string, body?: unknown) {
    const answer = await fetch(`${origin}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
  }
  const makeToken = async (wanted: object): Promise<string> => (await ask('POST', '/tokens', olga, wanted)).body.token
  const erase = (user: string, token = olga) => ask('DELETE', `/users/${encodeURIComponent(user)}`, token)
  /** What of whom is still there. */
  async function kept() {
    const [tokens, devices, schedules, sessions, memories] = await Promise.all(
      ['/tokens', '/devices', '/schedules', '/sessions?owner=*', '/memories?owner=*'].map(
        async (path) => (await ask('GET', path, olga)).body,
      ),
    )
    return {
      tokens: tokens.tokens.map(({ user }: { user: string }) => user),
      devices: devices.devices.map(({ user }: { user: string }) => user),
      schedules: schedules.schedules.map(({ id }: { id: string }) => id),
      sessions: sessions.length,
      memories: memories.memories.map(({ owner }: { owner: string }) => owner).sort(),
    }
  }
  return { ask, makeToken, erase, kept, olga, origin, shop }
}

test('an admin erases all that is kept of one user, and nothing of anybody else', async () => {
  const { ask, makeToken, erase, kept, olga } = await open()
  const ivan = await makeToken({ role: 'operator', user: 'ivan' })
  await makeToken({ role: 'user', user: 'ivan' })
  const mia = await makeToken({ role: 'user', user: 'mia' })
  for (const token of [ivan, mia, olga]) await ask('POST', '/chat', token, { message: 'I like tea' })
  await ask('POST', '/v1/chat/completions', ivan, { model: 'tester', messages: [{ role: 'user', content: 'Hi' }] })
  const busy = await ask('POST', '/sessions/busy/messages', ivan, { message: 'wait' })
  await ask('POST', '/sign-in', ivan, { label: 'Firefox' })
  const endpoint = 'https://push.example.com/abc'
  expect((await ask('POST', '/push/subscriptions', ivan, { endpoint, keys })).status).toBe(201)
  for (const [token, name] of [
    [ivan, 'his'],
    [olga, 'hers'],
  ] as const) {
    const schedule = { agent: 'tester', name, message: 'Hi', every_seconds: 604_800 }
    expect((await ask('POST', '/schedules', token, schedule)).status).toBe(201)
  }
  const before = await kept()
  expect([before.tokens.length, before.devices, before.memories]).toEqual([4, ['ivan'], ['ivan', 'local_user', 'mia']])

  expect(await erase('ivan')).toEqual({
    status: 200,
    body: {
      user: 'ivan',
      ...{ tokens: 2, devices: 1, push_subscriptions: 1, sign_ins: 0, schedules: 1, sessions: 3, memories: 1 },
      left: [],
    },
  })

  expect(busy.status).toBe(202)
  expect((await ask('GET', '/me', ivan)).status).toBe(401)
  expect(await kept()).toEqual({
    tokens: ['local_user', 'mia'],
    devices: [],
    schedules: ['tester.hers'],
    sessions: 2,
    memories: ['local_user', 'mia'],
  })
  expect((await ask('GET', `/runs/${busy.body.run_id}`, olga)).body).toMatchObject({ code: 'run_not_found' })
  expect((await ask('GET', '/memories', mia)).body.memories).toHaveLength(1)
  for (const user of ['ivan', 'nobody', 'corp:ann@example.com']) {
    expect(await erase(user)).toEqual({ status: 200, body: { user, ...none, left: [] } })
  }
  const { entries } = (await ask('GET', '/audit', olga)).body
  const trail = entries.map(({ kind, by, details }: never) => [kind, by, details])
  expect(trail).toEqual(
    expect.arrayContaining([
      ['user_erased', 'operator', expect.objectContaining({ user: 'ivan', channel: 'http' })],
      ['token_revoked', 'operator', expect.objectContaining({ user: 'ivan' })],
      ['device_revoked', 'operator', expect.objectContaining({ user: 'ivan' })],
    ]),
  )
})

test('nobody but an admin erases anybody, and no token with limits does', async () => {
  const { makeToken, erase, kept } = await open()
  const before = await kept()
  for (const wanted of [
    { role: 'user', user: 'olga' },
    { role: 'operator', user: 'ivan' },
    { role: 'operator', user: 'olga', scopes: ['read', 'talk', 'decide', 'manage'] },
    { role: 'operator', user: 'olga', agent: 'tester' },
  ]) {
    const token = await makeToken(wanted)
    for (const user of ['mia', 'ivan', 'olga']) {
      expect(await erase(user, token)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    }
  }
  expect((await erase('mia', 'qd_a-token-that-nobody-has')).status).toBe(401)
  for (const user of ['*', 'two words', 'x'.repeat(65)]) {
    expect(await erase(user)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  }
  expect({ ...(await kept()), tokens: [] }).toEqual({ ...before, tokens: [] })
})

test('what cannot be removed is named, and the same request finishes it later', async () => {
  const { ask, makeToken, erase, olga, origin, shop } = await open({ schedules: [weekly] })
  const ivan = await makeToken({ role: 'operator', user: 'ivan' })
  const key = createSoftwareAuthenticator()
  const { challenge_id, options } = (await ask('POST', '/passkeys/options', ivan, {})).body
  const response = key.create(options, { origin, rpId: 'localhost' })
  const passkey = (await ask('POST', '/passkeys', ivan, { challenge_id, response })).body.passkey_id
  const agent = await makeToken({ role: 'agent', user: 'ivan', workspace: shop })
  const call = { tool_name: 'Read', tool_input: { file_path: join(shop, 'a.txt') }, tool_use_id: 't' }
  const asked = { hook_event_name: 'PreToolUse', session_id: 's', cwd: shop, permission_mode: 'default', ...call }
  expect((await ask('POST', '/hooks/claude?limit_ms=7000', agent, asked)).status).toBe(200)

  const { body } = await erase('ivan')

  const [session] = body.left.filter(({ what }: { what: string }) => what === 'session')
  expect(body).toEqual({
    ...{ user: 'ivan', ...none, tokens: 2 },
    left: [
      { what: 'passkey', id: passkey, why: expect.stringContaining('DELETE /passkeys') },
      { what: 'schedule', id: 'tester.weekly', why: expect.stringContaining('stands in the file of tester') },
      { what: 'session', id: session.id, why: expect.stringContaining('Terminate the session') },
    ],
  })
  await ask('POST', `/sessions/${session.id}/terminate`, olga, {})
  expect((await erase('ivan')).body).toEqual({ user: 'ivan', ...none, sessions: 1, left: body.left.slice(0, 2) })
})

test('whoever erases themselves keeps the credential that they ask with', async () => {
  const { ask, makeToken, erase, olga } = await open()
  await makeToken({ role: 'operator', user: 'local_user' })

  expect((await erase('local_user')).body).toMatchObject({ tokens: 1, left: [] })
  expect((await erase('local_user')).body).toEqual({ user: 'local_user', ...none, left: [] })
  expect((await ask('GET', '/tokens', olga)).body.tokens).toHaveLength(1)
})
