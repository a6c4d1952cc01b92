// Child processes that do not outlive us. Each leads its own process group, so that ending it also ends whatever it has started.

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../domain/clock.ts'
import { groupsBelow, hasLiving } from './process-table.ts'

interface ChildCommand {
  command: string
  args: readonly string[]
  /** The child's whole environment. Nothing of ours is added. */
  env: Readonly<Record<string, string>>
  directory: string
  /** How patient `end` is. Left out: 300 ms after the input is closed, then 2 s after SIGTERM. */
  patience?: Partial<Patience>
}

export interface Patience {
  /** How long a child may take to end by itself after its input is closed. 0: it is asked at once. */
  inputClosedMs: number
  /** The time between SIGTERM and SIGKILL. */
  termMs: number
}

export interface ProcessGroup {
  /** Undefined when the child could not be started. `gone` says why. */
  readonly pid: number | undefined
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves when the child and its group are gone and what it wrote has been read. Never rejects. */
  readonly gone: Promise<ProcessEnd>
  /** Closes its input, asks the group to end, then kills it. Resolves when that is done. A second call waits for the first. */
  end(): Promise<void>
}

export type ProcessEnd =
  | { kind: 'exit'; code: number }
  | { kind: 'signal'; signal: string }
  /** `code` is the system's error code, such as ENOENT. */
  | { kind: 'not-started'; code: string }

export interface ProcessGroups {
  /** If the command cannot be started, `gone` of the group says so. Throws only for what a command line cannot hold, such as NUL. */
  start(command: ChildCommand): ProcessGroup
}

/** The part of `process` that reports when our own process ends. */
interface ProcessExit {
  on(event: 'exit', listener: () => void): unknown
  off(event: 'exit', listener: () => void): unknown
}

const PATIENCE: Patience = { inputClosedMs: 300, termMs: 2_000 }
/** Nothing survives SIGKILL, but outside Linux a zombie that nobody reaps still counts as a member of the group. */
const KILL_MS = 300
const POLL_MS = 20
const MAX_POLL_MS = 160

export function createProcessGroups(deps: { clock: Clock; process: ProcessExit }): ProcessGroups {
  const alive = new Set<ChildProcessWithoutNullStreams>()

  // Our process is ending, so there is no time for SIGTERM.
  const killAll = (): void => {
    for (const child of alive) signalTree(child.pid, groupsOf(child.pid), 'SIGKILL')
  }

  function remember(child: ChildProcessWithoutNullStreams): void {
    if (alive.size === 0) deps.process.on('exit', killAll)
    alive.add(child)
  }

  function forget(child: ChildProcessWithoutNullStreams): void {
    alive.delete(child)
    if (alive.size === 0) deps.process.off('exit', killAll)
  }

  return {
    start(command) {
      const child = spawn(command.command, command.args, {
        cwd: command.directory,
        env: { ...command.env },
        stdio: 'pipe',
        // On Windows this would open a console. There the whole tree is ended through its root.
        detached: !onWindows,
        windowsHide: true,
      })
      remember(child)
      // `gone` reports the end of the child. Errors of its pipes add nothing.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {})

      const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
      const exited = new Promise<ProcessEnd>((resolve) => {
        child.on('error', (error: NodeJS.ErrnoException) => {
          // The event also comes for a signal that could not be sent.
          if (child.pid === undefined) resolve({ kind: 'not-started', code: error.code ?? 'unknown' })
        })
        child.once('exit', (code, signal) =>
          resolve(signal === null ? { kind: 'exit', code: code ?? 0 } : { kind: 'signal', signal }),
        )
      })

      let ending: Promise<void> | undefined
      const end = (): Promise<void> => {
        ending ??= endChild(child, exited, deps.clock, { ...PATIENCE, ...command.patience }).finally(() =>
          forget(child),
        )
        return ending
      }

      const gone = exited.then(async (how) => {
        await end()
        // A process outside the group may still hold the pipes. Then what was not read by now is lost.
        await within(KILL_MS, closed, deps.clock)
        for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
        return how
      })

      return { pid: child.pid, stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, gone, end }
    },
  }
}

async function endChild(
  child: ChildProcessWithoutNullStreams,
  exited: Promise<unknown>,
  clock: Clock,
  { inputClosedMs, termMs }: Patience,
): Promise<void> {
  child.stdin.end()
  if (child.pid === undefined) return
  if (inputClosedMs > 0) await within(inputClosedMs, exited, clock)
  const hasExited = () => child.exitCode !== null || child.signalCode !== null
  await endTree(child.pid, { clock, termMs, hasExited })
}

/**
 * Ends a process that leads its group: asks all its processes to end, and kills what is left after `termMs`. Also ends descendants that
 * left the group, as far as the process table still shows whose they are.
 */
export async function endTree(
  pid: number,
  { clock, termMs, hasExited }: { clock: Clock; termMs: number; hasExited: () => boolean },
): Promise<void> {
  // They can only be found while their parents live.
  const groups = groupsOf(pid)
  const isAlive = () => {
    if (onWindows) return !hasExited()
    return onLinux ? groups.some(hasLiving) : send(-pid, 0)
  }
  if (onWindows && hasExited()) return
  signalTree(pid, groups, 'SIGTERM')
  await treeGone(isAlive, clock, termMs)
  groups.push(...groupsOf(pid))
  if (onWindows && hasExited()) return
  signalTree(pid, groups, 'SIGKILL')
  await treeGone(isAlive, clock, KILL_MS)
}

async function treeGone(isAlive: () => boolean, clock: Clock, withinMs: number): Promise<void> {
  const until = clock.mono() + withinMs
  // Looking takes some milliseconds, so what is slow is looked at less often.
  for (let wait = POLL_MS; isAlive() && clock.mono() < until; wait = Math.min(2 * wait, MAX_POLL_MS)) {
    await new Promise<void>((resolve) => clock.after(Math.min(wait, until - clock.mono()), resolve, true))
  }
}

/** Resolves with `done` or after `ms`. Keeps our process alive meanwhile: it must not end before its children. */
function within(ms: number, done: Promise<unknown>, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, resolve, true)
    void done.then(() => {
      cancel()
      resolve()
    })
  })
}

const onWindows = process.platform === 'win32'
const onLinux = process.platform === 'linux'

/** The group of a process, and those that its descendants have made. */
const groupsOf = (pid: number | undefined): number[] => (pid === undefined ? [] : [pid, ...groupsBelow(pid)])

function signalTree(pid: number | undefined, groups: readonly number[], signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return
  if (onWindows) {
    spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true })
    return
  }
  // To whole groups, because a process that is looked up one by one may have started another one since.
  for (const group of groups) send(-group, signal)
}

/** False if there is no such process. */
function send(pid: number, signal: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}
