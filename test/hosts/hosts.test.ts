import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Host, hosts, programOf } from './hosts.ts'
import { hasTmux, openYard, processesOf, type Yard } from './run-host.ts'
import { once, type Step } from './scripted-model.ts'
import type { Decision } from './supervisor.ts'

for (const host of hosts) {
  const isThere = programOf(host) !== null
  if (!isThere) process.stdout.write(`SKIPPED: ${host.name} ${host.version} is not installed on this machine.\n`)
  describe.runIf(isThere)(`${host.name} ${host.version}`, () => tests(host))
}

function tests(host: Host): void {
  const writes = once(host.shell('echo proposed > out.txt'))
  const beats = once({ call: host.ownTool('heartbeat'), input: { status_message: 'I am here.' } })

  test.each([
    ['through the bridge', []],
    ['over HTTP', ['--http']],
  ])('finds our tools and calls one, %s', async (_, connectArgs) => {
    await using yard = await openYard(host, { connectArgs })

    const { results, tools } = await yard.run(beats)

    expect(tools).toEqual(expect.arrayContaining(OUR_TOOLS.map(host.ownTool)))
    expect(results).toEqual([expect.stringMatching(/acknowledged\\*":\s*true/)])
  })

  test('acts after a yes', async () => {
    await using yard = await openYard(host)

    const running = await yard.start(writes)
    const asked = await yard.supervisor.decide({ decision: 'approve' })
    await running.ended

    expect(asked).toMatchObject({ kind: 'permission', arguments: { command: 'echo proposed > out.txt' } })
    expect(yard.read('out.txt')).toBe('proposed\n')
  })

  test('does nothing after a no, and the model reads why', async () => {
    await using yard = await openYard(host)

    const running = await yard.start(writes)
    await yard.supervisor.decide({ decision: 'reject', reason: 'Not on a Friday.' })
    const { results } = await running.ended

    expect(results).toEqual([expect.stringContaining('Not on a Friday.')])
    expect(yard.read('out.txt')).toBeNull()
  })

  // Codex hears no allow, and Gemini CLI judges by its own policy before it asks.
  const denied = { claude: ['--disallowedTools', 'Bash(ls *)'], copilot: ['--deny-tool', 'shell(ls)'] }
  test.runIf(host.name in denied)('keeps to the rules of its user where nobody is asked', async () => {
    await using yard = await openYard(host)

    const args = Object.entries(denied).find(([name]) => name === host.name)?.[1] ?? []
    const { results } = await yard.run(once(host.shell('ls src')), { args })

    expect(results).toEqual([expect.stringMatching(/denied/)])
  })

  test('does what the person changed it to, and the model is told so', async () => {
    await using yard = await openYard(host)

    const running = await yard.start(writes)
    await yard.supervisor.decide((asked) => ({
      decision: 'approve',
      arguments: host.changed(asked.arguments, 'echo edited > out.txt'),
    }))
    const { lastRequest } = await running.ended

    expect(yard.read('out.txt')).toBe('edited\n')
    // Gemini CLI takes no note from a hook before the call, and says so by itself.
    const told =
      host.name === 'gemini'
        ? /Tool input parameters were modified by a hook before execution/
        : /A person changed the arguments of this call.*echo edited > out\.txt/
    expect(lastRequest).toMatch(told)
  })

  test('asks for a change with our tools, and the server writes it after a yes', async () => {
    await using yard = await openYard(host)

    const running = await yard.start(proposes(host))
    const asked = await yard.supervisor.decide({ decision: 'approve' })
    const { results } = await running.ended

    expect(asked).toMatchObject({ kind: 'diff', tool: 'ask_approval' })
    expect(results).toEqual([
      expect.stringMatching(/status\\*":\s*\\*"approved/),
      expect.stringMatching(/status\\*":\s*\\*"applied/),
    ])
    expect(yard.read('notes.txt')).toBe('proposed\n')
    expect(await yard.supervisor.approvals()).toMatchObject([{ status: 'consumed' }])
  })

  test('ends its session with itself', async () => {
    await using yard = await openYard(host)

    const running = await yard.start(writes)
    const { session_id } = await yard.supervisor.decide({ decision: 'approve' })
    expect((await yard.supervisor.session(session_id)).supervision).toMatchObject({ status: 'active' })
    await running.ended

    await expect
      .poll(async () => (await yard.supervisor.session(session_id)).supervision.status, { timeout: 30_000 })
      .toBe('terminated')
  })

  describe('is refused everything', () => {
    const refused = [expect.stringContaining('Quarterdeck could not be asked')]
    /** Only when the host works: when it starts, the bridge would start a server, and Copilot CLI waits as long as for a tool. */
    const trouble = async (yard: Yard, begin: () => Promise<void> | void) => {
      const { results } = await yard.run(async (given) => {
        if (given.length === 0) await begin()
        return writes(given)
      })
      return { results, out: yard.read('out.txt') }
    }

    test('while the server is dead', async () => {
      await using yard = await openYard(host)

      expect(await trouble(yard, () => yard.supervisor.kill())).toEqual({ results: refused, out: null })
    })

    test('while the server hangs', async () => {
      await using yard = await openYard(host)

      expect(await trouble(yard, () => yard.supervisor.freeze())).toEqual({ results: refused, out: null })
    })

    test('while the server answers 500', async () => {
      await using yard = await openYard(host)

      expect(await trouble(yard, () => yard.supervisor.breakDown())).toEqual({ results: refused, out: null })
    })

    test('when the program of the hook is gone', async () => {
      await using yard = await openYard(host)
      const { home } = yard
      for (const name of [
        '.claude/settings.json',
        '.codex/hooks.json',
        '.copilot/settings.json',
        '.gemini/settings.json',
      ]) {
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

  test('goes on after the server was killed while its hook waited, and came back elsewhere', async () => {
    await using yard = await openYard(host)

    const running = await yard.start(writes)
    const { approval_id } = await yard.supervisor.question()
    await yard.supervisor.kill()
    await yard.supervisor.restart()
    await yard.supervisor.decide({ decision: 'approve' })
    await running.ended

    expect(yard.read('out.txt')).toBe('proposed\n')
    expect(await yard.supervisor.approvals()).toMatchObject([{ approval_id, status: 'consumed' }])
  })

  describe.each([
    ['through the bridge', []],
    ['over HTTP', ['--http']],
  ])('%s', (_, connectArgs) => {
    test.each(['stop', 'kill'] as const)('has no call left open when the server restarts: %s', async (how) => {
      await using yard = await openYard(host, { connectArgs })
      const { supervisor } = yard
      const isAnswered = (text: string) => /acknowledged\\*":\s*true/.test(text)
      let isBack = false
      let restarting: Promise<void> | null = null

      // The calls go on while the server goes and comes back. The last three come after it.
      const { results } = await yard.run((given) => {
        if (given.length === 2) {
          restarting ??= supervisor[how]()
            .then(() => supervisor.restart({ atSamePort: true }))
            .then(() => {
              isBack = true
            })
        }
        if (isBack && given.slice(-3).every(isAnswered)) return undefined
        return { call: host.ownTool('heartbeat'), input: { status_message: `Beat ${given.length}.` } }
      })
      await restarting

      expect(results.slice(-3).filter((one) => !isAnswered(one))).toEqual([])
      expect(await supervisor.get('/sessions?kind=supervised&limit=100')).toHaveLength(1)
    })
  })

  test('asks again after the server was killed while its tool waited, and gets the answer to the same question', async () => {
    await using yard = await openYard(host)

    const back = Promise.withResolvers<void>()
    const running = await yard.start(proposes(host, back.promise))
    const { approval_id } = await yard.supervisor.question()
    await yard.supervisor.kill()
    await yard.supervisor.restart()
    back.resolve()
    await yard.supervisor.decide({ decision: 'approve' })
    const { results } = await running.ended

    expect(results.at(-1)).toMatch(/status\\*":\s*\\*"applied/)
    expect(yard.read('notes.txt')).toBe('proposed\n')
    expect(await yard.supervisor.approvals()).toMatchObject([{ approval_id, status: 'consumed' }])
  })

  test('that is killed while it waits has decided nothing, and the answer is kept', async () => {
    await using yard = await openYard(host)

    const running = await yard.start(writes)
    const { approval_id } = await yard.supervisor.question()
    running.kill()
    await running.ended
    await expect.poll(() => processesOf(yard), { timeout: 60_000 }).toEqual([])

    await expect
      .poll(() => yard.supervisor.approvals(), { timeout: 10_000 })
      .toMatchObject([{ approval_id, status: 'pending', nobody_waits_since: expect.any(String) }])
    await yard.supervisor.decide({ decision: 'approve' })
    expect(await yard.supervisor.approvals()).toMatchObject([{ approval_id, status: 'approved', consumed_at: null }])
    expect(yard.read('out.txt')).toBeNull()
  })

  test.each([
    ['through the bridge', []],
    ['over HTTP', ['--http']],
  ])('that is killed while our tool waits leaves a record for which nobody waits, %s', async (_, connectArgs) => {
    await using yard = await openYard(host, { connectArgs })

    const running = await yard.start(proposes(host))
    const { approval_id } = await yard.supervisor.question()
    running.kill()
    await running.ended

    // A bridge that outlives its host by a moment says goodbye for it, and what was pending is interrupted with it.
    const isOver = async () => {
      const [found] = await yard.supervisor.approvals()
      return found?.status === 'interrupted' || (found?.status === 'pending' && found.nobody_waits_since !== null)
    }
    await expect.poll(isOver, { timeout: 60_000 }).toBe(true)
    expect(await yard.supervisor.approvals()).toMatchObject([{ approval_id }])
  })

  test.runIf(host.name === 'claude' && hasTmux)(
    'says at its terminal where to answer, and Esc leaves a record for which nobody waits',
    async () => {
      await using yard = await openYard(host)
      await using terminal = await yard.terminal(writes)
      const { approval_id } = await yard.supervisor.question()

      await expect.poll(terminal.screen, { timeout: 60_000 }).toMatch(/answer in its console or in ctl/)
      terminal.press('Escape')

      await expect
        .poll(() => yard.supervisor.approvals(), { timeout: 60_000 })
        .toMatchObject([{ approval_id, status: 'pending', nobody_waits_since: expect.any(String) }])
      expect(yard.read('out.txt')).toBeNull()
    },
  )

  describe.runIf(host.name === 'claude')('with --permission-prompt-tool and without hooks', () => {
    const args = ['--permission-prompt-tool', host.ownTool('approve_tool')]
    const decided = async (decision: Decision) => {
      await using yard = await openYard(host)
      rmSync(join(yard.home, '.claude', 'settings.json'))
      const running = await yard.start(writes, { args, isFearless: false })
      const { tool_call_id } = await yard.supervisor.decide(decision)
      const { results } = await running.ended
      return { tool_call_id, results, out: yard.read('out.txt') }
    }

    test('acts after a yes', async () => {
      expect(await decided({ decision: 'approve' })).toMatchObject({ tool_call_id: 'toolu_turn-1', out: 'proposed\n' })
    })

    test('does nothing after a no, and the model reads why', async () => {
      const { results, out } = await decided({ decision: 'reject', reason: 'Not on a Friday.' })

      expect([results, out]).toEqual([[expect.stringContaining('Not on a Friday.')], null])
    })

    test('does what the person changed it to', async () => {
      const changed = { command: 'echo edited > out.txt', description: 'Write a file' }

      expect(await decided({ decision: 'approve', arguments: changed })).toMatchObject({ out: 'edited\n' })
    })

    test('does nothing while the server is dead', async () => {
      await using yard = await openYard(host)
      rmSync(join(yard.home, '.claude', 'settings.json'))

      await yard.run(
        async (given) => {
          if (given.length === 0) await yard.supervisor.kill()
          return writes(given)
        },
        { args, isFearless: false },
      )

      expect(yard.read('out.txt')).toBeNull()
    })
  })

  test.runIf(host.name === 'codex')(
    'does not run hooks that nobody has trusted: docs/do/connect-a-coding-agent.md says so',
    async () => {
      await using yard = await openYard(host)

      await yard.run(writes, { args: ['--dangerously-bypass-approvals-and-sandbox'], isFearless: false })

      expect(yard.read('out.txt')).toBe('proposed\n')
    },
  )
}

const OUR_TOOLS = [
  'ask_approval',
  'accept_diff',
  'approve_tool',
  'check_auto_approve',
  'forward_prompt',
  'remote_log',
  'recover_state',
  'set_operational_mode',
  'wait_for_instruction',
  'heartbeat',
]

/** Asks for a change, again when the server is back, and then has it written. */
function proposes(
  host: Host,
  back: Promise<void> = Promise.resolve(),
): (results: readonly string[]) => Promise<Step | undefined> {
  const ask = {
    call: host.ownTool('ask_approval'),
    input: { title: 'Take a note', file_path: 'notes.txt', diff: 'proposed\n' },
  }
  return async (results) => {
    const last = results.at(-1)
    if (last === undefined) return ask
    if (last.includes('operator_unreachable')) {
      // While there is no server, the hook refuses our own tools as well.
      await back
      return ask
    }
    const id = /request_id\\*":\s*\\*"([0-9a-f-]{36})/.exec(last)?.[1]
    if (/status\\*":\s*\\*"approved/.test(last) && id !== undefined) {
      return { call: host.ownTool('accept_diff'), input: { request_id: id } }
    }
    return undefined
  }
}
