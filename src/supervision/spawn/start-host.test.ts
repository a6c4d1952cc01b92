import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { isRunning } from '../../tools/process/testing/is-running.ts'
import { findSandbox } from './sandbox.ts'
import { resolveHost, startHost } from './start-host.ts'
import { spawnPlaces } from './testing/spawn-places.ts'

const read = (path: string) => readFileSync(path, 'utf8')

const REPORT = `cat > prompt; cp "$2" config.json; stat -c %a "$2" > mode; env > env; echo "args $#"; echo "token $QUARTERDECK_AGENT_TOKEN" >&2`

describe('a started host', () => {
  test('gets its prompt by stdin, our server in a private file, and a scrubbed environment', async () => {
    const { at, deps, request, lines } = spawnPlaces(REPORT)
    const host = startHost(request, deps)
    expect(await host.gone).toEqual({
      how: 'finished',
      end: { kind: 'exit', code: 0 },
      lastWords: 'token [masked]',
      respawns: 0,
    })

    expect(read(at('shop/prompt'))).toBe('Do it.')
    expect(JSON.parse(read(at('shop/config.json')))).toEqual({
      mcpServers: {
        quarterdeck: {
          type: 'http',
          url: request.mcpUrl,
          headers: { Authorization: 'Bearer qd_secret-of-the-agent' },
        },
      },
    })
    expect(read(at('shop/mode')).trim()).toBe('600')
    const names = read(at('shop/env'))
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0] ?? '')
    expect(names.filter((name) => !['_', 'PWD', 'OLDPWD', 'SHLVL'].includes(name)).toSorted()).toEqual([
      'HOME',
      'PATH',
      'QUARTERDECK_AGENT_TOKEN',
      'QUARTERDECK_MCP_URL',
      'QUARTERDECK_SESSION_ID',
      'QUARTERDECK_WORKSPACE_ROOT',
    ])
    expect(lines.toSorted((a, b) => a.text.localeCompare(b.text))).toEqual([
      { stream: 'stdout', text: 'args 2' },
      { stream: 'stderr', text: 'token [masked]' },
    ])
  })

  test('leaves no configuration and no record, and its output is kept without the token', async () => {
    const { at, deps, request } = spawnPlaces(REPORT)
    const host = startHost(request, deps)
    await host.gone
    expect([readdirSync(at('run/hosts')), existsSync(at('data/hosts/01SESSION.json'))]).toEqual([[], false])
    expect(read(host.outputPath).split('\n').toSorted()).toEqual(['', 'args 2', 'token [masked]'])
    expect(statSync(host.outputPath).mode & 0o777).toBe(0o600)
  })

  test('never has its prompt on the command line', async () => {
    const { deps, request, printed } = spawnPlaces('cat > prompt; echo up; exec sleep 1000')
    const host = startHost({ ...request, prompt: 'secret plan' }, deps)
    await printed('up')
    const commandLine = process.platform === 'linux' ? read(`/proc/${host.pid}/cmdline`) : ''
    await host.terminate()
    expect(commandLine).not.toContain('secret plan')
  })

  test('that is told to end gets 5 s, then its whole tree is killed, and it does not start again', async () => {
    const clock = createManualClock()
    const { deps, request, printed, lines, respawns } = spawnPlaces(
      `trap '' TERM; sleep 1000 & echo "pids $$ $!"; while :; do wait; done`,
      { clock },
    )
    const host = startHost(request, deps)
    await printed('pids')
    const pids = (lines[0]?.text ?? '').split(' ').slice(1).map(Number)
    let isGone = false
    const ending = host.terminate().then(() => {
      isGone = true
    })
    await clock.advance(4_980)
    expect(pids.map(isRunning)).toEqual([true, true])
    while (!isGone) await clock.advance(20)
    await ending
    // Whoever adopted its child may not have noticed yet that it is dead.
    await expect.poll(() => pids.map(isRunning), { timeout: 60_000 }).toEqual([false, false])
    expect([await host.gone, respawns]).toEqual([
      { how: 'terminated', end: { kind: 'signal', signal: 'SIGKILL' }, lastWords: null, respawns: 0 },
      [],
    ])
  })

  test('that crashes starts again three times, knows that it did, and then gives up', async () => {
    const clock = createManualClock()
    const { at, deps, request, respawns } = spawnPlaces(
      'cat >> prompts; echo "|" >> prompts; echo "url is not supported" >&2; exit 3',
      { clock },
    )
    const host = startHost(request, deps)
    let isGone = false
    void host.gone.then(() => {
      isGone = true
    })
    while (!isGone) await clock.advance(500)
    expect([await host.gone, respawns]).toEqual([
      { how: 'crashed', end: { kind: 'exit', code: 3 }, lastWords: 'url is not supported', respawns: 3 },
      [1_000, 5_000, 25_000],
    ])
    const prompts = read(at('shop/prompts')).split('|\n')
    expect([prompts[0], prompts.slice(1, 4).every((one) => /recover_state first.*\n\nDo it\.$/s.test(one))]).toEqual([
      'Do it.',
      true,
    ])
  })

  test('can be ended while it waits to start again', async () => {
    const clock = createManualClock()
    const { deps, request, respawns } = spawnPlaces('exit 1', { clock })
    const host = startHost(request, deps)
    while (respawns.length === 0) await clock.advance(0)
    await host.terminate()
    expect([await host.gone, host.pid]).toEqual([
      { how: 'terminated', end: { kind: 'exit', code: 1 }, lastWords: null, respawns: 0 },
      undefined,
    ])
  })

  test('that does not exist is not tried again', async () => {
    const { deps, request, respawns } = spawnPlaces('')
    const host = startHost({ ...request, program: '/no/such/agent' }, deps)
    expect([await host.gone, respawns]).toEqual([
      { how: 'not_started', end: { kind: 'not-started', code: 'ENOENT' }, lastWords: null, respawns: 0 },
      [],
    ])
  })

  test('that can take no configuration is refused before anything is written', () => {
    const { at, deps, request } = spawnPlaces('')
    expect(() => startHost({ ...request, extraArgs: ['--fast'] }, deps)).toThrow(/Add an argument with \{mcp_config\}/)
    expect([existsSync(at('run/hosts')), existsSync(at('data/hosts'))]).toEqual([false, false])
  })

  test('is found at the start of the server, and never in a workspace', () => {
    const { at } = spawnPlaces('')
    const search = { workspaces: [at('shop')], searchPath: at('bin') }
    expect(resolveHost('agent', search)).toMatchObject({ launcher: { name: 'custom' }, program: at('bin/agent') })
    expect(() => resolveHost(null, search)).toThrow(/set host_cli in quarterdeck.yaml/)
    expect(() => resolveHost('agent', { ...search, workspaces: [at('bin')] })).toThrow(
      /^host_cli: agent is .* which an agent can change/,
    )
  })
})

const bubblewrap = await findSandbox(existsSync('/usr/bin/bwrap') ? '/usr/bin/bwrap' : null)
// A sandbox has a temporary folder of its own, so a program or checkout below ours cannot be reached in it.
const isHidden = [process.execPath, import.meta.dirname].some((path) => path.startsWith('/tmp/'))
const sandbox = isHidden ? { found: null, why: 'this checkout is in the temporary folder' } : bubblewrap

describe('a sandbox', () => {
  test.skipIf(sandbox.found === null)(
    `hides what guards the agent, and only its workspace is writable${sandbox.found === null ? ` (skipped: ${sandbox.why})` : ''}`,
    async () => {
      // Not below the temporary folder, of which a sandbox has its own.
      const base = join(import.meta.dirname, '../../../node_modules/.cache')
      mkdirSync(base, { recursive: true })
      const script = `
cat > prompt
ls -A "$HOME/../config" "$HOME/../data"
ls -A "$HOME/../run/hosts"
cat "$2" > /dev/null && echo config
echo x 2>/dev/null > "$2" || echo read-only config
touch "$HOME/.bashrc" 2>/dev/null || echo read-only home
touch "$HOME/.cache/x" && echo cache
ls -A /tmp | wc -l | tr -d ' '
kill -0 ${process.pid} 2>/dev/null || echo alone`
      const { at, deps, request, lines } = spawnPlaces(script, { base })
      writeFileSync(at('config/tokens.json'), 'secret')
      writeFileSync(at('data/quarterdeck.db'), 'secret')
      const host = startHost({ ...request, sandbox: sandbox.found }, deps)
      expect(await host.gone).toEqual({ how: 'finished', end: { kind: 'exit', code: 0 }, lastWords: null, respawns: 0 })
      expect([read(at('shop/prompt')), lines.map(({ text }) => text)]).toEqual([
        'Do it.',
        [
          `${at('home')}/../config:`,
          '',
          `${at('home')}/../data:`,
          '01SESSION',
          'config',
          'read-only config',
          'read-only home',
          'cache',
          '0',
          'alone',
        ],
      ])
      expect(read(at('config/tokens.json'))).toBe('secret')
    },
  )

  test('that does not work says why', async () => {
    expect(await findSandbox(null)).toEqual({ found: null, why: expect.stringMatching(/bubblewrap/) })
    expect(await findSandbox('/bin/false')).toEqual({ found: null, why: expect.stringMatching(/bubblewrap/) })
  })
})
