// Signing in to an MCP server, on the whole server: from the alert to the tool call.

import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { resolveSettings } from '../config/settings/resolve-settings.ts'
import { createSystemClock } from '../domain/clock.ts'
import { testAgent } from '../engine/testing/open-engine.ts'
import { mcpSettings } from '../tools/mcp/testing/mcp-settings.ts'
import { openOAuthServers, walkThrough } from '../tools/mcp/testing/oauth-servers.ts'
import { createApp } from './app.ts'
import { testAppOptions } from './testing/test-app.ts'

const TOKEN = 'qd_operator-token-of-this-test'
const answers = [{ parts: [{ tool_call: { name: 'whoami', arguments: {} } }] }, { parts: [{ text: 'Done.' }] }]

async function open(per: 'server' | 'user') {
  const servers = await openOAuthServers()
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-sign-ins-')))
  const script = join(folder, 'script.json')
  writeFileSync(script, JSON.stringify({ loop: true, answers }))
  const auth = { per, clientId: null, clientSecret: null, scope: null, allowPrivate: true }
  const crm = mcpSettings({
    name: 'crm',
    connection: { kind: 'http', url: servers.url, headers: {}, auth },
    effect: 'read',
    approval: { ask: 'never' },
  })
  const start = async () => {
    const app = await createApp({
      ...testAppOptions(),
      agents: [{ ...testAgent, directory: folder, model: { ...testAgent.model, script }, tools: [crm] }],
      settings: resolveSettings({
        flags: { port: '0' },
        env: { QUARTERDECK_OPERATOR_TOKEN: TOKEN },
        file: null,
        onTerminal: false,
      }).settings,
      dataDir: join(folder, 'data'),
      configDir: join(folder, 'config'),
      clock: createSystemClock(),
    })
    const { url } = await app.listen()
    return { app, url }
  }
  let running = await start()
  onTestFinished(async () => {
    await running.app.close({ drainMs: 0 })
    await servers[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })
  const ask = async (method: string, path: string, body?: object, token: string | null = TOKEN) => {
    const headers = {
      'Content-Type': 'application/json',
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
    }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await fetch(`${running.url}${path}`, { method, headers, ...sent })
    const text = await answer.text()
    return { status: answer.status, text, body: text.startsWith('{') ? JSON.parse(text) : null }
  }
  return {
    servers,
    folder,
    ask,
    list: async () => (await ask('GET', '/sign-ins')).body.sign_ins,
    alerts: async () => (await ask('GET', '/inbox')).body.items.filter((one: { kind: string }) => one.kind === 'alert'),
    tools: async () => (await ask('GET', '/tools')).body.tools.map(({ name }: { name: string }) => name),
    say: async (message: string) => (await ask('POST', '/chat', { message })).text,
    async restart() {
      await running.app.close({ drainMs: 0 })
      running = await start()
    },
  }
}

test('an alert asks once, the browser comes back, the tools are there at once, and after a restart still', async () => {
  const { servers, folder, ask, list, alerts, tools, restart } = await open('server')
  expect(await tools()).toEqual([])
  await vi.waitFor(async () => expect(await alerts()).toHaveLength(1))
  expect((await alerts())[0].view).toMatchObject({ title: 'crm wants somebody to sign in' })
  const [{ id }] = await list()

  const { body } = await ask('POST', `/sign-ins/${id}`, {})
  const back = await walkThrough(body.link)
  const page = await ask('GET', `${back.pathname}${back.search}`, undefined, null)
  expect(page).toMatchObject({ status: 200, text: expect.stringContaining('Signed in') })

  expect(await tools()).toEqual(['whoami', 'write'])
  await vi.waitFor(async () => expect(await alerts()).toEqual([]))
  expect((await list())[0]).toMatchObject({ issuer: servers.issuer, signed_in_by: 'operator', problem: null })
  const again = await ask('GET', `${back.pathname}${back.search}`, undefined, null)
  expect(again).toMatchObject({ status: 400, text: expect.stringContaining('Not signed in') })

  await restart()
  await vi.waitFor(async () => expect(await tools()).toEqual(['whoami', 'write']))

  // The tokens are in the config folder, for this user alone, and nowhere in the data.
  const name = readdirSync(join(folder, 'config')).find((one) => one.startsWith('mcp-sign-ins')) ?? ''
  const kept = readFileSync(join(folder, 'config', name), 'utf8')
  const { access_token: secret } = JSON.parse(kept)['mcp-sign-ins'][0].tokens
  expect(statSync(join(folder, 'config', name)).mode & 0o777).toBe(0o600)
  for (const file of readdirSync(join(folder, 'data'), { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, 'data', file)
    if (statSync(path).isFile()) expect(readFileSync(path).includes(secret)).toBe(false)
  }

  expect((await ask('DELETE', `/sign-ins/${id}`)).status).toBe(204)
  expect(await tools()).toEqual([])
  await vi.waitFor(async () => expect(await alerts()).toHaveLength(1))
})

test('a run without a person says which server needs a sign-in, and does not wait', async () => {
  const { ask, say } = await open('server')

  const { session_id: session } = JSON.parse(await say('who am I?'))

  const { text } = await ask('GET', `/sessions/${session}/export`)
  expect(text).toContain('needs a person to sign in to it')
})

test('nobody without an operator’s token begins a sign-in for everybody', async () => {
  const { ask, list } = await open('server')
  const [{ id }] = await list()

  expect((await ask('POST', `/sign-ins/${id}`, {}, null)).status).toBe(403)
  expect((await ask('DELETE', `/sign-ins/${id}`, undefined, null)).status).toBe(403)
  expect((await ask('POST', '/sign-ins/none-of-ours', {})).status).toBe(404)
})

test('an alert that was dismissed does not come back by itself', async () => {
  const { ask, alerts, tools } = await open('server')
  await vi.waitFor(async () => expect(await alerts()).toHaveLength(1))
  const id = (await ask('GET', '/alerts')).body.alerts[0].alert_id

  expect((await ask('POST', `/alerts/${id}/nudge`, {})).status).toBe(400)
  expect((await ask('POST', `/alerts/${id}/dismiss`, {})).status).toBe(200)
  await tools()

  expect(await alerts()).toEqual([])
})

test('erasing a user signs them out of MCP servers, on record, and takes the alert with it', async () => {
  const { ask, list, say, restart } = await open('user')
  await say('who am I?')
  const [{ id }] = await list()
  const back = await walkThrough((await ask('POST', `/sign-ins/${id}`, {})).body.link)
  await ask('GET', `${back.pathname}${back.search}`, undefined, null)
  expect((await list())[0].signed_in_by).toBe('operator')

  expect((await ask('DELETE', '/users/local_user')).body).toMatchObject({ sign_ins: 1, left: [] })

  expect((await list())[0]).toMatchObject({ issuer: null, problem: null })
  await restart()
  expect((await ask('DELETE', '/users/local_user')).body).toMatchObject({ sign_ins: 0, sessions: 0 })
  const { entries } = (await ask('GET', '/audit?kind=signed_out')).body
  expect(entries).toMatchObject([{ by: 'operator', details: { mcp_server: 'crm', user: 'local_user' } }])
})
