import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lockDataDir } from '../../../app/open-store.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { main } from '../../main.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo, type TestIo, type TestIoOptions } from '../../testing/test-io.ts'
import { serve } from './serve.ts'
import type { StartApp } from './start-app.ts'

const serverIo = (options: TestIoOptions): TestIo => createTestIo({ clock: createSystemClock(), ...options })

async function takePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** An app that does not listen. Records its arguments. */
function fakeApp(url: string, madeToken: string | null) {
  const started: Parameters<StartApp>[] = []
  const start: StartApp = async (...given) => {
    started.push(given)
    return {
      url,
      activeRuns: () => 0,
      close: async () => {},
      madeToken,
      operatorToken: null,
      hasOperator: true,
      newConsoleCode: async () => 'one-time-code',
      doors: ['ag-ui'],
      unconfined: [],
    }
  }
  return { start, started }
}

describe('quarterdeck serve', () => {
  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('also ends with %s before it is ready', async (signal, code) => {
    const io = serverIo({ cwd: await tempFolder() })
    const { promise: starting, resolve } = Promise.withResolvers<void>()
    const start: StartApp = () => {
      resolve()
      return new Promise(() => {})
    }

    const ended = serve({ files: [], flags: {} }, '1.2.3', start, io)
    await starting
    io.signal(signal)

    expect([await ended, io.printed()]).toEqual([code, ''])
  })

  test('serves the agent of the folder, prints its address, and stops with 0', async () => {
    const cwd = await tempFolder()
    await writeFile(
      join(cwd, 'agent.yaml'),
      'name: parrot\nmodel: { provider: demo }\ninstructions: { inline: You repeat. }\n',
    )
    const io = serverIo({ cwd })

    const stopped = main(['serve', '--port', '0', '--protocol', 'ag-ui', '--log-level', 'silent'], io)
    await io.until('Ctrl-C')
    const url = /AG-UI\s+(\S+)\//.exec(io.printed())?.[1] ?? ''
    const health: unknown = await (await fetch(`${url}/health`)).json()
    io.signal('SIGTERM')

    expect(await stopped).toBe(0)
    expect(health).toMatchObject({ status: 'healthy', agent_name: 'parrot' })
    expect(
      io
        .printed()
        .replaceAll(url, 'URL')
        .replace(/\(\d+\.\d s\)/, '(N s)')
        .replace(/ \d+\.\d+\.\d+ /, ' V '),
    ).toBe(
      `Quarterdeck V is ready (N s)

  Open        ${url.replace('127.0.0.1', 'localhost')}/console
  API docs    URL/docs

  Agent       parrot: demo/demo
  AG-UI       URL/
  CopilotKit  URL/copilotkit  (as runtimeUrl)
  Sessions    URL/sessions/{id}/messages
  Health      URL/health
  Data        ${join(cwd, '.quarterdeck')}

  The built-in demo model answers. It is not a language model.
  For a real one, set OPENAI_API_KEY and \`model: { provider: openai, name: gpt-5-mini }\`, for example.

  Talk to it:  quarterdeck chat URL
  Stop it:     Ctrl-C

`,
    )
    expect(io.complained()).toBe('Stopping.\n')
    await expect(fetch(`${url}/health`)).rejects.toThrow()
  })

  test('writes only JSON to standard error if a program reads it', async () => {
    const io = serverIo({ cwd: await tempFolder() })
    const { start } = fakeApp('http://192.0.2.1:8000', null)
    const stopped = serve({ files: [], flags: { host: '192.0.2.1' } }, '1.2.3', start, io)
    await io.until('Ctrl-C')
    io.warn('DeprecationWarning: old')
    io.signal('SIGINT')
    await stopped

    const lines = io
      .complained()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ['warn', expect.stringContaining('Other machines can reach 192.0.2.1')],
      ['info', 'ready'],
      ['warn', 'DeprecationWarning: old'],
      ['info', 'Stopping.'],
    ])
  })

  test('a port in use: exit 69, with the process and a free port', async () => {
    const cwd = await tempFolder()
    const port = await takePort()
    const io = serverIo({ cwd })

    expect(await main(['serve', '--port', String(port), '--log-level', 'silent'], io)).toBe(69)

    const who = process.platform === 'linux' ? `.+ \\(pid ${process.pid}\\)` : 'another process'
    expect(io.complained()).toMatch(
      new RegExp(
        `^quarterdeck: Port ${port} on 127\\.0\\.0\\.1 is in use by ${who}\\.\\n {2}This port is free: --port \\d+\\n$`,
      ),
    )
    expect(io.printed()).toBe('')
    lockDataDir(join(cwd, '.config', 'data')).release()
  })

  test('a data directory in use: exit 73', async () => {
    const cwd = await tempFolder()
    const lock = lockDataDir(join(cwd, '.config', 'data'))
    onTestFinished(() => lock.release())
    const io = serverIo({ cwd })

    expect(await main(['serve', '--port', '0'], io)).toBe(73)
    expect(io.complained()).toContain(`Another Quarterdeck uses the data directory ${join(cwd, '.config', 'data')}.`)
  })

  test('reports all mistakes in files and flags together: exit 2', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'agent.yaml'), 'name: parrot\nmodell: demo\n')
    const io = serverIo({ cwd })

    expect(await main(['serve', '--port', 'eighty'], io)).toBe(2)

    expect(io.complained()).toMatch(/^quarterdeck: The configuration has \d+ problems:\n/)
    expect(io.complained()).toContain('--port: expected')
    expect(io.complained()).toContain('agent.yaml:2:1 modell: unknown key. Did you mean model?')
  })

  test('says where in the files a start’s problem is, as validate does: exit 2', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'tools.mjs'), 'export const other = 1\n')
    const agent =
      'name: parrot\nmodel: { provider: demo }\ninstructions: Hi.\ntools:\n  - { type: function, name: order, file: tools.mjs }\n'
    await writeFile(join(cwd, 'agent.yaml'), agent)
    const said = async (command: string[]) => {
      const io = serverIo({ cwd })
      expect(await main(command, io)).toBe(2)
      return (io.printed() + io.complained()).split('\n')[0]?.replace('quarterdeck: ', '')
    }

    const validated = await said(['validate'])
    expect(validated).toMatch(/agent\.yaml:5:5 tools\[0\]: .*there is no export order/)
    expect(await said(['serve', '--port', '0', '--log-level', 'silent'])).toBe(validated)
  })

  test('shows one new token, and how to make others where talking needs one', async () => {
    const cwd = await tempFolder()
    const show = async (made: string | null, host: string) => {
      const io = serverIo({ cwd })
      const { start } = fakeApp('http://192.0.2.1:8000', made)
      const stopped = serve({ files: [], flags: { host } }, '1.2.3', start, io)
      await io.until('Ctrl-C')
      io.signal('SIGINT')
      await stopped
      return io
    }

    const first = await show('qd_operator', '192.0.2.1')
    expect(first.printed()).toContain('  AG-UI       http://192.0.2.1:8000/\n')
    expect(first.printed()).toContain(`
  The operator’s token. You decide with it outside the console, and it is not shown again:
    qd_operator
  Talking needs a token too: this one, or for those who only talk: quarterdeck tokens create --role user --data-dir .config/data
`)
    expect(first.complained()).toContain('Other machines can reach 192.0.2.1, and TLS is off')
    const local = (await show('qd_operator', '127.0.0.1')).printed()
    expect(local).toContain('    qd_operator\n\n')
    expect(local).not.toContain('code=')
    expect((await show(null, '192.0.2.1')).printed()).not.toContain('token')
  })

  test('prints the address of the console, with a one-time code only at a terminal', async () => {
    const cwd = await tempFolder()
    const shown = async (url: string, terminal: boolean, yaml = '') => {
      await writeFile(join(cwd, 'quarterdeck.yaml'), yaml)
      const io = serverIo({ cwd, terminal, env: { NO_COLOR: '1' } })
      const { start } = fakeApp(url, null)
      const { hostname } = new URL(url)
      const stopped = serve({ files: [], flags: { host: hostname } }, '1.2.3', start, io)
      await io.until('Ctrl-C')
      io.signal('SIGINT')
      await stopped
      return /Open +(.+)/.exec(io.printed())?.[1]
    }

    expect(await shown('http://127.0.0.1:8000', true)).toBe('http://localhost:8000/console#code=one-time-code')
    expect(await shown('http://127.0.0.1:8000', false)).toBe('http://localhost:8000/console')
    expect(await shown('http://127.0.0.1:8000/base', true)).toBe(
      'http://localhost:8000/base/console#code=one-time-code',
    )
    expect(await shown('http://192.0.2.1:8000', false)).toBe('http://192.0.2.1:8000/console')
    expect(await shown('http://192.0.2.1:8000', false, 'public_url: https://agents.example.com\n')).toBe(
      'https://agents.example.com/console',
    )
  })

  test('Enter prints a new link at a terminal, and only there', async () => {
    const links = async (terminal: boolean) => {
      const io = serverIo({ cwd: await tempFolder(), terminal, env: { NO_COLOR: '1' } })
      const { start } = fakeApp('http://127.0.0.1:8000', null)
      const stopped = serve({ files: [], flags: {} }, '1.2.3', start, io)
      await io.until('Ctrl-C')
      const printed = io.printed().length
      io.pressEnter()
      io.pressEnter()
      if (terminal) await io.until('  Open  ')
      io.signal('SIGINT')
      await stopped
      io.pressEnter()
      return [io.printed().includes('Enter prints a new link'), io.printed().slice(printed)]
    }

    expect(await links(true)).toEqual([true, '  Open  http://localhost:8000/console#code=one-time-code\n'])
    expect(await links(false)).toEqual([false, ''])
  })

  test('--open opens the console, and shows no code in the list of processes', async () => {
    const cwd = await tempFolder()
    const opened = async (flags: Parameters<typeof serve>[0]['flags']) => {
      const io = serverIo({ cwd })
      const { start } = fakeApp('http://127.0.0.1:8000', 'qd_secret')
      const stopped = serve({ files: [], flags }, '1.2.3', start, io)
      await io.until('Ctrl-C')
      io.signal('SIGINT')
      await stopped
      return io.opened
    }

    expect(await opened({})).toEqual([])
    expect(await opened({ open: true })).toEqual(['http://localhost:8000/console'])
    expect(await opened({ open: true, 'auth.mode': 'token' })).toEqual(['http://localhost:8000/console'])
  })

  test('flags win over the environment, and both over .env and quarterdeck.yaml', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'quarterdeck.yaml'), 'port: 1111\nlimits: { queue: 3, active_runs: 7 }\n')
    await writeFile(join(cwd, '.env'), 'QUARTERDECK_PORT=2222\nQUARTERDECK_LIMITS_QUEUE=4\n')
    const io = serverIo({ cwd, env: { QUARTERDECK_PORT: '3333' } })
    const { start, started } = fakeApp('http://127.0.0.1:8000', null)

    const stopped = serve({ files: [], flags: { host: 'localhost' } }, '1.2.3', start, io)
    await io.until('Ctrl-C')
    io.signal('SIGINT')
    await stopped

    expect(started[0]?.[0].settings).toMatchObject({
      host: 'localhost',
      port: 3333,
      limits: { queue: 4, activeRuns: 7 },
      dataDir: join(cwd, '.quarterdeck'),
    })
  })
})
