import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createClient } from '../client/client.ts'
import { ConfigError } from '../config/config-error.ts'
import { silentLogger } from '../domain/logger.ts'
import { collectLines, type LogLine } from '../http/testing/server-fixture.ts'
import { codeTool } from '../tools/function/code-tool.ts'
import { createQuarterdeck, type Quarterdeck, type QuarterdeckOptions } from './create-quarterdeck.ts'

const operator = 'the-token-of-the-operator'

/** What a model that follows a script does: one call of a tool, then an answer. */
const script = {
  answers: [
    { parts: [{ tool_call: { name: 'book_room', arguments: { room: 'Elm', day: '2026-12-01' } } }] },
    { parts: [{ text: 'Done.' }] },
  ],
}

function folderWithAgent(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-embedded-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'script.json'), JSON.stringify(script))
  writeFileSync(
    join(folder, 'agent.yaml'),
    'name: clerk\nmodel: { provider: scripted, script: ./script.json }\ninstructions: Help.\n',
  )
  return folder
}

function make(options: QuarterdeckOptions = {}, folder = folderWithAgent()): Quarterdeck {
  const { settings, ...more } = options
  const made = createQuarterdeck({
    agent: join(folder, 'agent.yaml'),
    settings: { port: 0, 'auth.operator_token': operator, ...settings },
    env: { QUARTERDECK_CONFIG_DIR: join(folder, 'config') },
    log: silentLogger,
    ...more,
  })
  onTestFinished(() => made.close({ drainMs: 0 }))
  return made
}

/** A server of somebody else, on a free port. */
async function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const post = (body: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body,
})

test('one line makes a server with a port of its own', async () => {
  const quarterdeck = make({ basePath: '/agent/' })
  const { url } = await quarterdeck.listen()
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/agent$/)
  const api = await (await fetch(`${url}/openapi.json`)).text()
  expect(JSON.parse(api).servers).toMatchObject([{ url: '/agent' }])
  expect((await fetch(`${new URL(url).origin}/health`)).status).toBe(404)
  await expect(quarterdeck.listen()).rejects.toThrow('call either ready() or listen(), once')
})

describe('mounted', () => {
  test('the first request starts it, and what lies outside of the base path is the program’s', async () => {
    const { handler } = make({ basePath: '/agent' })
    const url = await listen((request, response) => handler(request, response, () => response.end('mine')))
    expect((await fetch(`${url}/agent/ready`)).status).toBe(200)
    expect(await (await fetch(`${url}/other`)).text()).toBe('mine')
    expect(await (await fetch(`${url}/agents`)).text()).toBe('mine')
  })

  test('without a next, what lies outside is refused by name', async () => {
    const { handler } = make({ basePath: '/agent' })
    const url = await listen((request, response) => handler(request, response))
    const response = await fetch(`${url}/health`)
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { detail: 'There is no route /health: all routes begin with /agent.', instance: '/health' },
    ])
  })

  test.each(['/agent/sessions/s/messages', '/agent/', '/agent/v1/responses', '/agent/files'])(
    'a body that was read before is refused at %s in one line that says what to do',
    async (path) => {
      const { handler } = make({ basePath: '/agent' })
      const url = await listen(async (request, response) => {
        await json(request)
        handler(request, response)
      })
      const response = await fetch(url + path, post('{"message":"hi"}'))
      expect([response.status, await response.text()]).toEqual([
        500,
        expect.stringContaining(
          'The body of this request was read before Quarterdeck got it. Mount Quarterdeck before express.json() and everything else that reads bodies.',
        ),
      ])
    },
  )

  test('a start that fails answers 503, leaves its reason in the log, and leaves nothing open', async () => {
    const folder = folderWithAgent()
    writeFileSync(join(folder, 'script.json'), 'no script')
    const lines: LogLine[] = []
    const { handler, ready, close } = make({ log: collectLines(lines) }, folder)
    const url = await listen((request, response) => handler(request, response))
    const response = await fetch(`${url}/ready`)
    expect([response.status, await response.json()]).toMatchObject([503, { code: 'not_ready' }])
    expect((await fetch(`${url}/ready`)).status).toBe(503)
    await expect(ready()).rejects.toThrow('script')
    expect(lines.filter(({ level }) => level === 'error')).toMatchObject([{ message: 'Quarterdeck could not start' }])
    await close()
  })

  test('what lies outside is the program’s, also where a start failed or is not wanted any more', async () => {
    const folder = folderWithAgent()
    writeFileSync(join(folder, 'script.json'), 'no script')
    const broken = make({ basePath: '/agent' }, folder)
    const closed = make({ basePath: '/agent' })
    await closed.close()
    for (const { handler } of [broken, closed]) {
      const url = await listen((request, response) => handler(request, response, () => response.end('mine')))
      expect((await fetch(`${url}/agent/ready`)).status).toBe(503)
      expect(await (await fetch(`${url}/other`)).text()).toBe('mine')
    }
  })

  test('who comes through a proxy, whichever way it says so, needs a token', async () => {
    const { handler } = make({ basePath: '/agent' })
    const url = await listen((request, response) => handler(request, response, () => response.end('mine')))
    const asked = async (headers: Record<string, string>) => (await fetch(`${url}/agent/sessions`, { headers })).status
    expect(await asked({ 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '::1' })).toBe(200)
    for (const name of ['x-forwarded-for', 'x-real-ip']) expect(await asked({ [name]: '203.0.113.9' })).toBe(401)
    for (const name of ['forwarded', 'via']) expect(await asked({ [name]: '1.1 proxy' })).toBe(401)
  })

  test('two in one data directory are refused, and one that was closed gives it back', async () => {
    const folder = folderWithAgent()
    const first = make({}, folder)
    await first.ready()
    await expect(make({}, folder).ready()).rejects.toMatchObject({ code: 'data_dir_locked' })
    await first.close()
    await make({}, folder).ready()
  })

  test('one that was closed answers 503, started or not', async () => {
    const idle = make()
    await idle.close()
    await expect(idle.ready()).rejects.toThrow('Quarterdeck was closed: make a new one.')
    const busy = make()
    await busy.ready()
    await busy.close()
    await expect(busy.ready()).rejects.toThrow('Quarterdeck was closed: make a new one.')
    for (const { handler } of [idle, busy]) {
      const url = await listen((request, response) => handler(request, response))
      const response = await fetch(`${url}/sessions`)
      expect([response.status, await response.json()]).toMatchObject([503, { code: 'shutting_down' }])
    }
  })
})

describe('what is wrong', () => {
  test('in the agent’s file or the settings is thrown at once, with all of it', () => {
    const folder = folderWithAgent()
    writeFileSync(join(folder, 'agent.yaml'), 'name: clerk\nmodel: { provider: demo }\n')
    const wrong = () =>
      createQuarterdeck({
        agent: join(folder, 'agent.yaml'),
        env: {},
        settings: { port: 'many', ...JSON.parse('{"prot":1}') },
      })
    expect(wrong).toThrow(ConfigError)
    expect(wrong).toThrow(/settings: prot.*Did you mean port\?/)
    expect(wrong).toThrow(/settings: port/)
    expect(wrong).toThrow(/instructions/)
  })

  test.each([
    ['agent', 'basePath: "agent" is not a path. Write one like /agent.'],
    ['/../agent', 'basePath: "/../agent" is not a path. Write one like /agent.'],
    ['/a b', 'basePath: "/a b" is not a path. Write one like /agent.'],
  ])('in the base path %s', (basePath, message) => {
    expect(() => make({ basePath })).toThrow(message)
  })

  const run = () => 'done'
  test.each([
    [{ name: 'a b', parameters: {} }, 'its name may have only letters'],
    [{ name: 'x', parameters: z.string() }, 'its parameters do not describe an object'],
    [{ name: 'x', parameters: { type: 'object' }, retries: 1 }, 'retries need effect'],
    [
      { name: 'x', parameters: { type: 'object' }, agents: ['nobody'] },
      'there is no agent nobody. Write one of clerk.',
    ],
  ])('in a tool: %j', (tool, message) => {
    expect(() => make({ tools: [{ description: 'A tool of the test.', run, ...tool }] })).toThrow(message)
  })
})

test('a tool in code waits for approval and runs with typed arguments; middleware sees its events', async () => {
  const booked: unknown[] = []
  const bookRoom = codeTool({
    name: 'book_room',
    description: 'Books a meeting room for a day.',
    parameters: z.object({ room: z.string(), day: z.iso.date().transform((text) => new Date(text)) }),
    run({ room, day }, { user, agent }) {
      booked.push([room, day.getUTCFullYear(), user, agent])
      return { ok: true }
    },
  })
  const seen: string[] = []
  const quarterdeck = make({
    tools: [bookRoom],
    middleware: [
      (event) => {
        seen.push(event.type)
        return event.type === 'TEXT_MESSAGE_CONTENT' ? { ...event, delta: event.delta.toUpperCase() } : event
      },
    ],
  })
  const { url } = await quarterdeck.listen()
  const client = createClient({ url })
  const boss = createClient({ url, token: operator })

  const { run_id } = await client.send('work', 'A room, please.')
  for await (const _event of client.events({ run: run_id }));
  const [asked] = await boss.approvals()
  expect([asked?.tool, asked?.arguments, booked]).toEqual(['book_room', { room: 'Elm', day: '2026-12-01' }, []])
  if (asked === undefined) return
  const { continuation_run_id } = await boss.approve(asked)
  const text: string[] = []
  for await (const { event } of client.events({ run: continuation_run_id ?? '' })) {
    if (event.type === 'TEXT_MESSAGE_CONTENT') text.push(event.delta)
  }
  expect([booked, text.join('')]).toEqual([[['Elm', 2026, 'local_user', 'clerk']], 'DONE.'])
  expect(seen).toContain('TOOL_CALL_RESULT')
})

test('a program that only waits for close ends when the runs have ended', async () => {
  const folder = folderWithAgent()
  writeFileSync(join(folder, 'agent.yaml'), 'name: clerk\nmodel: { provider: demo }\ninstructions: Help.\n')
  const program = `
    import { createQuarterdeck } from ${JSON.stringify(new URL('./create-quarterdeck.ts', import.meta.url).href)}
    const env = { QUARTERDECK_CONFIG_DIR: ${JSON.stringify(join(folder, 'config'))} }
    const quarterdeck = createQuarterdeck({ agent: 'agent.yaml', env, settings: { port: 0, 'log.level': 'error' } })
    const { url } = await quarterdeck.listen()
    const headers = { 'Content-Type': 'application/json' }
    await fetch(url + '/sessions/trip/messages', { method: 'POST', headers, body: '{"message":"count 3"}' })
    await quarterdeck.close()
    console.log('closed')
  `
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd: folder,
  })

  expect(stdout).toBe('closed\n')
})
