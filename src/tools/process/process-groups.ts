// Child processes that do not outlive us. Each leads its own process group, so that ending it also ends whatever it has started.

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../domain/clock.ts'
import { groupsBelow, groupsSigned, hasLiving, isSignOfDead, ownSign } from './process-table.ts'

interface ChildCommand {
  command: string
  args: readonly string[]
  /** The child's whole environment. On Linux `QUARTERDECK_CHILD` is added, by which what it starts is found again. */
  env: Readonly<Record<string, string>>
  /** It may go on when our process is killed, because the next one finds it and takes it up. */
  outlivesUs?: true
  directory: string
  /** How patient `end` is. By default 300 ms after the input is closed, then 2 s after SIGTERM. */
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
  /** Ends what processes of ours that were killed have left behind, and says how many groups there were. */
  endLeftBehind(): Promise<number>
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

const SIGN = 'QUARTERDECK_CHILD'

export function createProcessGroups(deps: { clock: Clock; process: ProcessExit }): ProcessGroups {
  /** The living children, each with its sign. */
  const alive = new Map<ChildProcessWithoutNullStreams, string | null>()

  // Our process is ending, so there is no time for SIGTERM.
  const killAll = (): void => {
    for (const [child, sign] of alive) signalTree(child.pid, groupsOf(child.pid, sign), 'SIGKILL')
  }

  function remember(child: ChildProcessWithoutNullStreams, sign: string | null): void {
    if (alive.size === 0) deps.process.on('exit', killAll)
    alive.set(child, sign)
  }

  function forget(child: ChildProcessWithoutNullStreams): void {
    alive.delete(child)
    if (alive.size === 0) deps.process.off('exit', killAll)
  }

  return {
    start(command) {
      const sign = command.outlivesUs ? null : newSign()
      const child = spawn(command.command, command.args, {
        cwd: command.directory,
        // Also without a sign: ours may have been started by a child of another server.
        env: { ...command.env, [SIGN]: sign ?? undefined },
        stdio: 'pipe',
        // On Windows this would open a console. There the whole tree is ended through its root.
        detached: !onWindows,
        windowsHide: true,
      })
      remember(child, sign)
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
        ending ??= endChild(child, sign, exited, deps.clock, { ...PATIENCE, ...command.patience }).finally(() =>
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
    async endLeftBehind() {
      const left = () => groupsSigned(SIGN, (sign) => isLeftBehind(sign, process.env[SIGN]))
      const groups = left()
      if (groups.length === 0) return 0
      for (const group of groups) send(-group, 'SIGTERM')
      await treeGone(() => groups.some(hasLiving), deps.clock, PATIENCE.termMs)
      for (const group of left()) send(-group, 'SIGKILL')
      return groups.length
    },
  }
}

/** What has the sign that we have ourselves (`own`) is where we were started, such as the terminal above us. */
export const isLeftBehind = (sign: string, own: string | undefined): boolean =>
  sign !== own && isSignOfDead(sign.slice(sign.indexOf(' ') + 1))

/** Ours, and what tells one child from all others. */
function newSign(): string | null {
  const own = ownSign()
  return own === null ? null : `${randomUUID()} ${own}`
}

async function endChild(
  child: ChildProcessWithoutNullStreams,
  sign: string | null,
  exited: Promise<unknown>,
  clock: Clock,
  { inputClosedMs, termMs }: Patience,
): Promise<void> {
  child.stdin.end()
  if (child.pid === undefined) return
  if (inputClosedMs > 0) await within(inputClosedMs, exited, clock)
  const hasExited = () => child.exitCode !== null || child.signalCode !== null
  await endTree(child.pid, { clock, termMs, hasExited, sign })
}

/**
 * Ends a process that leads its group: asks all its processes to end, and kills what is left after `termMs`. Also ends descendants that
 * left the group, as far as their sign or the process table shows whose they are.
 */
export async function endTree(
  pid: number,
  {
    clock,
    termMs,
    hasExited,
    sign = null,
  }: { clock: Clock; termMs: number; hasExited: () => boolean; sign?: string | null },
): Promise<void> {
  // Without a sign they can only be found while their parents live.
  const groups = groupsOf(pid, sign)
  const isAlive = () => {
    if (onWindows) return !hasExited()
    return onLinux ? groups.some(hasLiving) : send(-pid, 0)
  }
  if (onWindows && hasExited()) return
  signalTree(pid, groups, 'SIGTERM')
  await treeGone(isAlive, clock, termMs)
  groups.push(...groupsOf(pid, sign))
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
const groupsOf = (pid: number | undefined, sign: string | null): number[] =>
  pid === undefined
    ? []
    : [pid, ...groupsBelow(pid), ...(sign === null ? [] : groupsSigned(SIGN, (other) => other === sign))]

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
