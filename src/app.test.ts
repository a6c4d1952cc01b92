import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type App, createApp } from './app.ts'
import { resolveSettings } from './config/resolve-settings.ts'
import type { SettingFlags } from './config/settings.ts'
import type { AgentDefinition } from './domain/agent.ts'
import { silentLogger } from './domain/logger.ts'
import { testAgent } from './engine/testing/open-engine.ts'
import { lockDataDir } from './store/sqlite/data-dir-lock.ts'

const agent: AgentDefinition = { ...testAgent, model: { ...testAgent.model, provider: 'demo', name: 'demo' } }
const certificate = join(import.meta.dirname, 'http', 'testing', 'localhost-cert.pem')
const key = join(import.meta.dirname, 'http', 'testing', 'localhost-key.pem')

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-app-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function open(dataDir: string, flags: SettingFlags = {}, agents = [agent]): Promise<App> {
  const { settings } = resolveSettings({ flags: { port: '0', ...flags }, env: {}, file: null, onTerminal: false })
  const app = await createApp({
    agents,
    settings,
    dataDir,
    version: '0.0.0-test',
    log: silentLogger,
    exit: (code) => {
      throw new Error(`the server wanted to exit with ${code}`)
    },
  })
  onTestFinished(() => app.close({ drainMs: 0 }))
  return app
}

describe('a start that fails', () => {
  test('leaves nothing behind when a model or a certificate cannot be used', async () => {
    const dataDir = join(emptyFolder(), 'data')
    const keyless: AgentDefinition = { ...agent, model: { ...agent.model, provider: 'openai', name: 'gpt-5-mini' } }

    await expect(open(dataDir, {}, [keyless])).rejects.toMatchObject({ code: 'config_invalid' })
    await expect(open(dataDir, { 'tls.cert': certificate, 'tls.key': '/nowhere/key.pem' })).rejects.toMatchObject({
      code: 'config_invalid',
      message: 'tls.key: /nowhere/key.pem cannot be read (ENOENT). Name a PEM file.',
    })

    expect(existsSync(dataDir)).toBe(false)
  })

  test('gives the data directory back, with its database closed', async () => {
    const dataDir = emptyFolder()
    writeFileSync(join(dataDir, 'tokens.json'), 'no JSON', { mode: 0o600 })

    await expect(open(dataDir)).rejects.toMatchObject({ code: 'config_invalid' })

    lockDataDir(dataDir).release()
    // SQLite removes the log of a database that is closed in good order.
    expect(readdirSync(dataDir).sort()).toEqual(['quarterdeck.db', 'server.lock', 'tokens.json'])
  })
})

describe('the doors of an app', () => {
  test('are the open ones behind which there is something', async () => {
    expect((await open(emptyFolder(), { protocols: ['mcp', 'ag-ui'] })).doors).toEqual(['ag-ui'])
    expect((await open(emptyFolder(), { protocols: ['mcp'] })).doors).toEqual([])
  })
})

test('with a certificate the app is reached over https', async () => {
  const app = await open(emptyFolder(), { 'tls.cert': certificate, 'tls.key': key })

  const { url, port } = await app.listen()

  expect(url).toBe(`https://127.0.0.1:${port}`)
  const health = await new Promise<unknown>((resolve, reject) => {
    get(`${url}/health`, { rejectUnauthorized: false, agent: false }, (response) => resolve(json(response))).on(
      'error',
      reject,
    )
  })
  expect(health).toMatchObject({ status: 'healthy', agent_name: agent.name })
})

test('uploads are held to what is set until they are sent with a message', async () => {
  const app = await open(emptyFolder(), { 'files.unsent_bytes': '10' })
  const { url } = await app.listen()
  const upload = async (content: string) => {
    const body = new FormData()
    body.append('file', new File([content], 'a.txt'))
    const response = await fetch(`${url}/files`, { method: 'POST', body })
    const { file_id = '', code = '' }: { file_id?: string; code?: string } = JSON.parse(await response.text())
    return { status: response.status, file_id, code }
  }

  const { status, file_id } = await upload('12345678')
  expect(status).toBe(201)
  expect(await upload('abcdefgh')).toMatchObject({ status: 429, code: 'too_many_uploads' })
  const sent = await fetch(`${url}/sessions/thread/messages`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ message: 'Look.', files: [{ file_id }] }),
  })
  expect(sent.status).toBe(202)
  expect(await upload('abcdefgh')).toMatchObject({ status: 201 })
})
