import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createAgentConnections } from '../../agent-connection.ts'
import { main } from '../../main.ts'
import { type FakeServer, sendJson, startFakeServer } from '../../testing/fake-server.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo, type TestIoOptions } from '../../testing/test-io.ts'

/** A server that makes tokens, and an empty home folder. */
async function setUp() {
  let made = 0
  const server = await startFakeServer((request, response) => {
    if (request.headers.authorization !== 'Bearer the-operator')
      return sendJson(response, 401, { detail: 'Wrong token.' })
    if (request.method === 'DELETE') return void response.writeHead(204).end()
    made += 1
    const { role, user = 'the_caller', name, workspace } = request.body as Record<string, string>
    const shown = { id: `id-${made}`, role, user, name, workspace, created_at: '2026-11-15T00:00:00.000Z' }
    sendJson(response, 201, { ...shown, token: `agent-token-${made}` })
  })
  onTestFinished(() => server.close())
  const folder = await tempFolder()
  const [home, workspace, configDir] = [
    join(folder, 'home'),
    join(folder, 'shop'),
    join(folder, 'home', '.config', 'quarterdeck'),
  ]
  for (const path of [home, workspace]) mkdirSync(path, { recursive: true })
  const run = async (args: string[], options: TestIoOptions = {}) => {
    const env = { HOME: home, QUARTERDECK_CONFIG_DIR: configDir, QUARTERDECK_OPERATOR_TOKEN: 'the-operator' }
    const io = createTestIo({ cwd: workspace, ...options, env: { ...env, ...options.env } })
    const code = await main(args, io)
    return { code, out: io.printed(), err: io.complained() }
  }
  const connect = (...args: string[]) => run(['connect', ...args, '--url', server.url])
  return {
    server,
    folder,
    home,
    workspace,
    configDir,
    run,
    connect,
    connections: createAgentConnections(configDir, 'claude'),
  }
}

const asked = ({ seen }: FakeServer) => seen.map(({ method, path, body }) => [method, path, body])

describe('quarterdeck connect', () => {
  test('shows the changes, makes a token and writes the config of the user', async () => {
    const { server, home, workspace, connect, connections } = await setUp()

    const { code, out, err } = await connect('claude', '--yes')

    expect([code, err]).toEqual([
      0,
      expect.stringContaining(`Connects Claude Code in ${workspace} with ${server.url}.`),
    ])
    expect(out).toContain(`+        "quarterdeck": {`)
    expect(out + err).not.toContain('agent-token-1')
    expect(asked(server)).toEqual([['POST', '/tokens', { role: 'agent', name: 'Claude Code', workspace }]])
    expect(connections.find(workspace)).toEqual({
      workspace,
      url: server.url,
      tokenId: 'id-1',
      token: 'agent-token-1',
    })
    const written = [join(home, '.claude.json'), join(home, '.claude', 'settings.json')]
    expect(written.map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600])
    expect(written.map((path) => readFileSync(path, 'utf8')).join('')).not.toContain('agent-token-1')
    expect(readdirSync(workspace)).toEqual([])
  })

  test('again makes a new token, revokes the old one and leaves the config alone', async () => {
    const { server, home, connect, connections, workspace } = await setUp()
    await connect('claude', '--yes')
    const first = readFileSync(join(home, '.claude', 'settings.json'), 'utf8')

    const { code, out, err } = await connect('claude')

    expect([code, out, err]).toEqual([0, '', expect.stringContaining('Nothing changes in the config of the host.')])
    expect(asked(server).map(([method, path]) => `${method} ${path}`)).toEqual([
      'POST /tokens',
      'POST /tokens',
      'DELETE /tokens/id-1',
    ])
    expect(connections.read(workspace)?.token).toBe('agent-token-2')
    expect(readFileSync(join(home, '.claude', 'settings.json'), 'utf8')).toBe(first)
  })

  test.each(['connection', 'config'])('again keeps the old connection if the %s cannot be written', async (what) => {
    const { server, home, configDir, connect, connections, workspace } = await setUp()
    await connect('claude', '--yes', '--http')
    const old = connections.read(workspace)
    const [name = ''] = readdirSync(configDir).filter((one) => one.startsWith('connection-'))
    // A folder where the new text goes: no mode keeps root from writing.
    if (what === 'connection') mkdirSync(join(configDir, `${name}.new`, 'x'), { recursive: true })
    else mkdirSync(join(home, '.claude.json.quarterdeck-new', 'x'), { recursive: true })

    expect((await connect('claude', '--yes', '--http')).code).not.toBe(0)

    expect(connections.read(workspace)).toEqual(old)
    expect(asked(server).map(([method, path]) => `${method} ${path}`)).toEqual([
      'POST /tokens',
      'POST /tokens',
      'DELETE /tokens/id-2',
    ])
    expect(readFileSync(join(home, '.claude.json'), 'utf8')).toContain('agent-token-1')
  })

  test('keeps the mode, a link and a copy of the old file', async () => {
    const { home, folder, connect } = await setUp()
    mkdirSync(join(home, '.claude'))
    const [real, link] = [join(folder, 'dotfiles.json'), join(home, '.claude', 'settings.json')]
    writeFileSync(real, '{"theme": "dark"}\n')
    // More than the umask of most people leaves to a new file.
    chmodSync(real, 0o664)
    symlinkSync(real, link)

    expect((await connect('claude', '--yes')).code).toBe(0)

    expect([lstatSync(link).isSymbolicLink(), statSync(real).mode & 0o777]).toEqual([true, 0o664])
    expect(readFileSync(`${link}.before-quarterdeck`, 'utf8')).toBe('{"theme": "dark"}\n')
    expect(JSON.parse(readFileSync(real, 'utf8'))).toMatchObject({ theme: 'dark', hooks: expect.any(Object) })
    expect(readdirSync(folder).sort()).toEqual(['dotfiles.json', 'home', 'shop'])
  })

  test('--remove takes everything back and revokes the token', async () => {
    const { server, home, workspace, configDir, connect, run } = await setUp()
    writeFileSync(join(home, '.claude.json'), '{\n  "a": 1\n}\n')
    await connect('claude', '--yes')

    const { code, err } = await run(['connect', 'claude', '--remove', '--yes'])

    expect([code, err]).toEqual([0, expect.stringContaining('Not connected any more.')])
    expect(readFileSync(join(home, '.claude.json'), 'utf8')).toBe('{\n  "a": 1\n}\n')
    expect(existsSync(join(home, '.claude', 'settings.json'))).toBe(false)
    expect(readdirSync(configDir)).toEqual([])
    expect(asked(server).at(-1)).toEqual(['DELETE', '/tokens/id-1', null])
    expect(readdirSync(workspace)).toEqual([])
  })

  test('several folders have one hook, and --remove of one keeps the others', async () => {
    const { home, folder, workspace, configDir, connect, run } = await setUp()
    const two = join(folder, 'two')
    mkdirSync(two)
    const settings = () => readFileSync(join(home, '.claude', 'settings.json'), 'utf8')
    const folders = () => JSON.parse(readFileSync(join(configDir, 'folders-claude.json'), 'utf8'))
    await connect('claude', '--yes')
    const one = settings()

    expect((await connect('claude', '--yes', '--workspace', two)).code).toBe(0)
    expect([settings(), folders()]).toEqual([one, [workspace, two]])
    expect(JSON.parse(one).hooks.PreToolUse).toHaveLength(1)

    expect((await run(['connect', 'claude', '--remove', '--yes'])).code).toBe(0)
    expect([settings(), folders()]).toEqual([one, [two]])
    expect((await run(['connect', 'claude', '--remove', '--yes', '--workspace', two])).code).toBe(0)
    expect([existsSync(join(home, '.claude', 'settings.json')), readdirSync(configDir)]).toEqual([false, []])
  })

  test('--remove without a server says which token was not revoked', async () => {
    const { server, connect, run, connections, workspace } = await setUp()
    await connect('claude', '--yes')
    await server.close()

    const { code, err } = await run(['connect', 'claude', '--remove', '--yes'])

    expect([code, err]).toEqual([0, expect.stringContaining('revoke it: quarterdeck tokens revoke id-1')])
    expect(connections.find(workspace)).toBeNull()
  })

  test('asks at the terminal, and a no changes nothing', async () => {
    const { server, home, run } = await setUp()
    const answer = async (line: string) => {
      const stdin = new PassThrough()
      const pending = run(['connect', 'codex', '--url', server.url], { stdin, terminal: true, env: { NO_COLOR: '1' } })
      stdin.write(`${line}\n`)
      return await pending
    }

    expect(await answer('')).toMatchObject({ code: 1, err: expect.stringContaining('Nothing was changed.') })
    expect([server.seen, existsSync(join(home, '.codex'))]).toEqual([[], false])
    expect(await answer('y')).toMatchObject({ code: 0, err: expect.stringContaining('type /hooks') })
    expect(readFileSync(join(home, '.codex', 'config.toml'), 'utf8')).toContain('[mcp_servers.quarterdeck]')
  })

  test('--http puts the address and the token into the config, and shows neither token', async () => {
    const { server, home, workspace, connect } = await setUp()

    const { code, out, err } = await connect('claude', '--yes', '--http')

    expect([code, out.includes('<the token of the agent>'), `${out}${err}`.includes('agent-token')]).toEqual([
      0,
      true,
      false,
    ])
    expect(
      JSON.parse(readFileSync(join(home, '.claude.json'), 'utf8')).projects[workspace].mcpServers.quarterdeck,
    ).toEqual({
      type: 'http',
      url: `${server.url}/mcp?workspace=${encodeURIComponent(workspace)}&limit_seconds=3660`,
      headers: { Authorization: 'Bearer agent-token-1' },
      timeout: 3_660_000,
    })
  })

  test.each([
    ['claude', '.claude/settings.json', '{"disableAllHooks": true}', 'disableAllHooks'],
    ['claude', '.claude/settings.local.json', '{ // not now\n"disableAllHooks": true }', 'disableAllHooks'],
    ['gemini', '.gemini/settings.json', '{"hooksConfig": {"enabled": false}}', 'hooksConfig.enabled'],
    ['claude', '.claude/settings.json', '{"disableAllHooks": false}', null],
    ['claude', '.claude/settings.json', '{"disableAllHooks": tr', null],
    ['codex', '.claude/settings.json', '{"disableAllHooks": true}', null],
  ])('%s warns if %s of the project is %s: %s', async (host, name, text, key) => {
    const { connect, workspace } = await setUp()
    mkdirSync(join(workspace, name, '..'))
    writeFileSync(join(workspace, name), text)

    const { code, err } = await connect(host, '--yes')

    const warning = `Careful: ${join(workspace, name)} sets ${key}, so `
    expect([code, err.includes(warning), err.includes('Careful')]).toEqual([0, key !== null, key !== null])
  })

  test('print prints what to paste, and says what it does not do', async () => {
    const { workspace, home, connect, configDir } = await setUp()

    const { code, out, err } = await connect('print')

    expect([code, err]).toEqual([0, expect.stringContaining('This host does not ask before it acts')])
    expect(JSON.parse(out).mcpServers.quarterdeck).toMatchObject({
      type: 'stdio',
      command: process.execPath,
      args: [
        expect.stringMatching(/bin\/quarterdeck\.js$/),
        ...['mcp', '--connection', 'other', '--workspace', workspace, '--limit', '3660'],
      ],
    })
    expect(createAgentConnections(configDir, 'other').read(workspace)?.token).toBe('agent-token-1')
    expect(readdirSync(home)).toEqual(['.config'])
  })
})

describe('connect refuses', () => {
  test.each([
    ['without a terminal and without --yes', ['claude'], 2, 'there is no terminal to ask at'],
    ['an unknown host', ['emacs'], 2, 'Allowed choices are claude, codex, copilot, gemini, print'],
    ['a folder that is not there', ['claude', '--workspace', 'nowhere'], 2, 'there is no such folder'],
  ])('%s', async (_name, args, code, text) => {
    const { server, home, connect } = await setUp()

    expect(await connect(...args)).toMatchObject({ code, err: expect.stringContaining(text) })
    expect([server.seen, readdirSync(home)]).toEqual([[], []])
  })

  test('a config file that is broken, and changes nothing', async () => {
    const { server, home, connect } = await setUp()
    mkdirSync(join(home, '.claude'))
    writeFileSync(join(home, '.claude', 'settings.json'), '{ "hooks": [')

    expect(await connect('claude', '--yes')).toMatchObject({
      code: 73,
      err: expect.stringContaining('Nothing was changed'),
    })
    expect([server.seen, existsSync(join(home, '.claude.json'))]).toEqual([[], false])
  })

  test('a token that the server does not take, and changes nothing', async () => {
    const { server, home, run } = await setUp()

    const result = await run(['connect', 'claude', '--yes', '--url', server.url], {
      env: { QUARTERDECK_OPERATOR_TOKEN: 'wrong' },
    })

    expect(result).toMatchObject({ code: 1, err: expect.stringContaining('Wrong token.') })
    expect(readdirSync(home)).toEqual([])
  })

  test('hooks for one folder beside hooks for all folders', async () => {
    const { connect, workspace } = await setUp()
    await connect('claude', '--yes', '--all-folders')

    expect(await connect('claude', '--yes')).toMatchObject({
      code: 2,
      err: expect.stringContaining('quarterdeck connect claude --remove --all-folders'),
    })
    expect((await connect('claude', '--yes', '--remove', '--all-folders')).code).toBe(0)
    expect((await connect('claude', '--yes')).code).toBe(0)
    expect(await connect('claude', '--yes', '--all-folders')).toMatchObject({
      code: 2,
      err: expect.stringContaining(`quarterdeck connect claude --remove --workspace ${workspace}`),
    })
  })

  test('when no server runs, and says how to start one', async () => {
    const { run } = await setUp()

    expect(await run(['connect', 'claude', '--yes'])).toMatchObject({
      code: 69,
      err: expect.stringContaining('quarterdeck serve'),
    })
  })

  test('to send the operator’s token where others can read it', async () => {
    const { run } = await setUp()

    expect(await run(['connect', 'claude', '--yes', '--url', 'http://10.0.0.1:8000'])).toMatchObject({ code: 2 })
  })
})
