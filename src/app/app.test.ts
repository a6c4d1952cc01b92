import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { get } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { json } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { resolveSettings } from '../config/settings/resolve-settings.ts'
import type { SettingFlags } from '../config/settings/settings.ts'
import type { ModelAgent } from '../domain/agent/agent.ts'
import { sameForEveryRisk } from '../domain/supervision/quorum.ts'
import { testAgent } from '../engine/testing/open-engine.ts'
import { createRecordFile } from '../http/auth/config-folder/record-file.ts'
import { digestOf } from '../http/auth/tokens/token.ts'
import { tokenFormat } from '../http/auth/tokens/token-rows.ts'
import { createLogger } from '../http/logging/logger.ts'
import { freePort } from '../http/testing/free-port.ts'
import { collectLines, type LogLine } from '../http/testing/server-fixture.ts'
import { keychainWith } from '../operators/credentials/testing/keychain-with.ts'
import { makeFolder } from '../store/make-folder.ts'
import { lockDataDir } from '../store/sqlite/disk/data-dir-lock.ts'
import { type App, createApp } from './app.ts'
import type { AppOptions } from './app-options.ts'
import { testAppOptions } from './testing/test-app.ts'

const agent: ModelAgent = { ...testAgent, model: { ...testAgent.model, provider: 'demo', name: 'demo' } }
const certificate = join(import.meta.dirname, '..', 'http', 'testing', 'localhost-cert.pem')
const key = join(import.meta.dirname, '..', 'http', 'testing', 'localhost-key.pem')

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-app-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function open(
  dataDir: string,
  flags: SettingFlags = {},
  agents = [agent],
  more: Partial<AppOptions> = {},
): Promise<App> {
  const { settings } = resolveSettings({ flags: { port: '0', ...flags }, env: {}, file: null, onTerminal: false })
  const app = await createApp({
    ...testAppOptions(),
    agents,
    settings,
    dataDir,
    ...more,
  })
  onTestFinished(() => app.close({ drainMs: 0 }))
  return app
}

describe('a start that fails', () => {
  test('leaves nothing behind when a model, a certificate or a quorum cannot be used', async () => {
    const dataDir = join(emptyFolder(), 'data')
    const keyless: ModelAgent = { ...agent, model: { ...agent.model, provider: 'openai', name: 'gpt-5-mini' } }

    await expect(open(dataDir, {}, [keyless])).rejects.toMatchObject({ code: 'config_invalid' })
    await expect(open(dataDir, {}, [{ ...agent, tried: [keyless.model] }])).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(
        /^openai\/gpt-5-mini under try_models in the settings of the server: .* needs a key/,
      ),
    })
    const several: ModelAgent = { ...agent, approval: { ...agent.approval, quorum: sameForEveryRisk(2) } }
    await expect(open(dataDir, {}, [several])).rejects.toMatchObject({
      code: 'config_invalid',
      message: `The agent ${agent.name} asks for 2 yeses (approval.quorum), and there is only one operator. Add some to \`operators\` in quarterdeck.yaml, or lower it.`,
    })
    await expect(open(dataDir, { 'tls.cert': certificate, 'tls.key': '/nowhere/key.pem' })).rejects.toMatchObject({
      code: 'config_invalid',
      message: 'tls.key: /nowhere/key.pem cannot be read (ENOENT). Give the path of a PEM file.',
    })

    expect(existsSync(dataDir)).toBe(false)
  })

  test.each([
    ['slack: { channel_id: C1 }', 'slack_app_token'],
    ['webhooks: [{ name: pager, url: "https://example.com/hook" }]', 'webhook_secret'],
  ])('names the credential that %s needs, and touches nothing', async (text, credential) => {
    const dataDir = join(emptyFolder(), 'data')
    const file = { path: 'quarterdeck.yaml', text }
    const { settings } = resolveSettings({ flags: { port: '0' }, env: {}, file, onTerminal: false })
    const credentials = { keychain: keychainWith({}), env: {} }

    await expect(open(dataDir, {}, [agent], { settings, credentials })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(`The credential ${credential} is missing.`),
    })
    expect(existsSync(dataDir)).toBe(false)
  })

  test('gives the data directory back', async () => {
    const dataDir = emptyFolder()
    const configDir = emptyFolder()
    writeFileSync(createRecordFile(tokenFormat, { configDir, dataDir, makeFolder }).path, 'no JSON', { mode: 0o600 })
    const app = await open(dataDir, {}, [agent], { configDir })

    await expect(app.listen()).rejects.toMatchObject({ code: 'config_invalid' })

    lockDataDir(dataDir).release()
    expect(readdirSync(dataDir).sort()).toEqual(['server.lock'])
  })

  test('gives the data directory back, with its database closed, when the tokens cannot be kept', async () => {
    const dataDir = emptyFolder()
    const blocked = join(emptyFolder(), 'no-folder')
    writeFileSync(blocked, '')
    const app = await open(dataDir, {}, [agent], { configDir: join(blocked, 'below'), makeTokens: true })

    await expect(app.listen()).rejects.toMatchObject({ code: 'config_invalid' })

    lockDataDir(dataDir).release()
    // SQLite removes the log of a database that is closed in good order.
    expect(readdirSync(dataDir).sort()).toEqual(['quarterdeck.db', 'server.lock'])
  })
})

describe('the log of an app', () => {
  test('has the reason why a model failed, with the ids of the request, and neither keys nor what was said', async () => {
    const apiKey = 'sk-a-key-that-nobody-reads'
    const said = 'Please remember that my password is hunter2.'
    const message = `Unsupported value for ${said} (key ${apiKey}, Bearer ${'x'.repeat(20)})`
    const provider = createHttpServer((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(400, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ error: { message, type: 'invalid_request_error' } }))
      })
    })
    onTestFinished(() => void provider.close())
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
    const address = provider.address()
    const baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v1`
    const model = { ...agent.model, provider: 'openai', name: 'gpt-5-mini', baseUrl, apiKey }
    const written: string[] = []
    const log = createLogger({
      level: 'info',
      format: 'json',
      content: false,
      secrets: [apiKey],
      now: Date.now,
      write: (line) => void written.push(line),
      render: null,
      tap() {},
      colors: false,
    })
    const app = await open(emptyFolder(), {}, [{ ...agent, model }], { log })
    const { url } = await app.listen()
    const headers = { 'content-type': 'application/json', 'x-correlation-id': 'c-1' }

    const answer = await fetch(`${url}/sessions/talk/messages`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ message: said }),
    })
    const { run_id } = Object(await answer.json())
    await fetch(`${url}/runs/${run_id}/events`).then((response) => response.text())
    await app.close()

    const lines = written.map((line) => JSON.parse(line)).filter((line) => line.correlation_id === 'c-1')
    const ids = { correlation_id: 'c-1', session_id: expect.any(String), run_id }
    const reason = expect.stringMatching(/refused the request \(400\)\. It says: Unsupported value for \[…\] \(key/)
    const why = { code: 'model_bad_request', reason, outcome: 'failed' }
    const lineOf = (message: string) => lines.filter((line) => line.message === message)
    expect(lineOf('request')).toMatchObject([{ ...ids, method: 'POST', route: '/sessions/:id/messages', status: 202 }])
    expect(lineOf('model call')).toMatchObject([
      { ...ids, level: 'warn', provider: 'openai', model: 'gpt-5-mini', ...why },
    ])
    expect(lineOf('run')).toMatchObject([{ ...ids, level: 'warn', agent: 'tester', ...why }])
    expect(lines.length).toBe(3)
    expect(written.join('')).not.toMatch(/hunter2|sk-a-key|xxxxx/)
  })
})

test('the cost of a run in the log is the one in /usage, by the prices of the agent file', async () => {
  const priced: ModelAgent = { ...agent, model: { ...agent.model, prices: { input: 100, output: 200 } } }
  const lines: LogLine[] = []
  const app = await open(emptyFolder(), {}, [priced], { log: collectLines(lines) })
  const { url, tokens } = await app.listen()
  const headers = { Authorization: `Bearer ${tokens.operatorToken}`, 'Content-Type': 'application/json' }
  await fetch(`${url}/chat`, { method: 'POST', headers, body: JSON.stringify({ message: 'count 3' }) })
  const { total } = Object(await (await fetch(`${url}/usage`, { headers })).json())

  const cost = lines.find(({ message }) => message === 'run')?.cost
  expect(cost).toBeGreaterThan(0)
  expect(total.cost).toBeCloseTo(Number(cost), 10)
})

describe('the tokens of an app', () => {
  const beyond = { host: '0.0.0.0' }

  test('in another program are one of the operator’s that lives in memory alone', async () => {
    const dataDir = emptyFolder()
    const { url, tokens, madeToken } = await (await open(dataDir)).listen()
    const { tokens: others } = await (await open(emptyFolder())).open()
    const grants = async (token: string | null) =>
      (await fetch(`${url}/grants`, { headers: { Authorization: `Bearer ${token}` } })).status

    expect([await grants(tokens.operatorToken), await grants(others.operatorToken)]).toEqual([200, 401])
    const kept = readdirSync(dataDir).filter((name) => /token/.test(name))
    expect([tokens.path, madeToken, kept]).toEqual([null, null, []])
  })

  test('are all that the config folder has after test cases were run over HTTP', async () => {
    const configDir = join(emptyFolder(), 'config')
    const nothing = { files: [], tools: [], onlyTheseTools: false, approvals: [], checks: [] }
    const tested = { ...agent, testCases: [{ name: 'greets', turns: ['Hi'], timeoutMs: 60_000, ...nothing }] }
    const more = { configDir, makeTokens: true, localSocket: { env: {} } }
    const { url, madeToken } = await (await open(emptyFolder(), {}, [tested], more)).listen()
    const before = readdirSync(configDir, { recursive: true }).sort()
    const headers = { Authorization: `Bearer ${madeToken}`, 'Content-Type': 'application/json' }
    const response = await fetch(`${url}/agents/tester/tests/run`, { method: 'POST', headers, body: '{}' })

    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('greets')])
    expect(readdirSync(configDir, { recursive: true }).sort()).toEqual(before)
  })

  test('without one of the operator’s the log says once what to do', async () => {
    const lines: LogLine[] = []
    const dataDir = emptyFolder()
    const log = collectLines(lines)
    await (await open(dataDir, {}, [agent], { configDir: join(emptyFolder(), 'config'), log })).open()

    const warnings = lines.filter(({ level }) => level === 'warn')
    expect(warnings).toEqual([{ level: 'warn', message: expect.stringContaining(dataDir) }])
    expect(warnings[0]?.message).toContain(
      'set QUARTERDECK_OPERATOR_TOKEN or run `quarterdeck tokens create --role operator --data-dir ',
    )
  })

  test('beyond this machine there must be one, unless that was said not to matter', async () => {
    const start = async (flags: SettingFlags, more: Partial<AppOptions> = {}, dataDir = emptyFolder()) => {
      const app = await open(dataDir, flags, [agent], { configDir: join(emptyFolder(), 'config'), ...more })
      return await app.open()
    }

    await expect(start(beyond)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('run `quarterdeck tokens create --role operator --data-dir '),
    })
    expect((await start({ ...beyond, insecure: true })).tokens.current()).toEqual([])
    expect((await start(beyond, { makeTokens: true })).madeToken).toMatch(/^qd_[\w-]{43}$/)
    const [dataDir, configDir] = [emptyFolder(), emptyFolder()]
    const stored = { name: '', user: 'ada', role: 'user', sha256: digestOf('a-token-that-is-stored') } as const
    createRecordFile(tokenFormat, { configDir, dataDir, makeFolder }).write(
      [
        {
          key: 'one',
          value: JSON.stringify({ ...stored, id: 'one', created_at: new Date(0).toISOString() }),
          expiresAt: null,
        },
      ],
      'one',
    )
    expect((await start(beyond, { configDir }, dataDir)).tokens.current().length).toBe(1)
  })
})

describe('a start', () => {
  test('leaves the store alone until the port is taken', async () => {
    const taken = createServer()
    onTestFinished(() => void taken.close())
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const address = taken.address()
    const port = typeof address === 'object' ? String(address?.port) : ''
    const dataDir = emptyFolder()

    await expect((await open(dataDir, { port })).listen()).rejects.toMatchObject({
      code: 'config_invalid',
      details: { reason: 'EADDRINUSE' },
    })

    expect(readdirSync(dataDir)).toEqual(['server.lock'])
    lockDataDir(dataDir).release()
  })

  test('gives port and data directory back when the store cannot be opened', async () => {
    const dataDir = emptyFolder()
    const db = new DatabaseSync(join(dataDir, 'quarterdeck.db'))
    db.exec('PRAGMA user_version = 15')
    db.close()
    const port = String(await freePort())
    const app = await open(dataDir, { port })

    await expect(app.listen()).rejects.toMatchObject({ code: 'data_dir_older' })

    rmSync(join(dataDir, 'quarterdeck.db'))
    expect(await (await open(dataDir, { port })).listen()).toMatchObject({ port: Number(port) })
  })

  test('happens once', async () => {
    const app = await open(emptyFolder())
    await app.open()

    await expect(app.listen()).rejects.toThrow('an app is started once')
  })
})

describe('the doors of an app', () => {
  test('are the open ones behind which there is something', async () => {
    expect((await (await open(emptyFolder(), { protocols: ['mcp', 'ag-ui'] })).open()).doors).toEqual(['ag-ui', 'mcp'])
    expect((await (await open(emptyFolder(), { protocols: ['rest'] })).open()).doors).toEqual(['rest'])
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
