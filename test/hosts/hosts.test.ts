import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { HookVerdict } from '../../src/supervision/hooks/hook-desk.ts'
import { type Host, hosts, programOf } from './hosts.ts'
import { openYard } from './run-host.ts'
import { once } from './scripted-model.ts'

for (const host of hosts) {
  const isThere = programOf(host) !== null
  if (!isThere) process.stdout.write(`SKIPPED: ${host.name} ${host.version} is not installed on this machine.\n`)
  describe.runIf(isThere)(`${host.name} ${host.version}`, () => tests(host))
}

function tests(host: Host): void {
  const writes = once(host.shell('echo proposed > out.txt'))

  test('finds our tools and calls one', async () => {
    await using yard = await openYard(host)

    const { results, tools } = await yard.run(
      once({ call: host.ownTool('heartbeat'), input: { status_message: 'I am here.' } }),
    )

    expect(tools).toContain(host.ownTool('heartbeat'))
    expect(results).toEqual([expect.stringContaining('"acknowledged":true')])
  })

  test('acts after a yes', async () => {
    await using yard = await openYard(host)

    const running = await yard.start(writes)
    const asked = await yard.supervisor.decide({ behavior: 'allow' })
    await running.ended

    expect(asked.input).toMatchObject({ command: 'echo proposed > out.txt' })
    expect(yard.read('out.txt')).toBe('proposed\n')
  })

  test('does nothing after a no, and the model reads why', async () => {
    await using yard = await openYard(host)

    const running = await yard.start(writes)
    await yard.supervisor.decide({ behavior: 'deny', message: 'Not on a Friday.' })
    const { results } = await running.ended

    expect(results).toEqual([expect.stringContaining('Not on a Friday.')])
    expect(yard.read('out.txt')).toBeNull()
  })

  test('does what the person changed it to', async () => {
    await using yard = await openYard(host)

    const running = await yard.start(writes)
    await yard.supervisor.decide(({ input }) => ({
      behavior: 'allow',
      updatedInput: host.changed(input, 'echo edited > out.txt'),
    }))
    await running.ended

    expect(yard.read('out.txt')).toBe('edited\n')
  })

  test('tells when its session starts, stops and ends', async () => {
    await using yard = await openYard(host)

    await yard.run(() => undefined)
    const { notices } = await yard.supervisor.look()

    expect(notices.map(({ event, reason }) => (reason === 'stop' ? reason : event))).toEqual([
      'session_start',
      'stop',
      'session_end',
    ])
    expect(new Set(notices.map(({ hostSessionId }) => hostSessionId)).size).toBe(1)
  })

  describe('is refused everything', () => {
    const refused = [expect.stringContaining('Quarterdeck could not be asked')]

    test('while the server is dead', async () => {
      await using yard = await openYard(host)
      await yard.supervisor.kill()

      expect((await yard.run(writes)).results).toEqual(refused)
      expect(yard.read('out.txt')).toBeNull()
    })

    test('while the server hangs', async () => {
      await using yard = await openYard(host)
      // Only now: at its start, Copilot CLI waits for the MCP server as long as for a tool.
      const { results } = await yard.run((given) => {
        if (given.length === 0) yard.supervisor.freeze()
        return writes(given)
      })

      expect(results).toEqual(refused)
      expect(yard.read('out.txt')).toBeNull()
    })

    test('while the server answers 500', async () => {
      await using yard = await openYard(host)
      await yard.supervisor.breakDown()

      expect((await yard.run(writes)).results).toEqual(refused)
      expect(yard.read('out.txt')).toBeNull()
    })

    test('when the program of the hook is gone', async () => {
      await using yard = await openYard(host)
      const { home } = yard
      for (const name of ['.claude/settings.json', '.codex/hooks.json', '.copilot/settings.json']) {
        if (!name.startsWith(`.${host.name}/`)) continue
        const text = readFileSync(join(home, name), 'utf8')
        writeFileSync(join(home, name), text.replaceAll('bin/quarterdeck.js', 'bin/gone-quarterdeck.js'))
      }

      // Copilot CLI does not show the model what the hook wrote.
      const { results } = await yard.run(writes)
      expect(results).toEqual([expect.stringMatching(/Quarterdeck could not be asked|hook (exited|errored)/)])
      expect(yard.read('out.txt')).toBeNull()
    })
  })

  test('goes on after the server was killed while it waited, and came back', async () => {
    await using yard = await openYard(host)

    const running = await yard.start(writes)
    await yard.supervisor.question()
    await yard.supervisor.kill()
    await yard.supervisor.restart()
    await yard.supervisor.decide({ behavior: 'allow' })
    await running.ended

    expect(yard.read('out.txt')).toBe('proposed\n')
  })

  test('that is killed while it waits has decided nothing', async () => {
    await using yard = await openYard(host)

    const running = await yard.start(writes)
    const { id } = await yard.supervisor.question()
    running.kill()
    await running.ended

    await expect
      .poll(async () => (await yard.supervisor.look()).waiting, { timeout: 30_000 })
      .toEqual([expect.objectContaining({ id, isAlone: true })])
    expect(yard.read('out.txt')).toBeNull()
  })

  describe.runIf(host.name === 'claude')('with --permission-prompt-tool and without hooks', () => {
    const args = ['--permission-prompt-tool', host.ownTool('approve_tool')]
    const decided = async (verdict: HookVerdict) => {
      await using yard = await openYard(host)
      rmSync(join(yard.home, '.claude', 'settings.json'))
      const running = await yard.start(writes, { args, isFearless: false })
      const { toolUseId } = await yard.supervisor.decide(verdict)
      const { results } = await running.ended
      return { toolUseId, results, out: yard.read('out.txt') }
    }

    test('acts after a yes', async () => {
      expect(await decided({ behavior: 'allow' })).toMatchObject({ toolUseId: 'toolu_turn-1', out: 'proposed\n' })
    })

    test('does nothing after a no, and the model reads why', async () => {
      const { results, out } = await decided({ behavior: 'deny', message: 'Not on a Friday.' })

      expect([results, out]).toEqual([[expect.stringContaining('Not on a Friday.')], null])
    })

    test('does what the person changed it to', async () => {
      const updatedInput = { command: 'echo edited > out.txt', description: 'Write a file' }

      expect(await decided({ behavior: 'allow', updatedInput })).toMatchObject({ out: 'edited\n' })
    })

    test('does nothing while the server is dead', async () => {
      await using yard = await openYard(host)
      rmSync(join(yard.home, '.claude', 'settings.json'))
      await yard.supervisor.kill()

      await yard.run(writes, { args, isFearless: false })

      expect(yard.read('out.txt')).toBeNull()
    })
  })

  test.runIf(host.name === 'codex')('does not run hooks that nobody has trusted: docs/hosts.md says so', async () => {
    await using yard = await openYard(host)

    await yard.run(writes, { args: ['--dangerously-bypass-approvals-and-sandbox'], isFearless: false })

    expect(yard.read('out.txt')).toBe('proposed\n')
  })
}
