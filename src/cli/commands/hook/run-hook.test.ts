import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../../../domain/clock.ts'
import { silentLogger } from '../../../domain/logger.ts'
import { createServerAddress } from '../../../http/auth/config-folder/server-address.ts'
import { createManualClock, until } from '../../../http/testing/server-fixture.ts'
import { makeFolder } from '../../../store/make-folder.ts'
import { createAgentConnections } from '../../agent-connection.ts'
import { type FakeServer, sendJson, startFakeServer } from '../../testing/fake-server.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { readHookOptions } from './main.ts'
import { runHook } from './run-hook.ts'

const question = (cwd: string, more: Record<string, unknown> = {}) =>
  JSON.stringify({
    hook_event_name: 'PreToolUse',
    session_id: 's',
    cwd,
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
    tool_use_id: 't',
    ...more,
  })

async function* once(text: string) {
  yield text
}

async function setUp(url: string) {
  const folder = await tempFolder()
  const [workspace, configDir] = [join(folder, 'shop'), join(folder, 'config')]
  mkdirSync(join(workspace, 'src'), { recursive: true })
  createAgentConnections(configDir, 'claude').write({ workspace, url, tokenId: 'id', token: 'agent-token' })
  const env = { QUARTERDECK_CONFIG_DIR: configDir }
  const run = (
    input: string,
    args: string[] = ['claude', 'PreToolUse'],
    more: Partial<Parameters<typeof runHook>[1]> = {},
  ) => runHook(readHookOptions(args), { stdin: once(input), env, cwd: folder, clock: createSystemClock(), ...more })
  return { folder, workspace, configDir, env, run }
}

async function serving(answer: Parameters<typeof startFakeServer>[0]): Promise<FakeServer> {
  const server = await startFakeServer(answer)
  onTestFinished(() => server.close())
  return server
}

const refused = (why: unknown) => ({
  stdout: expect.stringMatching(/"permissionDecision":"deny"/),
  stderr: why,
  exitCode: 2,
})
const because = (why: string) => refused(expect.stringContaining(`so it is refused: ${why}`))

describe('quarterdeck hook', () => {
  test('asks the server of this folder with its token and prints the answer', async () => {
    const output = { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } }
    const server = await serving((_request, response) => {
      sendJson(response, 200, { hook: 'claude', behavior: 'allow', output })
    })
    const { workspace, run } = await setUp(`${server.url}/`)
    const input = question(join(workspace, 'src'))

    expect(await run(input, undefined, { clock: createManualClock() })).toEqual({
      stdout: `${JSON.stringify(output)}\n`,
      stderr: '',
      exitCode: 0,
    })
    expect(server.seen).toEqual([
      expect.objectContaining({ method: 'POST', path: '/hooks/claude?limit_ms=50000', body: JSON.parse(input) }),
    ])
    expect(server.seen[0]?.headers.authorization).toBe('Bearer agent-token')
  })

  test('says nothing where the server has no opinion', async () => {
    const server = await serving((_request, response) =>
      sendJson(response, 200, { hook: 'claude', behavior: 'pass', output: {} }),
    )
    const { workspace, run } = await setUp(server.url)

    expect(await run(question(workspace))).toEqual({ stdout: '', stderr: '', exitCode: 0 })
  })

  test('uses the connection in the environment of an agent that Quarterdeck started', async () => {
    const server = await serving((_request, response) =>
      sendJson(response, 200, { hook: 'codex', behavior: 'pass', output: {} }),
    )
    const { folder, run } = await setUp('http://127.0.0.1:1')
    const env = { QUARTERDECK_MCP_URL: `${server.url}/mcp`, QUARTERDECK_AGENT_TOKEN: 'spawned' }

    const result = await run(question(folder), ['codex', 'PreToolUse', '--folders', '/elsewhere'], { env })

    expect(result).toEqual({ stdout: '', stderr: '', exitCode: 0 })
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer spawned'])
  })

  test('leaves agents in other folders alone, and follows links to find out', async () => {
    const { folder, workspace, configDir, run } = await setUp('http://127.0.0.1:1')
    symlinkSync(workspace, join(folder, 'link'))
    const list = join(configDir, 'folders-claude.json')
    writeFileSync(list, JSON.stringify([workspace]), { mode: 0o600 })
    const here = ['claude', 'PreToolUse', '--folders', list]

    expect(await run(question(folder), here)).toEqual({ stdout: '', stderr: '', exitCode: 0 })
    expect(await run(question(join(folder, 'link', 'src')), here)).toEqual(refused(expect.any(String)))
    // The agent has gone elsewhere with `cd`, but its project is still this one.
    const env = { QUARTERDECK_CONFIG_DIR: configDir, CLAUDE_PROJECT_DIR: workspace }
    expect(await run(question('/'), here, { env })).toEqual(refused(expect.any(String)))
    // It was started by another host, whose project is not its own.
    const inside = { QUARTERDECK_CONFIG_DIR: configDir, GEMINI_PROJECT_DIR: folder }
    expect(await run(question(workspace), here, { env: inside })).toEqual(refused(expect.any(String)))
  })
})

test('quarterdeck hook asks in the listed folders, leaves others alone, and refuses without the list', async () => {
  const { folder, workspace, configDir, run } = await setUp('http://127.0.0.1:1')
  const [lost, other, list] = [join(folder, 'lost'), join(folder, 'other'), join(configDir, 'folders-claude.json')]
  for (const one of [lost, other]) mkdirSync(one)
  const args = ['claude', 'PreToolUse', '--folders', list]
  const silent = { stdout: '', stderr: '', exitCode: 0 }

  expect(await run(question(other), args)).toEqual(because(`${list} is missing`))
  writeFileSync(list, JSON.stringify([workspace, lost]), { mode: 0o600 })

  expect(await run(question(other), args)).toEqual(silent)
  expect(await run(question(join(workspace, 'src')), args)).toEqual(because('no server answers'))
  // Its connection is gone, but nobody has taken the folder off the list.
  expect(await run(question(lost), args)).toEqual(because('this folder is not connected'))
  writeFileSync(list, '{}')
  expect(await run(question(other), args)).toEqual(because(`${list}: it is not a list of folders`))
})

describe('a call is refused', () => {
  test.each<[string, Parameters<typeof startFakeServer>[0], string]>([
    ['answers 500', (_q, r) => sendJson(r, 500, { detail: 'Broken.' }), 'the server answered 500: Broken.'],
    ['answers 401', (_q, r) => sendJson(r, 401, { detail: 'Wrong token.' }), 'the server answered 401: Wrong token.'],
    ['answers 404', (_q, r) => void r.writeHead(404).end('<html>'), 'the server answered 404'],
    ['redirects', (_q, r) => void r.writeHead(302, { location: 'http://x/' }).end(), 'the server answered 302'],
    ['says {}', (_q, r) => sendJson(r, 200, {}), 'what answered is not a Quarterdeck'],
    ['says nothing', (_q, r) => void r.writeHead(200).end(), 'what answered is not a Quarterdeck'],
    ['says no JSON', (_q, r) => void r.writeHead(200).end('allow'), 'what answered is not a Quarterdeck'],
    [
      'answers for another host',
      (_q, r) => sendJson(r, 200, { hook: 'codex', behavior: 'pass', output: {} }),
      'what answered is not a Quarterdeck',
    ],
    [
      'thinks that it was only told something',
      (_q, r) => sendJson(r, 200, { hook: 'claude', behavior: 'noted', output: {} }),
      'what answered is not a Quarterdeck',
    ],
  ])('if the server %s', async (_name, answer, why) => {
    const { workspace, run } = await setUp((await serving(answer)).url)

    expect(await run(question(workspace))).toEqual(because(why))
  })

  test('if no server runs', async () => {
    const server = await startFakeServer(() => {})
    await server.close()
    const { workspace, run } = await setUp(server.url)

    expect(await run(question(workspace))).toEqual(because('no server answers at 127.0.0.1'))
  })

  test('if the server takes the connection and says nothing', async () => {
    const { url, sockets } = await listenRaw(() => {})
    const { workspace, run } = await setUp(url)
    const clock = createManualClock()

    const result = run(question(workspace), undefined, { clock })
    await until(() => sockets.length === 1)
    clock.advance(10_000)

    expect(await result).toEqual(because('the server at 127.0.0.1'))
  })

  test('if the server hangs while somebody decides', async () => {
    const { url, sockets } = await listenRaw((socket) => void socket.write(OPENED))
    const { workspace, run } = await setUp(url)
    const clock = createManualClock()

    const result = run(question(workspace), ['claude', 'PreToolUse', '--limit', '3600'], { clock })
    await until(() => sockets.length === 1)
    const stop = keepAdvancing(clock)

    expect(await result).toEqual(because('the server has stopped answering'))
    stop()
  })

  test('before its own limit, however alive the server is', async () => {
    const { url, sockets } = await listenRaw((socket) => void socket.write(OPENED))
    const { workspace, run } = await setUp(url)
    const clock = createManualClock()

    const result = run(question(workspace), ['claude', 'PreToolUse', '--limit', '20'], { clock })
    await until(() => sockets.length === 1)
    const stop = keepAdvancing(clock)

    expect(await result).toEqual(because('the server did not answer in time'))
    stop()
  })

  test('if the host sends something else than JSON, or far too much of it', async () => {
    const { run } = await setUp('http://127.0.0.1:1')

    expect(await run('')).toEqual(because('the host did not send JSON'))
    expect(await run('[]')).toEqual(because('the host did not send a JSON object'))
    expect(await run('x'.repeat(33 * 1024 * 1024))).toEqual(because('the input of the tool is too large'))
    // Without a known event the text on stderr and the exit code say it.
    expect(await run('', ['claude'])).toEqual({ stdout: '', stderr: expect.any(String), exitCode: 2 })
  })

  test('if the folder is not connected', async () => {
    const { folder, run } = await setUp('http://127.0.0.1:1')

    expect(await run(question(folder))).toEqual(
      because('this folder is not connected. Run: quarterdeck connect claude'),
    )
    expect(await run(question(join(folder, 'gone')))).toEqual(because('ENOENT'))
  })
})

test('Copilot CLI gets its refusal as JSON, because it does not show what goes with an exit code', async () => {
  const { folder, run } = await setUp('http://127.0.0.1:1')

  expect(await run(question(folder), ['copilot', 'PreToolUse'])).toEqual({ ...because('this folder'), exitCode: 0 })
  expect((await run('', ['copilot'])).exitCode).toBe(2)
})

test('a restart of the server in the middle loses nothing: the same question is asked again', async () => {
  let asked = 0
  const answer = `{"hook":"claude","behavior":"pass","output":{}}`
  const { url, server } = await listenRaw((socket) => {
    asked += 1
    if (asked === 1) socket.write(OPENED, () => socket.destroy())
    else if (asked === 2) socket.end('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n')
    else socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${answer.length}\r\n\r\n${answer}`)
  })
  const { workspace, run } = await setUp(url)
  const clock = createManualClock()

  const result = run(question(workspace), ['claude', 'PreToolUse', '--limit', '3600'], { clock })
  await until(() => asked === 1)
  const stop = keepAdvancing(clock, 100)

  expect(await result).toEqual({ stdout: '', stderr: '', exitCode: 0 })
  expect([asked, server.listening]).toEqual([3, true])
  stop()
})

test('a server that comes back at another port is found there', async () => {
  const answer = `{"hook":"claude","behavior":"pass","output":{}}`
  const second = await listenRaw((socket) => {
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${answer.length}\r\n\r\n${answer}`)
  })
  let move = () => {}
  const first = await listenRaw((socket) => {
    socket.write(OPENED, () => {
      move()
      socket.destroy()
    })
  })
  const { folder, workspace, configDir, run } = await setUp(first.url)
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  const known = { workspace, url: first.url, dataDir, tokenId: 'id', token: 'agent-token' }
  createAgentConnections(configDir, 'claude').write(known)
  move = () => createServerAddress({ configDir, dataDir, makeFolder }).tell(second.url, silentLogger)
  const clock = createManualClock()
  const stop = keepAdvancing(clock, 100)

  const result = await run(question(workspace), ['claude', 'PreToolUse', '--limit', '3600'], { clock })

  expect(result).toEqual({ stdout: '', stderr: '', exitCode: 0 })
  stop()
})

test('a server that stays away after it took the question: refused after a minute', async () => {
  const { url, server } = await listenRaw((socket) => void socket.write(OPENED, () => socket.destroy()))
  const { workspace, run } = await setUp(url)
  const clock = createManualClock()

  const result = run(question(workspace), ['claude', 'PreToolUse', '--limit', '3600'], { clock })
  server.once('connection', () => server.close())
  const stop = keepAdvancing(clock, 500)

  expect(await result).toEqual(because('no server answers at 127.0.0.1'))
  expect(clock.mono()).toBeGreaterThan(60_000)
  stop()
})

test('what is not a question never stops the host, whatever goes wrong', async () => {
  const { workspace, run } = await setUp('http://127.0.0.1:1')

  for (const event of ['Stop', 'SessionStart', 'SessionEnd', 'Notification']) {
    const result = await run(question(workspace, { hook_event_name: event }), ['claude', event])
    expect(result).toEqual({ stdout: '', stderr: expect.stringContaining('no server answers'), exitCode: 0 })
  }
})

test.each([
  [[]],
  [['emacs']],
  [['claude', 'PreToolUse', 'more']],
  [['claude', '--limit', 'soon']],
  [['claude', '--yes']],
])('the arguments %j are not understood', (args) => {
  expect(() => readHookOptions(args)).toThrow()
})

const OPENED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\n\r\n'

/** A server that answers each connection with raw bytes, once it has the whole request. */
async function listenRaw(serve: (socket: Socket) => void) {
  const sockets: Socket[] = []
  const server: Server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.once('data', () => serve(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, sockets, server }
}

/** Time passes while sockets work: a second in each turn. */
function keepAdvancing(clock: ReturnType<typeof createManualClock>, ms = 1_000): () => void {
  let on = true
  const tick = (): void => {
    if (!on) return
    clock.advance(ms)
    setTimeout(tick, 1)
  }
  setImmediate(tick)
  return () => {
    on = false
  }
}
