import { chown, mkdir, readdir, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lockDataDir } from '../../../app/open-store.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { main } from '../../main.ts'
import { startFakeServer } from '../../testing/fake-server.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo, type TestIoOptions } from '../../testing/test-io.ts'

async function run(args: string[], options: TestIoOptions & { cwd: string }) {
  const io = createTestIo({ clock: createSystemClock(), ...options })
  const exitCode = await main(args, io)
  return { exitCode, out: io.printed(), err: io.complained() }
}

/** A server on the folder's data directory. It ends with the test. */
async function serve(cwd: string, options: Partial<TestIoOptions> & { flags?: string[] } = {}) {
  const { flags = [], ...more } = options
  const io = createTestIo({ cwd, clock: createSystemClock(), ...more })
  const stopped = main(['serve', '--port', '0', '--log-format', 'json', ...flags], io)
  await Promise.race([io.until('Ctrl-C'), stopped])
  onTestFinished(async () => {
    io.signal('SIGTERM')
    await stopped
  })
  const stop = async () => {
    io.signal('SIGTERM')
    return await stopped
  }
  return { io, url: /Health\s+(\S+)\/health/.exec(io.printed())?.[1] ?? '', stopped, stop }
}

const status = async (url: string, token: string) =>
  (await fetch(`${url}/grants`, { headers: { Authorization: `Bearer ${token}` } })).status

const shownIn = (text: string) => text.match(/qd_\S+/g) ?? []

describe('before the first start', () => {
  test.each([[''], ['data_dir: kept\n']])(
    'creates the first token in the folder of an agent (%j)',
    async (settings) => {
      const cwd = await tempFolder()
      await writeFile(join(cwd, 'agent.yaml'), 'name: crow\nmodel: { provider: demo }\ninstructions: Hi.\n')
      if (settings !== '') await writeFile(join(cwd, 'quarterdeck.yaml'), settings)

      const made = await run(['tokens', 'create', '--role', 'operator'], { cwd })
      const { url } = await serve(cwd)

      expect([made.exitCode, await status(url, made.out.trim())]).toEqual([0, 200])
    },
  )
})

describe('a start', () => {
  test('at a terminal creates the operator’s token and shows it once, and no other secret', async () => {
    const cwd = await tempFolder()
    const first = await serve(cwd, { terminal: true, env: { NO_COLOR: '1' } })
    const [token = '', ...others] = shownIn(first.io.printed())
    expect([await status(first.url, token), others]).toEqual([200, []])
    await first.stop()

    const second = await serve(cwd, { terminal: true, env: { NO_COLOR: '1' } })

    expect(await status(second.url, token)).toBe(200)
    expect(second.io.printed() + second.io.complained()).not.toContain('qd_')
    expect(await readdir(join(cwd, '.config', 'data'))).not.toContain('tokens.json')
  })

  test('never accepts a token that a tool put into the data directory', async () => {
    const cwd = await tempFolder()
    const env = { QUARTERDECK_OPERATOR_TOKEN: 'operator-token-that-is-set' }
    const plant = () => {
      const planted = { token: 'planted-by-the-agent', user: 'agent', role: 'operator' }
      const content = { operator_token: 'planted-by-the-agent-too', tokens: [planted] }
      return writeFile(join(cwd, '.config', 'data', 'tokens.json'), JSON.stringify(content), { mode: 0o600 })
    }
    const first = await serve(cwd, { env })
    await plant()
    expect(await status(first.url, 'planted-by-the-agent')).toBe(401)
    await first.stop()

    const second = await serve(cwd, { env })

    expect([
      await status(second.url, 'planted-by-the-agent'),
      await status(second.url, 'planted-by-the-agent-too'),
    ]).toEqual([401, 401])
  })

  test('without a terminal creates no tokens and prints no link', async () => {
    const cwd = await tempFolder()
    const { io } = await serve(cwd, { flags: ['--auth', 'token'] })

    expect(io.printed() + io.complained()).not.toMatch(/qd_|#token=/)
    const lines = io
      .complained()
      .split('\n')
      .filter((line) => line.includes('quarterdeck tokens create --role operator'))
    expect(lines.length).toBe(1)
  })

  test('reachable by other machines without a token ends with 2 and says what to do', async () => {
    const cwd = await tempFolder()

    const { stopped, io } = await serve(cwd, { flags: ['--host', '0.0.0.0'] })

    expect(await stopped).toBe(2)
    expect(io.complained()).toContain(
      'set QUARTERDECK_OPERATOR_TOKEN or run `quarterdeck tokens create --role operator --data-dir ',
    )
    expect(io.printed()).toBe('')
  })
})

describe('quarterdeck tokens while no server runs', () => {
  test('creates a token that the next start accepts, lists it, revokes it, and writes audit entries', async () => {
    const cwd = await tempFolder()
    await mkdir(join(cwd, '.quarterdeck'), { mode: 0o700 })

    const created = await run(['tokens', 'create', '--role', 'operator', '--user', 'ada', '--name', 'Ada’s'], { cwd })

    expect(created).toMatchObject({ exitCode: 0, out: expect.stringMatching(/^qd_[\w-]{43}\n$/) })
    const token = created.out.trim()
    expect(created.err).not.toContain(token)
    const first = await serve(cwd)
    expect(await status(first.url, token)).toBe(200)
    await first.stop()

    const listed = await run(['tokens', 'list', '--json'], { cwd })
    const { id, ...shown } = JSON.parse(listed.out)
    expect(shown).toEqual({ name: 'Ada’s', user: 'ada', role: 'operator', created_at: expect.any(String) })
    expect((await run(['tokens', 'list'], { cwd })).out).toMatch(/^ID +ROLE +USER +CREATED \(UTC\) +NAME\n/)
    expect(await run(['tokens', 'revoke', id], { cwd })).toMatchObject({ exitCode: 0, out: '' })
    expect(await run(['tokens', 'revoke', id], { cwd })).toMatchObject({ exitCode: 1 })
    const second = await serve(cwd)
    expect(await status(second.url, token)).toBe(401)
    await second.stop()

    const trail = (await run(['audit', 'list', '--json'], { cwd })).out.trim().split('\n')
    expect(trail.map((line) => JSON.parse(line)).map(({ kind, by, details }) => [kind, by, details.token])).toEqual([
      ['token_created', 'command line', id],
      ['token_revoked', 'command line', id],
    ])
    expect((await run(['audit', 'verify'], { cwd })).exitCode).toBe(0)
  })

  test('creates a token that is limited and ends, and says when it ends soon', async () => {
    const cwd = await tempFolder()
    const tokens = (...args: string[]) => run(['tokens', ...args, '--data-dir', 'data'], { cwd })

    const made = await tokens(
      'create',
      '--role',
      'user',
      '--scopes',
      'read, talk',
      '--agent',
      'crow',
      '--expires',
      '3d',
    )
    expect(made).toMatchObject({
      exitCode: 0,
      err: expect.stringMatching(/only read, talk, only with the agent crow, until /),
    })
    await tokens('create', '--role', 'user', '--user', 'corp:ada@example.com', '--expires', '90d')
    const listed = await tokens('list')

    expect(listed.out).toMatch(/NAME +ENDS +ONLY\n.* read talk agent:crow\n.*corp:ada@example.com/)
    expect(listed.err).toMatch(/^Token \S+ of local_user ends in 2 d\. To replace it: quarterdeck tokens create\n$/)
    for (const wrong of [
      ['--scopes', 'fly'],
      ['--scopes', ''],
      ['--expires', '30'],
      ['--expires', '10y'],
      ['--expires', '5s'],
      ['--user', 'a,b'],
    ]) {
      expect(await tokens('create', '--role', 'user', ...wrong)).toMatchObject({ exitCode: 2, out: '' })
    }
    expect(await tokens('create', '--role', 'agent', '--workspace', '.', '--scopes', 'read')).toMatchObject({
      exitCode: 2,
    })
  })

  test('creates an agent’s token for a folder, and lists it with the folder', async () => {
    const cwd = await tempFolder()
    await mkdir(join(cwd, 'shop'))
    const create = (...args: string[]) => run(['tokens', 'create', '--data-dir', 'data', ...args], { cwd })

    const made = await create('--role', 'agent', '--user', 'ada', '--workspace', 'shop', '--json')
    const shop = await realpath(join(cwd, 'shop'))
    expect(JSON.parse(made.out)).toMatchObject({ role: 'agent', user: 'ada', workspace: shop })
    const listed = await run(['tokens', 'list', '--data-dir', 'data'], { cwd })
    expect(listed.out).toMatch(/ROLE.*WORKSPACE\n.*agent.*ada/)
    expect(listed.out).toContain(shop)
    expect(await create('--role', 'agent')).toMatchObject({ exitCode: 2, err: expect.stringContaining('--workspace') })
    expect(await create('--role', 'user', '--workspace', 'shop')).toMatchObject({ exitCode: 2 })
    expect(await create('--role', 'agent', '--workspace', 'data')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('it is the data folder of the server'),
    })
    await writeFile(join(cwd, 'quarterdeck.yaml'), 'workspaces: [{ path: till }]\n')
    await mkdir(join(cwd, 'till'))
    expect(await create('--role', 'agent', '--workspace', 'till')).toMatchObject({ exitCode: 0 })
    expect(await create('--role', 'agent', '--workspace', 'shop')).toMatchObject({
      out: '',
      err: expect.stringContaining('is not a workspace of this server'),
    })
  })

  test('does not create a folder that nobody named', async () => {
    const cwd = await tempFolder()

    expect(await run(['tokens', 'create', '--role', 'user'], { cwd })).toMatchObject({ exitCode: 2, out: '' })
    expect(await readdir(cwd)).toEqual([])
    expect(await run(['tokens', 'create', '--role', 'user', '--data-dir', 'data'], { cwd })).toMatchObject({
      exitCode: 0,
    })
  })

  test.runIf(process.getuid?.() === 0)(
    'root makes no token that the server of another user would not find',
    async () => {
      const cwd = await tempFolder()
      await mkdir(join(cwd, '.quarterdeck'), { mode: 0o700 })
      await chown(join(cwd, '.quarterdeck'), 65_534, 65_534)

      const { exitCode, err } = await run(['tokens', 'create', '--role', 'operator'], { cwd })

      expect([exitCode, err]).toEqual([2, expect.stringContaining("sudo -u '#65534'")])
      expect(await readdir(join(cwd, '.quarterdeck'))).toEqual([])
    },
  )

  test.each([
    [['create'], '--role'],
    [['create', '--role', 'admin'], 'user, operator'],
    [['create', '--role', 'user', '--user', 'a b'], '1 to 64 letters, digits or _'],
    [['create', '--role', 'user', '--name', 'x'.repeat(65)], 'at most 64 printable characters'],
    [['list', '--url', 'ftp://x'], 'is not the address of a server'],
  ])('%j is refused as wrong usage', async (args, message) => {
    const { exitCode, err } = await run(['tokens', ...args], { cwd: await tempFolder() })

    expect([exitCode, err]).toEqual([2, expect.stringContaining(message)])
  })
})

describe('quarterdeck tokens against a running server', () => {
  const OPERATOR = 'operator-token-that-is-set'
  const running = async (cwd: string) => {
    const { url, stop } = await serve(cwd, { env: { QUARTERDECK_OPERATOR_TOKEN: OPERATOR } })
    return { url, stop, env: { QUARTERDECK_OPERATOR_TOKEN: OPERATOR } }
  }

  test('ask it, with the operator’s token from the environment', async () => {
    const cwd = await tempFolder()
    const { url, env } = await running(cwd)

    const { exitCode, out, err } = await run(['tokens', 'create', '--role', 'operator'], { cwd, env })

    expect([exitCode, err]).toEqual([0, expect.stringContaining(` at ${url}. It is shown only this time:`)])
    expect(await status(url, out.trim())).toBe(200)
    const { id } = JSON.parse((await run(['tokens', 'list', '--json', '--url', url], { cwd, env })).out)
    expect((await run(['tokens', 'revoke', id], { cwd, env })).exitCode).toBe(0)
    expect(await status(url, out.trim())).toBe(401)
  })

  test('ask the person for the token, and do not show it', async () => {
    const cwd = await tempFolder()
    const { url } = await running(cwd)
    const stdin = new PassThrough()
    const io = createTestIo({ cwd, stdin, terminal: true, clock: createSystemClock() })

    const left = main(['tokens', 'list', '--url', url], io)
    await io.until(`The operator’s token of ${url} (hidden while you type; press Enter if you have none): `)
    stdin.write(`${OPERATOR}\r`)

    expect(await left).toBe(0)
    expect(io.printed() + io.complained()).not.toContain(OPERATOR)
  })

  test('without a token or with a wrong one, says what to do', async () => {
    const cwd = await tempFolder()
    await running(cwd)
    const list = (token: string) => run(['tokens', 'list'], { cwd, env: { QUARTERDECK_OPERATOR_TOKEN: token } })

    expect(await list('')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('set QUARTERDECK_OPERATOR_TOKEN'),
    })
    expect(await list('wrong-wrong-wrong')).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('quarterdeck tokens create --role operator'),
    })
  })

  test('send the operator’s token to the server of the data directory, never to another process on the usual port', async () => {
    const cwd = await tempFolder()
    const stranger = await startFakeServer((_request, response) => void response.end('{}'))
    onTestFinished(() => stranger.close())
    const { url, env } = await running(cwd)
    // The lock of a server is asked for again and again. Time that nobody needs passes at once.
    const system = createSystemClock()
    const clock = { ...system, after: (_ms: number, fire: () => void, hold?: boolean) => system.after(1, fire, hold) }
    const list = (args: string[]) =>
      run(['tokens', 'list', ...args], { cwd, clock, env: { ...env, QUARTERDECK_PORT: new URL(stranger.url).port } })

    expect(await list([])).toMatchObject({ exitCode: 0 })
    // A server without a known address: an agent that a chat serves.
    const lock = lockDataDir(join(cwd, 'other'))
    onTestFinished(() => lock.release())
    expect(await list(['--data-dir', 'other'])).toMatchObject({
      exitCode: 73,
      err: expect.stringContaining('Give its address with --url <address>'),
    })

    expect(stranger.seen).toEqual([])
    expect(url).not.toBe(stranger.url)
  })

  test('do not trust the address of a killed server once another one starts', async () => {
    const cwd = await tempFolder()
    const stranger = await startFakeServer((_request, response) => void response.end('{}'))
    onTestFinished(() => stranger.close())
    const { env, stop } = await running(cwd)
    const folder = join(cwd, '.config')
    const told = (await readdir(folder)).filter((name) => name.startsWith('server-')).map((name) => join(folder, name))
    await stop()
    expect(told.length).toBe(1)
    await writeFile(told[0] ?? '', JSON.stringify({ url: stranger.url }), { mode: 0o600 })

    const again = await running(cwd)

    expect(await run(['tokens', 'list'], { cwd, env })).toMatchObject({ exitCode: 0 })
    await again.stop()
    expect(await readdir(folder)).not.toContainEqual(expect.stringMatching(/^server-/))
    expect(stranger.seen).toEqual([])
  })

  test('wait for another command, and both succeed', async () => {
    const cwd = await tempFolder()
    const create = () => run(['tokens', 'create', '--role', 'user', '--data-dir', 'data'], { cwd })

    const codes = (await Promise.all([create(), create(), create()])).map(({ exitCode }) => exitCode)

    expect(codes).toEqual([0, 0, 0])
    const listed = await run(['tokens', 'list', '--json', '--data-dir', 'data'], { cwd })
    expect(listed.out.trim().split('\n').length).toBe(3)
  })

  test('send no operator’s token over plain http to another machine', async () => {
    const env = { QUARTERDECK_OPERATOR_TOKEN: OPERATOR }
    const list = async (url: string) => run(['tokens', 'list', '--url', url], { cwd: await tempFolder(), env })

    for (const url of ['http://192.0.2.1:8000', 'http://agent.example.com', 'http://[2001:db8::1]:8000']) {
      expect(await list(url)).toMatchObject({ exitCode: 2, err: expect.stringContaining('which others can read') })
    }
    const gone = await startFakeServer(() => {})
    await gone.close()
    expect(await list(gone.url)).toMatchObject({ exitCode: 69 })
  })
})
