// Gives files to child processes, one at a time for each child. Children start when there is work and end after a while without it.

import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { type FileType, isImage } from '../../domain/session/file.ts'
import type { Progress } from '../file-reader.ts'
import { unreadable } from '../formats/unreadable.ts'
import type { FileReaderLimits } from './create-file-reader.ts'
import type { ReadJob } from './read-job.ts'
import type { JobEnd, ReaderChild } from './reader-child.ts'

export interface PoolWork<T> {
  /** The pool chooses the `resultPath`. */
  job: Omit<ReadJob, 'resultPath'>
  signal: AbortSignal
  onProgress: Progress
  take(resultPath: string): Promise<T>
  /** Called before a failure is thrown that would happen again with the same bytes. */
  refused?(sentence: string): Promise<void>
}

interface ReaderPoolDeps {
  startChild(): Promise<ReaderChild>
  newName(): string
  clock: Clock
  log: Logger
  limits: Pick<FileReaderLimits, 'children' | 'queue' | 'idleMs' | 'memoryBytes'>
}

export function createReaderPool(deps: ReaderPoolDeps) {
  const { log, limits } = deps
  const queue = createTypeQueue()
  const children = createChildren(deps)
  const serving = new Set<Promise<void>>()
  let closed = false

  function startNext(): void {
    while (serving.size < limits.children) {
      const next = queue.next()
      if (next === undefined) return
      const served: Promise<void> = next.start().finally(() => {
        serving.delete(served)
        startNext()
      })
      serving.add(served)
    }
  }

  async function serve<T>(work: PoolWork<T>): Promise<T> {
    const first = await children.take()
    const attempt = await tryWith(first.child, work)
    // A child that has read other files may have failed because of those. Then a fresh child decides.
    const tryAgain = first.used && mayBeDueToEarlierFiles(attempt.end, limits.memoryBytes)
    const { end, result } =
      tryAgain && !closed && !work.signal.aborted ? await tryWith(await children.start(), work) : attempt
    if (result !== undefined) return result.value
    work.signal.throwIfAborted()
    if (closed) throw shuttingDown()
    if (end.kind === 'failed' && end.lasting) await work.refused?.(end.message)
    log.debug('a file could not be read', { type: work.job.mimeType, why: end.kind, content: end })
    throw isImage(work.job.mimeType)
      ? pictureFailureOf(end, work.job.timeMs, limits.memoryBytes)
      : failureOf(end, work.job.timeMs, limits.memoryBytes)
  }

  async function tryWith<T>(child: ReaderChild, work: PoolWork<T>): Promise<{ end: JobEnd; result?: { value: T } }> {
    const stop = (): void => children.end(child)
    work.signal.addEventListener('abort', stop)
    if (work.signal.aborted || closed) stop()
    try {
      const resultPath = `${child.folder}/${deps.newName()}`
      const end = await child.run({ ...work.job, resultPath }, work.onProgress)
      return end.kind === 'done' ? { end, result: { value: await work.take(resultPath) } } : { end }
    } finally {
      work.signal.removeEventListener('abort', stop)
      children.release(child)
    }
  }

  return {
    /**
     * Reads one file. `take` gets the path of the result, which is removed after `take` resolves. Throws `file_unreadable`,
     * `queue_full`, `shutting_down`, and the reason of the signal.
     */
    run<T>(work: PoolWork<T>): Promise<T> {
      if (closed) return Promise.reject(shuttingDown())
      if (work.signal.aborted) return Promise.reject(work.signal.reason)
      if (queue.size() >= limits.queue) return Promise.reject(queueFull(limits.queue))
      return new Promise<T>((resolve, reject) => {
        const giveUp = (): void => {
          queue.remove(waiting)
          reject(work.signal.reason)
        }
        const waiting: Waiting = {
          type: work.job.mimeType,
          async start() {
            work.signal.removeEventListener('abort', giveUp)
            await serve(work).then(resolve, reject)
          },
          refuse(reason) {
            work.signal.removeEventListener('abort', giveUp)
            reject(reason)
          },
        }
        work.signal.addEventListener('abort', giveUp)
        queue.add(waiting)
        startNext()
      })
    },

    /** Ends all children. Files that wait or are being read are refused. */
    async close(): Promise<void> {
      closed = true
      for (const waiting of queue.clear()) waiting.refuse(shuttingDown())
      children.endAll()
      await Promise.all(serving)
      await children.allEnded()
    },
  }
}

export type ReaderPool = ReturnType<typeof createReaderPool>

interface Waiting {
  type: FileType
  start(): Promise<void>
  refuse(reason: unknown): void
}

/** File types take turns: a short text does not wait until somebody's hundred scans are read. */
function createTypeQueue() {
  /** By type. The first type has the next turn. */
  const byType = new Map<FileType, Waiting[]>()
  let size = 0

  return {
    size: () => size,
    add(one: Waiting): void {
      byType.set(one.type, [...(byType.get(one.type) ?? []), one])
      size += 1
    },
    remove(one: Waiting): void {
      const rest = (byType.get(one.type) ?? []).filter((other) => other !== one)
      if (rest.length === 0) byType.delete(one.type)
      else byType.set(one.type, rest)
      size -= 1
    },
    next(): Waiting | undefined {
      const [turn] = byType
      if (turn === undefined) return undefined
      const [type, [next, ...rest]] = turn
      byType.delete(type)
      // Goes to the end of the turns.
      if (rest.length > 0) byType.set(type, rest)
      size -= 1
      return next
    },
    clear(): Waiting[] {
      const all = [...byType.values()].flat()
      byType.clear()
      size = 0
      return all
    },
  }
}

/** The children of a pool. An idle child is kept for `idleMs`. */
function createChildren({ startChild, clock, log, limits }: ReaderPoolDeps) {
  const all = new Set<ReaderChild>()
  /** With the function that stops the child's timer. */
  const idle = new Map<ReaderChild, () => void>()
  const ending = new Set<Promise<void>>()
  let closed = false

  async function start(): Promise<ReaderChild> {
    const child = await startChild()
    all.add(child)
    return child
  }

  function end(child: ReaderChild): void {
    const ended: Promise<void> = child
      .kill()
      .catch((error: unknown) => log.warn('the folder of a file reader could not be removed', { error: String(error) }))
      .finally(() => {
        all.delete(child)
        ending.delete(ended)
      })
    ending.add(ended)
  }

  return {
    start,
    end,
    /** An idle child that is still fit, otherwise a fresh one. */
    async take(): Promise<{ child: ReaderChild; used: boolean }> {
      for (const [child, stopTimer] of idle) {
        stopTimer()
        idle.delete(child)
        if (child.fit()) return { child, used: true }
        end(child)
      }
      return { child: await start(), used: false }
    },
    /** Keeps the child for the next file if it is still fit. */
    release(child: ReaderChild): void {
      if (closed || !child.fit()) {
        end(child)
        return
      }
      const stopTimer = clock.after(limits.idleMs, () => {
        idle.delete(child)
        end(child)
      })
      idle.set(child, stopTimer)
    },
    endAll(): void {
      closed = true
      for (const stopTimer of idle.values()) stopTimer()
      idle.clear()
      for (const child of all) end(child)
    },
    async allEnded(): Promise<void> {
      await Promise.all(ending)
    },
  }
}

/** A child that held less than this share of the memory limit at the start had as much space as a fresh one. */
const NEARLY_FRESH = 0.3

const mayBeDueToEarlierFiles = (end: JobEnd, memoryBytes: number): boolean =>
  end.kind === 'gone' || (end.kind === 'too-much-memory' && end.before > memoryBytes * NEARLY_FRESH)

function failureOf(end: JobEnd, timeMs: number, memoryBytes: number): ServerError {
  switch (end.kind) {
    case 'failed':
      return unreadable(end.message, end.cause)
    case 'too-long':
      return unreadable(`Reading the file takes longer than the limit of ${timeMs / 1_000} seconds: split it.`)
    case 'too-much-memory':
      return unreadable(
        `Reading the file needs more memory than the limit of ${Math.round(memoryBytes / 1_000_000)} MB: split it, or make it smaller.`,
      )
    case 'stuck':
      return unreadable(
        'The file keeps its reader busy without end: open it in its own program, save it again and attach the new file, or split it.',
      )
    case 'gone':
    case 'done':
      return unreadable('The file could not be read: it is damaged in a way that crashed its reader.')
  }
}

/** A picture cannot be split. */
function pictureFailureOf(end: JobEnd, timeMs: number, memoryBytes: number): ServerError {
  switch (end.kind) {
    case 'too-long':
    case 'stuck':
      return unreadable(
        `Reading the picture takes more than ${timeMs / 1_000} seconds of processor time: make it smaller, or cut out the part that matters.`,
      )
    case 'too-much-memory':
      return unreadable(
        `Reading the picture needs more memory than the limit of ${Math.round(memoryBytes / 1_000_000)} MB: make it smaller.`,
      )
    default:
      return failureOf(end, timeMs, memoryBytes)
  }
}

const shuttingDown = (): ServerError =>
  new ServerError('shutting_down', 'The server is stopping and reads no more files.')

const queueFull = (queue: number): ServerError =>
  new ServerError('queue_full', `${queue} other files are waiting to be read: try again in a minute.`)
