import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../../app/load-config.ts'
import { lockDataDir } from '../../../app/open-store.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { openProxy } from '../../../outgoing/testing/open-proxy.ts'
import { main } from '../../main.ts'
import { startFakeServer } from '../../testing/fake-server.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'
import { checkClock, checkDataDir, checkNode } from './checks.ts'
import { checkTools } from './tool-checks.ts'

async function doctor(cwd: string, ...args: string[]) {
  const io = createTestIo({ cwd, clock: createSystemClock() })
  const exitCode = await main(['doctor', ...args], io)
  return { exitCode, out: io.printed() }
}

const writeAgent = (cwd: string, model: string): Promise<void> =>
  writeFile(join(cwd, 'agent.yaml'), `name: crow\nmodel: ${model}\ninstructions: { inline: You repeat. }\n`)

describe('quarterdeck doctor', () => {
  test('finds no problem with the demo agent', async () => {
    const cwd = await tempFolder()

    const { exitCode, out } = await doctor(cwd, '--port', '0')

    expect(exitCode).toBe(0)
    expect(out.replace(/24\.\S+|\d+ ms|[\d.]+ GB|\d{4}-\S+Z/g, 'N')).toBe(
      `ok    Node    N
ok    Config  agent assistant
ok    Key     assistant: demo needs none
ok    Model   assistant (demo/demo) answers (N)
ok    Port    any free one
ok    Data    ${join(cwd, '.config', 'data')} will be created at the first start
ok    Disk    N free
ok    Clock   N

Next: make an agent with quarterdeck init, or try the built-in one: quarterdeck serve --port 0
`,
    )
  })

  test('a missing key fails, naming the variable to set', async () => {
    const cwd = await tempFolder()
    await writeAgent(cwd, '{ provider: openai, name: gpt-x }')

    const { exitCode, out } = await doctor(cwd, '--port', '0')

    expect(exitCode).toBe(1)
    expect(out).toMatch(/^fail {2}Key +crow \(openai\/gpt-x\): .*OPENAI_API_KEY.*\n +→ .+\.env.+$/m)
  })

  test('a wrong key and a server that is down are told apart', async () => {
    const cwd = await tempFolder()
    const server = await startFakeServer((_, response) => {
      const error = { message: 'no', code: 'invalid_api_key' }
      response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
    })
    await writeAgent(cwd, `{ provider: openai, name: gpt-x, base_url: "${server.url}/v1", api_key: bad, retries: 0 }`)
    const failing = async () => {
      const { exitCode, out } = await doctor(cwd, '--port', '0')
      expect(exitCode).toBe(1)
      return /^fail {2}(\w+).*\n +→ (.+)$/m.exec(out)?.slice(1)
    }

    expect(await failing()).toEqual([
      'Key',
      'Create a new key at the provider and set it in the environment or in .env.',
    ])
    await server.close()
    expect(await failing()).toEqual([
      'Model',
      'Start the model server, or fix model.base_url. Behind a proxy, check HTTPS_PROXY, NO_PROXY and model.proxy.',
    ])
  })

  test('names the proxy to the model, but never its password', async () => {
    const cwd = await tempFolder()
    const server = await startFakeServer((_, response) => void response.end('{"data":[]}'))
    const proxy = await openProxy(Number(new URL(server.url).port), { credentials: 'me:secret' })
    onTestFinished(() => proxy.close())
    const address = `http://me:PASS@127.0.0.1:${proxy.port}`
    await writeFile(join(cwd, '.env'), `HTTP_PROXY=${address.replace('PASS', 'secret')}\n`)
    await writeAgent(cwd, '{ provider: openai, name: gpt-x, base_url: "http://model.test/v1", api_key: k }')
    const good = await doctor(cwd, '--port', '0')
    expect(good.out).toMatch(
      new RegExp(`^ok +Proxy +crow: through http://127.0.0.1:${proxy.port}, as HTTP_PROXY says$`, 'm'),
    )
    expect(good.out).toMatch(/^ok +Model +/m)

    const wrong = address.replace('PASS', 'wrong')
    await writeAgent(
      cwd,
      `{ provider: openai, name: gpt-x, base_url: "http://model.test/v1", api_key: k, proxy: "${wrong}" }`,
    )
    const bad = await doctor(cwd, '--port', '0')
    expect(bad.out).toMatch(/^ok +Proxy +crow: through .*, as model\.proxy says$/m)
    expect(bad.out).toMatch(/^fail +Model +.*requires a name and a password \(407\)/m)
    expect(good.out + bad.out).not.toMatch(/secret|wrong/)
  })

  test('reports mistakes in a file with their lines, and still checks the machine', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'agent.yaml'), 'name: crow\nmodel: { provider: demo }\n')

    const { exitCode, out } = await doctor(cwd, '--json')

    const result = JSON.parse(out)
    expect([exitCode, result.ok]).toEqual([1, false])
    expect(result.checks.map(({ name, status }: { name: string; status: string }) => [name, status])).toEqual([
      ['Node', 'ok'],
      ['Config', 'fail'],
      ['Disk', expect.any(String)],
      ['Clock', 'ok'],
    ])
    expect(result.checks[1].detail).toMatch(/agent\.yaml:\d+:\d+ instructions: /)
  })

  test('a port of another program fails, a port of a Quarterdeck is a warning', async () => {
    const cwd = await tempFolder()
    const other = createServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void other.close())
    const address = other.address()
    const taken = typeof address === 'object' && address !== null ? address.port : 0
    const ours = await startFakeServer((_, response) => {
      const headers = { 'content-type': 'application/json', 'x-correlation-id': 'c' }
      // What a server says to a caller without a token.
      response.writeHead(200, headers).end('{"status":"healthy"}')
    })
    onTestFinished(() => ours.close())

    expect(await doctor(cwd, '--port', String(taken))).toMatchObject({
      exitCode: 1,
      out: expect.stringMatching(
        new RegExp(`fail {2}Port +Port ${taken} on 127\\.0\\.0\\.1 is in use by .+\\n +→ This port is free`),
      ),
    })
    expect(await doctor(cwd, '--port', new URL(ours.url).port)).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(
        new RegExp(
          `warn {2}Port {4}Another Quarterdeck is running on port ${new URL(ours.url).port}[^]*Next: fix Port,`,
        ),
      ),
    })
  })
})

describe('the next step of quarterdeck doctor', () => {
  const next = async (cwd: string, ...args: string[]): Promise<string> => {
    const { next: said } = JSON.parse((await doctor(cwd, '--json', ...args)).out)
    return said.replaceAll(cwd, 'HERE')
  }

  test('is to start the server as it was checked, with words that a shell reads', async () => {
    const cwd = await tempFolder()
    await writeAgent(cwd, '{ provider: demo }')
    expect(await next(cwd, '--port', '0')).toBe('start the server: quarterdeck serve --port 0')
    expect(await next(cwd, 'agent.yaml', '--port', '0', '--host', '127.0.0.1', '--data-dir', `${cwd}/my data`)).toBe(
      "start the server: quarterdeck serve agent.yaml --host 127.0.0.1 --port 0 --data-dir 'HERE/my data'",
    )
  })

  test('is to fix what fails, the first one first', async () => {
    const cwd = await tempFolder()
    await writeAgent(cwd, '{ provider: openai, name: gpt-x }')
    expect(await next(cwd, '--port', '0')).toBe('fix Key, as it says above. Then run quarterdeck doctor again.')
    await writeFile(join(cwd, 'data'), 'not a folder')
    expect(await next(cwd, '--port', '0', '--data-dir', join(cwd, 'data'))).toBe(
      'fix Key first, then the other lines with fail, as it says above. Then run quarterdeck doctor again.',
    )
  })

  test('beside a running server is its console', async () => {
    const cwd = await tempFolder()
    const dataDir = join(cwd, 'data')
    await mkdir(dataDir, { mode: 0o700 })
    const lock = lockDataDir(dataDir)
    onTestFinished(() => lock.release())
    expect(await next(cwd, '--port', '0', '--data-dir', dataDir)).toBe(
      'the server runs. Open its console: quarterdeck console --data-dir HERE/data',
    )
  })
})

describe('quarterdeck doctor with tools', () => {
  const fakeServer = (mode: string) =>
    `command: ${process.execPath}, args: ["${join(import.meta.dirname, '../../../tools/mcp/testing/fake-server.ts')}", "${mode}"]`

  /** What it says of the tools. */
  async function toolLines(files: Record<string, string>, tools: string) {
    const cwd = await tempFolder()
    for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text)
    await writeFile(
      join(cwd, 'agent.yaml'),
      `name: crow\nmodel: { provider: demo }\ninstructions: You repeat.\ntools:\n${tools}`,
    )
    const { exitCode, out } = await doctor(cwd, '--port', '0', '--json')
    const { checks }: { checks: { name: string; detail: string }[] } = JSON.parse(out)
    return {
      exitCode,
      checks: checks
        .filter(({ name }) => name === 'Tools' || name === 'MCP')
        .map((check) => ({ ...check, detail: check.detail.replaceAll(cwd, '').replace(/\(\d+ ms\)/, '(N ms)') })),
    }
  }

  test('counts tools when modules load, documents are read and servers answer', async () => {
    const openapi = {
      openapi: '3.0.3',
      paths: { '/a': { get: { operationId: 'a' } }, '/b': { get: { operationId: 'b' } } },
    }
    const files = {
      'add.mjs': 'export const add = () => 1\nadd.parameters = { type: "object" }\n',
      'api.json': JSON.stringify({ ...openapi, servers: [{ url: 'https://example.com' }] }),
    }

    expect(
      await toolLines(
        files,
        `  - { type: function, name: add, description: Adds two numbers., file: add.mjs }
  - { type: http, name: api, openapi: api.json }
  - { type: mcp, name: fake, ${fakeServer('plain')}, allow: [pid, gone, 'c*'] }
`,
      ),
    ).toEqual({
      exitCode: 0,
      checks: [
        { name: 'Tools', status: 'ok', detail: 'crow: 3 tools' },
        { name: 'MCP', status: 'ok', detail: 'fake of crow: 3 tools (N ms)' },
        {
          name: 'MCP',
          status: 'warn',
          detail: 'fake of crow: The configuration names a tool that the MCP server does not offer. gone',
          mend: 'Fix the server in the agent file (`allow`, `tools`, `prefix`), or ignore this.',
        },
      ],
    })
  })

  test('reports a problem once even if the server’s list is read twice', async () => {
    const { checks } = await toolLines(
      {},
      `  - { type: mcp, name: fake, ${fakeServer('restless')}, allow: [pid, gone] }\n`,
    )
    expect(checks.map(({ detail }) => detail)).toEqual([
      'fake of crow: 1 tool (N ms)',
      'fake of crow: The configuration names a tool that the MCP server does not offer. gone',
    ])
  })

  test('names every missing tool and how to fix it', async () => {
    const mend = 'Fix the tool in the agent file, or the file that it names.'
    const closed = await startFakeServer(() => {})
    await closed.close()
    const { exitCode, checks } = await toolLines(
      { 'add.mjs': 'export const other = 1\n', 'api.json': '{}' },
      `  - { type: function, name: add, description: Adds two numbers., file: add.mjs }
  - { type: http, name: api, openapi: api.json }
  - { type: mcp, name: fake, ${fakeServer('exit')} }
  - { type: mcp, name: none, command: /no/such/command }
  - { type: mcp, name: far, url: "${closed.url}/mcp" }
`,
    )

    expect(exitCode).toBe(1)
    expect(checks).toEqual([
      { name: 'Tools', status: 'fail', detail: expect.stringMatching(/^crow: .*add\.mjs.*tool add: /), mend },
      { name: 'Tools', status: 'fail', detail: expect.stringMatching(/^crow: .*api\.json/), mend },
      ...['The end of its stderr: no config file', 'there is no command', 'ECONNREFUSED'].map((reason) => ({
        name: 'MCP',
        status: 'fail',
        detail: expect.stringContaining(reason),
        mend: expect.stringMatching(/^Try its (command|url) on its own\. /),
      })),
    ])
  })

  test('finds names that clash', async () => {
    const paths = { '/add': { get: { operationId: 'add' } } }
    const { checks } = await toolLines(
      {
        'add.mjs': 'export const add = () => 1\nadd.parameters = { type: "object" }\n',
        'api.json': JSON.stringify({ openapi: '3.0.3', servers: [{ url: 'https://example.com' }], paths }),
      },
      `  - { type: function, name: add, description: Adds two numbers., file: add.mjs }
  - { type: http, name: api, openapi: api.json }
`,
    )

    expect(checks).toEqual([
      {
        name: 'Tools',
        status: 'fail',
        detail: expect.stringMatching(/^crow: Two tools have the name add: /),
        mend: 'Fix the tool in the agent file, or the file that it names.',
      },
    ])
  })
})

describe('the checks', () => {
  test('a server that never lists its tools is not waited for, and is stopped', async () => {
    const cwd = await tempFolder()
    await writeFile(
      join(cwd, 'agent.yaml'),
      `name: crow\nmodel: { provider: demo }\ninstructions: You repeat.\ntools: [{ type: mcp, name: fake, command: ${process.execPath}, args: [-e, 'require("fs").writeFileSync("pid", String(process.pid)); setInterval(() => {}, 1000)'] }]\n`,
    )
    const real = createSystemClock()
    // The time passes as soon as the process runs.
    const started = async () => {
      while (!existsSync(join(cwd, 'pid'))) await new Promise((resolve) => setImmediate(resolve))
    }
    const clock = {
      ...real,
      after(ms: number, fire: () => void) {
        if (ms < 10_000) return real.after(ms, fire)
        let wanted = true
        void started().then(() => wanted && fire())
        return () => {
          wanted = false
        }
      },
    }
    const io = createTestIo({ cwd, clock })
    const { agents } = loadConfig({ files: [], flags: {} }, io)
    const [agent] = agents

    const checks =
      agent === undefined
        ? []
        : await checkTools(agent, { agents, version: '1', proxyVariables: null, io, reload: null })

    expect(checks).toEqual([
      {
        name: 'MCP',
        status: 'fail',
        detail: expect.stringMatching(/^fake of crow.* within \d+ s/),
        mend: expect.stringMatching(/^Try its command on its own\./),
      },
    ])
    const pid = Number(readFileSync(join(cwd, 'pid'), 'utf8'))
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  test('Node before 24 is too old', () => {
    expect([checkNode('24.0.0').status, checkNode('26.1.0').status, checkNode('20.20.2')]).toEqual([
      'ok',
      'ok',
      { name: 'Node', status: 'fail', detail: '20.20.2 is too old', mend: 'Install Node 24: https://nodejs.org' },
    ])
  })

  test('a data directory may be free, in use, readable by others, or not a folder', async () => {
    const folder = await tempFolder()
    const dataDir = join(folder, 'data')
    await mkdir(dataDir, { mode: 0o700 })
    await writeFile(join(folder, 'file'), '')

    expect((await checkDataDir(dataDir)).check).toEqual({
      name: 'Data',
      status: 'ok',
      detail: `${dataDir} is writable and free`,
    })
    const lock = lockDataDir(dataDir)
    expect((await checkDataDir(dataDir, true)).check.detail).toBe(
      `${dataDir} is used by a running server; another one takes a folder in it`,
    )
    expect(await checkDataDir(dataDir)).toEqual({
      check: { name: 'Data', status: 'ok', detail: `${dataDir} is used by a running server; the database is intact` },
      inUse: true,
    })
    lock.release()
    await chmod(dataDir, 0o755)
    expect((await checkDataDir(dataDir)).check).toMatchObject({
      status: 'warn',
      mend: `It holds conversations: chmod 700 ${dataDir}`,
    })
    expect((await checkDataDir(join(folder, 'file'))).check).toMatchObject({
      status: 'fail',
      detail: `${join(folder, 'file')} is not a folder`,
    })
  })

  test('finds a database that no server would start with', async () => {
    const dataDir = await tempFolder()
    await writeFile(join(dataDir, 'quarterdeck.db'), 'Dear diary, '.repeat(500))

    expect((await checkDataDir(dataDir)).check).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining(`The database is damaged: ${join(dataDir, 'quarterdeck.db')}`),
    })
    lockDataDir(dataDir).release()
  })

  test('finds a clock that is behind', async () => {
    const folder = await tempFolder()
    const now = Date.UTC(2026, 10, 15)
    await writeFile(join(folder, 'quarterdeck.db'), '')
    await utimes(join(folder, 'quarterdeck.db'), now / 1000 + 3600, now / 1000 + 3600)

    expect((await checkClock(now + 3_600_000, folder)).status).toBe('ok')
    expect((await checkClock(now, folder)).status).toBe('warn')
    expect((await checkClock(0, folder)).status).toBe('fail')
  })
})
