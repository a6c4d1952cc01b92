import { EventEmitter } from 'node:events'
import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { createProcessGroups } from '../../tools/process/process-groups.ts'
import { isRunning } from '../../tools/process/testing/is-running.ts'
import { type CommandResult, commandEnvironment, type OutputPiece, runCommand } from './run-command.ts'

const cwd = realpathSync(tmpdir())

function start(
  script: string,
  options: { clock?: ReturnType<typeof createManualClock>; signal?: AbortSignal; args?: string[] } = {},
) {
  const clock = options.clock ?? createSystemClock()
  const pieces: OutputPiece[] = []
  const first = Promise.withResolvers<string>()
  const done = runCommand(
    {
      command: { alias: 'x', argv: ['sh', '-c', script, 'sh', ...(options.args ?? [])], program: '/bin/sh' },
      cwd,
      environment: { PATH: '/usr/bin:/bin' },
    },
    {
      clock,
      processes: createProcessGroups({ clock, process: new EventEmitter() }),
      onOutput(piece) {
        pieces.push(piece)
        first.resolve(piece.text)
      },
      signal: options.signal ?? new AbortController().signal,
    },
  )
  return { done, pieces, first: first.promise }
}

/** Lets time pass until the command is gone. */
async function whileTimePasses(clock: ReturnType<typeof createManualClock>, done: Promise<CommandResult>) {
  let result: CommandResult | null = null
  void done.then((one) => {
    result = one
  })
  while (result === null) await clock.advance(20)
  return done
}

describe('a command', () => {
  test('runs in its folder, without input, and tells how it ended', async () => {
    const { done, pieces } = start('pwd; cat; echo oops >&2; exit 3')
    expect(await done).toEqual({
      ended: 'exit',
      exitCode: 3,
      signal: null,
      durationMs: expect.any(Number),
      output: expect.stringContaining(cwd),
      droppedBytes: 0,
      problem: null,
    })
    expect(pieces).toContainEqual({ stream: 'stderr', text: 'oops\n' })
  })

  test('gets its arguments as they are written', async () => {
    const { done } = start('printf "%s|" "$@"', { args: ['a b', '$HOME', '*', '', '"'] })
    expect((await done).output).toBe('a b|$HOME|*||"|')
  })

  test('may write as much as it likes, but 64 KB are kept and the rest is counted', async () => {
    const { done, pieces } = start(
      'i=0; while [ $i -lt 3000 ]; do echo "ééééééééééééééééééééééééééé$i"; i=$((i+1)); done',
    )
    const { output, droppedBytes, exitCode } = await done
    const [kept = ''] = output.split(/\n?\[\d+ more bytes/)
    const total = Array.from({ length: 3000 }, (_, i) => 55 + String(i).length).reduce((a, b) => a + b)
    expect([
      exitCode,
      droppedBytes,
      output.endsWith(`[${total - 65_536} more bytes of output were not kept]\n`),
    ]).toEqual([0, total - 65_536, true])
    expect(kept).not.toContain('\ufffd')
    expect(Buffer.byteLength(pieces.map(({ text }) => text).join(''))).toBeLessThanOrEqual(65_536)
    expect(Math.max(...pieces.map(({ text }) => text.length))).toBeLessThanOrEqual(8_192)
  })

  test('is ended after 60 s with everything it has started, even if that ignores SIGTERM', async () => {
    const clock = createManualClock()
    const { done, first } = start(`trap '' TERM; sleep 1000 & echo $$ $!; wait; wait`, { clock })
    const pids = (await first).trim().split(' ').map(Number)
    await clock.advance(59_999)
    expect(pids.map(isRunning)).toEqual([true, true])
    await clock.advance(1)
    expect(await whileTimePasses(clock, done)).toMatchObject({
      ended: 'timeout',
      exitCode: null,
      signal: 'SIGKILL',
      problem: 'It took longer than 60 s and was ended.',
    })
    expect(pids.map(isRunning)).toEqual([false, false])
  })

  test('is ended when somebody stops it', async () => {
    const stop = new AbortController()
    const { done, first } = start('echo go; exec sleep 1000', { signal: stop.signal })
    await first
    stop.abort()
    expect(await done).toMatchObject({ ended: 'stopped', signal: 'SIGTERM' })
    expect(await start('sleep 1000', { signal: AbortSignal.abort() }).done).toMatchObject({ ended: 'stopped' })
  })

  test('that cannot start says why', async () => {
    const clock = createSystemClock()
    const result = await runCommand(
      { command: { alias: 'x', argv: ['x'], program: '/no/such/program' }, cwd, environment: {} },
      {
        ...{ clock, processes: createProcessGroups({ clock, process: new EventEmitter() }), onOutput: () => {} },
        signal: new AbortController().signal,
      },
    )
    expect([result.ended, result.problem]).toEqual(['not_started', '/no/such/program could not be started (ENOENT).'])
  })

  test('gets no secret and nothing of ours, and finds no program of a workspace', () => {
    const ours = {
      PATH: `/ws/bin:bin:/usr/bin`,
      HOME: '/home/ada',
      LANG: 'C',
      TERM: 'xterm',
      OPENAI_API_KEY: 'sk-1',
      QUARTERDECK_OPERATOR_TOKEN: 'x',
    }
    expect(commandEnvironment(ours, 'linux', ['/ws'])).toEqual({
      PATH: '/usr/bin',
      HOME: '/home/ada',
      LANG: 'C',
      TERM: 'dumb',
      NO_COLOR: '1',
    })
  })
})
