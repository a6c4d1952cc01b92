import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../../../domain/clock.ts'
import { main } from '../../main.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'
import { descriptor } from './testing/socket-server.ts'

const TOKEN = 'operator-token-of-this-test'
const env = { QUARTERDECK_OPERATOR_TOKEN: TOKEN }

/** A real server, and an agent that is connected to it. */
async function openServer(settings: (root: string) => string = () => '') {
  const root = await tempFolder()
  const [cwd, workspace] = [join(root, 'server'), join(root, 'shop')]
  for (const folder of [cwd, workspace]) mkdirSync(folder)
  writeFileSync(join(workspace, 'a.txt'), 'one\ntwo\n')
  writeFileSync(join(cwd, 'quarterdeck.yaml'), `workspaces:\n  - path: ${workspace}\n    id: shop\n${settings(root)}`)
  const serving = createTestIo({ cwd, clock: createSystemClock(), env })
  const stopped = main(['serve', '--port', '0', '--log-level', 'silent'], serving)
  const stop = async () => {
    serving.signal('SIGTERM')
    return await stopped
  }
  onTestFinished(async () => void (await stop()))
  await serving.until('Ctrl-C')
  const url = /(http:\/\/127\.0\.0\.1:\d+)/.exec(serving.printed())?.[1] ?? ''
  const post = (path: string, token: string, body: object, headers: Record<string, string> = {}) =>
    fetch(url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify(body),
    })
  const minted = await post('/tokens', TOKEN, { role: 'agent', user: 'local_user', name: 'a', workspace })
  const made = (await minted.json()) as { token: string }
  const clientInfo = { name: 'claude-code', version: '2' }
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const opened = await post('/mcp', made.token, { jsonrpc: '2.0', id: 0, method: 'initialize', params: hello })
  await opened.text()
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  await post('/mcp', made.token, { jsonrpc: '2.0', method: 'notifications/initialized' }, session)
  return {
    cwd,
    workspace,
    stop,
    /** The text of the agent's whole answer stream. */
    async call(name: string, args: object): Promise<string> {
      const params = { name, arguments: args }
      return await (
        await post('/mcp', made.token, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, session)
      ).text()
    },
    async ctl(...args: string[]) {
      const io = createTestIo({ cwd, clock: createSystemClock(), env })
      return { code: await main(['ctl', ...args], io), out: io.printed(), err: io.complained() }
    },
  }
}

test('ctl decides at a real server through its socket, with the passphrase that it sets first', async () => {
  const server = await openServer()
  const change = { title: 'Three', diff: 'one\nthree\n', file_path: 'a.txt', risk_level: 'high' }
  const asked = server.call('ask_approval', change)
  let waiting: { id: string }[] = []
  while (waiting.length === 0) waiting = JSON.parse((await server.ctl('list', '--json')).out).waiting
  const id = waiting[0]?.id ?? ''

  const shown = await server.ctl('show', id.slice(0, 13), '--json')
  const { digest, kind, risk } = JSON.parse(shown.out)
  expect([kind, risk]).toEqual(['diff', 'high'])
  expect((await server.ctl('show', id)).out).toContain('\n-two\n+three')
  expect(await server.ctl('approve', id)).toMatchObject({ code: 1, out: '' })
  // The token alone decides nothing here.
  expect(await server.ctl('approve', id, '--digest', digest)).toMatchObject({ code: 1, out: '' })
  const fd = descriptor(server.cwd, 'correct horse battery')
  expect(await server.ctl('approve', id, '--digest', digest, '--passphrase-fd', fd)).toMatchObject({ code: 0 })
  expect(await asked).toContain('approved')
  expect(await server.ctl('show', id, '--json').then(({ out }) => JSON.parse(out))).toMatchObject({
    status: 'approved',
    decided_by: 'operator',
    decided_channel: 'ctl',
  })

  expect((await server.ctl('steer', 'Use the logger.')).code).toBe(0)
  expect(await server.call('heartbeat', {})).toContain('Use the logger.')
  expect((await server.ctl('pause')).code).toBe(0)
  const again = descriptor(server.cwd, 'correct horse battery')
  expect((await server.ctl('resume', '--passphrase-fd', again)).code).toBe(0)
  expect((await server.ctl('terminate', '--reason', 'done')).code).toBe(0)
  expect((await server.ctl('list')).out).toContain('No agent has an open session.')

  // The socket is in a folder of its own, and gone with the server.
  expect(statSync(join(server.cwd, '.config', 'run')).mode & 0o777).toBe(0o700)
  expect(await server.stop()).toBe(0)
  const { code, err } = await server.ctl('list')
  expect([code, err.split('\n')[0]]).toEqual([
    69,
    expect.stringContaining(`No server runs for ${server.cwd}/.quarterdeck`),
  ])
})

test('ctl start takes the id of a workspace, and says what is wrong before it asks for the passphrase', async () => {
  const server = await openServer(() => {
    const agent = resolve(import.meta.dirname, '../../../../test/acp/scripted-agent.ts')
    return `host_cli: ${process.execPath}\nhost_cli_args: [${agent}]\nmax_concurrent_sessions: 2\n`
  })
  const fd = descriptor(server.cwd, 'correct horse battery')
  expect(await server.ctl('passphrase', '--passphrase-fd', fd)).toMatchObject({ code: 0 })
  // Without a terminal, a passphrase that is asked for is a failure of its own.
  const start = async (...args: string[]) => (await server.ctl('start', 'hang', ...args)).err

  expect(await start('--workspace', 'shop')).toContain('has to be typed at a terminal')
  expect(await start('--workspace', 'nowhere')).toContain('"nowhere" is not the id of a workspace')
  expect(await start('--workspace', '/usr')).toContain('is not a workspace of this server')
  expect(await start('--workspace', 'shop', '--host', 'emacs')).toContain('This server knows custom, claude')
  // The window that is connected already is the other one.
  const started = await server.ctl(
    ...['start', 'hang', '--workspace', 'shop', '--json', '--passphrase-fd'],
    descriptor(server.cwd, 'correct horse battery'),
  )
  expect(JSON.parse(started.out)).toMatchObject({ workspace_root: server.workspace, host: 'custom', prompt: 'hang' })
  expect(await server.call('heartbeat', {})).toContain('acknowledged')
  expect(await start('--workspace', 'shop')).toContain('max_concurrent_sessions allows 2')
})

test('ctl start says that the program of the agent is missing before it asks for the passphrase', async () => {
  const server = await openServer((root) => `host_cli: ${join(root, 'agent')}\n`)

  expect((await server.ctl('start', 'Fix it', '--workspace', 'shop')).err).toContain('there is no program')
})
