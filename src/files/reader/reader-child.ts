// The server's side of one child process that reads files. The child takes one job at a time and is killed when it exceeds its
// limits. `child/main.ts` is what it runs.

import { type ChildProcess, fork } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../domain/clock.ts'
import { isImage } from '../../domain/session/file.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import type { Progress } from '../file-reader.ts'
import { STUCK_SIGNAL } from './child/watchdog.ts'
import { childMessageOf, type ReadJob } from './read-job.ts'
import { createWorkFolder } from './work-folder.ts'

export type JobEnd =
  | { kind: 'done' }
  /** `lasting`: the content of the file is the reason, not the state of the machine. */
  | { kind: 'failed'; message: string; cause: string; lasting: boolean }
  | { kind: 'too-long' }
  /** `before`: how many bytes of memory the child used when the job began. */
  | { kind: 'too-much-memory'; before: number }
  /** The child was in an endless loop and ended itself. */
  | { kind: 'stuck' }
  /** The child crashed or was killed. `log` is the end of its stderr. */
  | { kind: 'gone'; log: string }

export interface ReaderChildDeps {
  /** The child's folder is created in here. */
  parentFolder: string
  /** Files and folders that the child may read besides its own. */
  readable: readonly string[]
  clock: Clock
  environment: Readonly<Record<string, string | undefined>>
  memoryBytes: number
  program: string
}

const MEMORY_POLL_MS = 200
const LOG_CHARACTERS = 2_000
const FIT_SHARE = 0.6

export async function startReaderChild(deps: ReaderChildDeps) {
  const { clock, memoryBytes } = deps
  const work = await createWorkFolder(deps.parentFolder)
  /** Where results may be written. Removed when the child ends. */
  const folder = work.results
  const child = fork(deps.program, [], {
    execArgv: nodeOptions({ readable: [...deps.readable, work.inbox, folder], writable: folder, memoryBytes }),
    cwd: folder,
    env: childEnvironment(deps.environment, folder),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    windowsHide: true,
  })
  // When the machine runs out of memory, Linux kills this process first. Other systems have no such setting.
  if (child.pid !== undefined) writeFile(`/proc/${child.pid}/oom_score_adj`, '1000').catch(() => {})

  let log = ''
  let stuck = false
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-LOG_CHARACTERS)
  })
  const gone = new Promise<void>((resolve) => {
    // `close` comes after `exit`, when all output is read. Only `error` comes when the child could not be started.
    child.once('close', (_code, signal) => {
      stuck = signal === STUCK_SIGNAL
      resolve()
    })
    child.once('error', (error) => {
      log += String(error)
      if (child.pid === undefined) resolve()
    })
  })
  let alive = true
  let bytes = 0
  const cleaned = gone.then(async () => {
    alive = false
    await work.remove()
  })
  holdProcess(child, false)

  return {
    folder,

    /** Runs one job; only one at a time. Never rejects. During the job the child can read the job's file and no other. */
    async run(job: ReadJob, onProgress: Progress): Promise<JobEnd> {
      const path = await work.handIn(job.path).catch((error: unknown) => ({ error }))
      // Handing in fails when the child has ended, because its folder is gone.
      if (typeof path !== 'string') return alive ? notHandedIn(path.error) : { kind: 'gone', log }
      const { promise, resolve } = Promise.withResolvers<JobEnd>()
      const onMessage = (value: unknown): void => {
        const message = childMessageOf(value)
        if (message?.type === 'progress') onProgress(message.done, message.total)
        else if (message?.type === 'failed') {
          const { message: sentence, cause, lasting } = message
          resolve({ kind: 'failed', message: sentence, cause, lasting })
        } else if (message?.type === 'done') resolve({ kind: 'done' })
      }
      child.on('message', onMessage)
      gone.then(() => resolve(stuck ? { kind: 'stuck' } : { kind: 'gone', log }))
      const stopTiming = limitTime(child.pid, job, clock, () => resolve({ kind: 'too-long' }))
      let before: number | null = null
      const stopWatching = watchMemory(child.pid, clock, (now) => {
        bytes = now
        before ??= now
        if (now > memoryBytes) resolve({ kind: 'too-much-memory', before })
      })
      holdProcess(child, true)
      // When sending fails, the child has ended or will end.
      if (child.connected) child.send({ ...job, path }, () => {})
      const end = await promise
      child.off('message', onMessage)
      stopTiming()
      stopWatching()
      holdProcess(child, false)
      if (end.kind === 'too-long' || end.kind === 'too-much-memory') child.kill('SIGKILL')
      await work.takeBack(path)
      return end
    },

    /** False when the child has ended, or uses so much memory that a fresh one is better. */
    fit: (): boolean => alive && !child.killed && bytes < memoryBytes * FIT_SHARE,

    /** Kills the child at once. Resolves when the child and its folder are gone. */
    async kill(): Promise<void> {
      holdProcess(child, true)
      child.kill('SIGKILL')
      await cleaned
    },
  }
}

export type ReaderChild = Awaited<ReturnType<typeof startReaderChild>>

/** A child without work must not keep the server's process alive. */
function holdProcess(child: ChildProcess, hold: boolean): void {
  const handles = [child, child.channel, child.stderr instanceof Socket ? child.stderr : undefined]
  for (const handle of handles) {
    if (hold) handle?.ref()
    else handle?.unref()
  }
}

/** Watches the memory of the whole process: the heap limit covers neither WebAssembly nor native memory. Works on Linux only. */
function watchMemory(pid: number | undefined, clock: Clock, onBytes: (bytes: number) => void): () => void {
  let stopped = false
  let cancel = (): void => {}
  async function look(): Promise<void> {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => null)
    const kilobytes = status === null ? null : /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
    if (stopped) return
    if (kilobytes != null) onBytes(Number(kilobytes) * 1024)
    if (status !== null) cancel = clock.after(MEMORY_POLL_MS, look)
  }
  void look()
  return () => {
    stopped = true
    cancel()
  }
}

/** A picture whose child got less of a processor than this share is not slow: it hangs. */
const HANGING_SHARE = 0.001

/**
 * Calls `onOver` when the job's time is over. A picture gets that much time of a processor, because a machine that does much else must
 * not fail it. Where that cannot be measured, and for other files, which return what they have read in time, the clock counts.
 */
function limitTime(pid: number | undefined, job: ReadJob, clock: Clock, onOver: () => void): () => void {
  if (!isImage(job.mimeType)) return clock.after(job.timeMs, onOver, true)
  let stopped = false
  const before = processorMs(pid)
  let cancel = wait(job.timeMs, 0)

  function wait(ms: number, spent: number): () => void {
    return clock.after(
      ms,
      async () => {
        const [start, now] = [await before, await processorMs(pid)]
        if (stopped) return
        const spentNow = start === null || now === null ? Number.POSITIVE_INFINITY : now - start
        if (spentNow >= job.timeMs || spentNow - spent < ms * HANGING_SHARE) onOver()
        else cancel = wait(Math.max(job.timeMs - spentNow, job.timeMs / 6), spentNow)
      },
      true,
    )
  }

  return () => {
    stopped = true
    cancel()
  }
}

/** The processor time that a process and its threads have used. Null where the system does not say: only Linux does. */
async function processorMs(pid: number | undefined): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name of the program may contain anything, so fields are counted after its closing bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user, system] = [Number(fields[11]), Number(fields[12])]
  return Number.isNaN(user) || Number.isNaN(system) ? null : (user + system) * MS_A_TICK
}

const MS_A_TICK = 10

/** The program of the children: `.ts` in a checkout, `.js` in the published package. */
export const childProgram = (): string =>
  fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './child/main.ts' : './child/main.js', import.meta.url))

function notHandedIn(error: unknown): JobEnd {
  const code = systemErrorCode(error)
  const message =
    code === 'ENOENT'
      ? 'The file does not exist any more.'
      : code === 'ENOSPC'
        ? "The server's disk is full: no file can be read until there is free space."
        : "The server could not open the file: see the server's log."
  return { kind: 'failed', message, cause: String(error), lasting: false }
}

const nodeOptions = (may: { readable: readonly string[]; writable: string; memoryBytes: number }): string[] => [
  `--max-old-space-size=${Math.round((may.memoryBytes * 0.7) / 1_048_576)}`,
  // The child can start no programs and read and write nothing else, whatever a file makes a parser do. Native code is not bound by this.
  '--permission',
  ...may.readable.map((path) => `--allow-fs-read=${path}`),
  `--allow-fs-write=${may.writable}`,
  '--allow-addons',
  '--allow-worker',
  '--disable-warning=SecurityWarning',
  '--disable-warning=ExperimentalWarning',
]

/** Contains no keys, no tokens and no options for Node. Temporary files stay in the child's folder. */
function childEnvironment(ours: ReaderChildDeps['environment'], folder: string): Record<string, string> {
  const theirs: Record<string, string> = { TMPDIR: folder }
  const kept = ['PATH', 'LANG']
  if (process.platform === 'win32') {
    Object.assign(theirs, { TEMP: folder, TMP: folder })
    // Windows needs it to start any program.
    kept.push('SystemRoot')
  }
  for (const name of kept) {
    const value = ours[name]
    if (value !== undefined) theirs[name] = value
  }
  return theirs
}
