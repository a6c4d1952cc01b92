import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { endTree } from './process-groups.ts'
import { groupsBelow, isSameProcess, markOf } from './process-table.ts'
import { isRunning } from './testing/is-running.ts'

describe('the process table', () => {
  test('knows a process by its start, not only by its number', () => {
    const mark = markOf(process.pid)
    expect(mark).toEqual({ pid: process.pid, started: expect.stringMatching(/./) })
    expect(markOf(process.pid)).toEqual(mark)
    expect(isSameProcess({ pid: process.pid, started: 'another time' })).toBe(false)
    expect(markOf(2 ** 22 + 1)).toBe(null)
  })

  test.runIf(process.platform === 'linux')('finds what left the group, and ending the tree ends it too', async () => {
    // `setsid` moves the inner shell to a session of its own, where no signal to the group reaches it.
    const child = spawn('/bin/sh', ['-c', 'setsid /bin/sh -c "echo \\$\\$; sleep 1000; :" & wait'], { detached: true })
    const [bytes] = await once(child.stdout, 'data')
    const inner = Number(String(bytes))
    const pid = child.pid ?? 0
    expect(groupsBelow(pid)).toEqual([inner])

    const gone = once(child, 'exit')
    await endTree(pid, { clock: createSystemClock(), termMs: 10_000, hasExited: () => child.exitCode !== null })
    await gone
    expect([pid, inner].map(isRunning)).toEqual([false, false])
  })
})
