import { execFile, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { readFileSync, readlinkSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { createProcessGroups, isLeftBehind, type ProcessGroup } from './process-groups.ts'
import { isRunning } from './testing/is-running.ts'

const clock = createSystemClock()
const testing = `${import.meta.dirname}/testing`
const onLinux = process.platform === 'linux'
/** These do not end when their input is closed. */
const stubborn = /stubborn|leave|setsid/
/** Prints the pid of a process in a session of its own, whose parent is gone at once. */
const daemon = '(setsid /bin/sh -c "echo \\$\\$; exec sleep 1000" &) ; read line'

function start(args: string[], command = process.execPath, host = new EventEmitter()): ProcessGroup {
  return createProcessGroups({ clock, process: host }).start({
    command,
    args,
    env: { ONLY: 'this' },
    directory: import.meta.dirname,
    // A machine that is busy takes its time.
    patience: { inputClosedMs: stubborn.test(args.join(' ')) ? 0 : 60_000 },
  })
}

async function pidsOf(group: ProcessGroup): Promise<number[]> {
  const [bytes] = await once(group.stdout, 'data')
  return String(bytes).trim().split(' ').map(Number)
}

describe('a process group', () => {
  test('a child that ends when its input closes needs no signal', async () => {
    const group = start(['-e', 'process.stdin.resume(); process.stdin.on("end", () => process.exit(7))'])
    await group.end()

    expect(await group.gone).toEqual({ kind: 'exit', code: 7 })
  })

  test('ending a child ends what it has started, even if both ignore SIGTERM', async () => {
    const group = start([`${testing}/family.ts`, 'stubborn'])
    const pids = await pidsOf(group)
    expect(pids.map(isRunning)).toEqual([true, true])

    await Promise.all([group.end(), group.end()])

    expect(pids.map(isRunning)).toEqual([false, false])
    expect(await group.gone).toEqual({ kind: 'signal', signal: 'SIGKILL' })
  })

  test('when a child exits, what it leaves behind is ended', async () => {
    const group = start([`${testing}/family.ts`, 'leave'])
    const pids = await pidsOf(group)

    expect(await group.gone).toEqual({ kind: 'exit', code: 3 })
    expect(pids.map(isRunning)).toEqual([false, false])
  })

  test('everything that a child wrote before it ended is read', async () => {
    const group = start(['-e', 'process.stdout.write("x".repeat(300_000)); process.exitCode = 1'])
    let size = 0
    group.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
    })

    expect(await group.gone).toEqual({ kind: 'exit', code: 1 })
    expect(size).toBe(300_000)
  })

  test('a child has only the environment that it is given', async () => {
    const group = start(['-e', 'process.stdout.write(JSON.stringify(process.env))'])
    const [bytes] = await once(group.stdout, 'data')
    await group.gone

    const sign = process.platform === 'linux' ? { QUARTERDECK_CHILD: expect.stringContaining(` ${process.pid} `) } : {}
    expect(JSON.parse(String(bytes))).toEqual({ ONLY: 'this', ...sign })
  })

  test('the group of a command that does not exist is gone', async () => {
    const group = start([], '/no/such/command')

    expect(await group.gone).toEqual({ kind: 'not-started', code: 'ENOENT' })
    await group.end()
  })

  test.runIf(onLinux)('ending a child ends what left its session and lost its parent', async () => {
    const group = start(['-c', daemon], '/bin/sh')
    const pids = await pidsOf(group)
    expect(pids.map(isRunning)).toEqual([true])

    await group.end()

    expect(pids.map(isRunning)).toEqual([false])
  })

  test.runIf(onLinux)('what a killed process of ours has left behind is found by the next one, and ended', async () => {
    const owner = spawn(process.execPath, [`${testing}/owner.ts`, 'wait', daemon])
    const exited = once(owner, 'exit')
    const [bytes] = await once(owner.stdout, 'data')
    const pids = String(bytes).trim().split(' ').map(Number)
    const groups = createProcessGroups({ clock, process: new EventEmitter() })
    // Its owner lives.
    await groups.endLeftBehind()
    expect(pids.map(isRunning)).toEqual([true])
    owner.kill('SIGKILL')
    await exited

    expect(await groups.endLeftBehind()).toBeGreaterThan(0)
    expect(pids.map(isRunning)).toEqual([false])
    const outliving = groups.start({
      ...{ command: '/bin/sleep', args: ['1000'], directory: '/', outlivesUs: true },
      env: { QUARTERDECK_CHILD: 'of another server' },
    })
    expect(readFileSync(`/proc/${outliving.pid}/environ`, 'utf8')).not.toContain('QUARTERDECK_CHILD')
    await outliving.end()
  })

  test.runIf(onLinux)('what a child of a killed server has started does not end what it runs in', () => {
    const sign = `one ${readlinkSync('/proc/self/ns/pid')} 0 never`

    expect([isLeftBehind(sign, undefined), isLeftBehind(sign, sign)]).toEqual([true, false])
  })

  test('listens for the end of our process only while there are children', async () => {
    const host = new EventEmitter()
    const group = start(['-e', 'process.stdin.resume()'], process.execPath, host)
    expect(host.listenerCount('exit')).toBe(1)
    await group.end()

    expect(host.listenerCount('exit')).toBe(0)
  })

  test.each(['exit', 'throw'])('no child outlives our process when it ends by %s', async (way) => {
    const run = promisify(execFile)(process.execPath, [`${testing}/owner.ts`, way])
    const { stdout } = await run.catch((error: { stdout: string }) => error)
    const pids = stdout.trim().split(' ').map(Number)

    expect(pids).toEqual([expect.any(Number), expect.any(Number)])
    await expect.poll(() => pids.map(isRunning)).toEqual([false, false])
  })
})
