// Jobs wait for a child, a child waits for jobs. Children are started when there is work and ended when there was none for a while.

import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { unreadable } from '../formats/unreadable.ts'
import type { ReadJob } from './read-job.ts'
import type { JobEnd, ReaderChild } from './reader-child.ts'

export interface ReaderPool {
  /**
   * Reads one file. `take` gets the path of the result, which is gone when it has resolved. Throws `file_unreadable`, `queue_full`,
   * `shutting_down`, and the signal's reason.
   */
  run<T>(work: PoolWork<T>): Promise<T>
  /** Ends all children; what waits and what is being read is refused. */
  close(): Promise<void>
}

export interface PoolWork<T> {
  /** `resultPath` is the pool's to say. */
  job: Omit<ReadJob, 'resultPath'>
  signal: AbortSignal
  onProgress(done: number, total: number): void
  take(resultPath: string): Promise<T>
  /** Hears of a failure that would come again with the same bytes, before it is thrown. */
  refused?(sentence: string): Promise<void>
}

export interface PoolLimits {
  /** At most so many children at once. */
  children: number
  /** At most so many jobs that wait. */
  queue: number
  idleMs: number
  /** Of one child; for the sentence. */
  memoryBytes: number
}

interface Waiting {
  lane: string
  start(): Promise<void>
  refuse(reason: unknown): void
}

export function createReaderPool(deps: {
  startChild(): Promise<ReaderChild>
  newName(): string
  clock: Clock
  log: Logger
  limits: PoolLimits
}): ReaderPool {
  const { clock, log, limits } = deps
  /** By lane, the one whose turn it is first. */
  const lanes = new Map<string, Waiting[]>()
  const children = new Set<ReaderChild>()
  const idle = new Map<ReaderChild, () => void>()
  const serving = new Set<Promise<void>>()
  const ending = new Set<Promise<void>>()
  let waiting = 0
  let closed = false

  function pump(): void {
    while (serving.size < limits.children) {
      const next = takeNext()
      if (next === undefined) return
      const served: Promise<void> = next.start().finally(() => {
        serving.delete(served)
        pump()
      })
      serving.add(served)
    }
  }

  function enter(one: Waiting): void {
    lanes.set(one.lane, [...(lanes.get(one.lane) ?? []), one])
    waiting++
  }

  function leave(one: Waiting): void {
    const rest = (lanes.get(one.lane) ?? []).filter((other) => other !== one)
    if (rest.length === 0) lanes.delete(one.lane)
    else lanes.set(one.lane, rest)
    waiting--
  }

  /** The types of files take turns: a note does not wait until somebody's hundred scans are through. */
  function takeNext(): Waiting | undefined {
    const [turn] = lanes
    if (turn === undefined) return undefined
    const [lane, [next, ...rest]] = turn
    lanes.delete(lane)
    if (rest.length > 0) lanes.set(lane, rest)
    waiting--
    return next
  }

  async function childFor(): Promise<{ child: ReaderChild; used: boolean }> {
    for (const [child, stopTimer] of idle) {
      stopTimer()
      idle.delete(child)
      if (child.fit()) return { child, used: true }
      end(child)
    }
    return { child: await freshChild(), used: false }
  }

  async function freshChild(): Promise<ReaderChild> {
    const child = await deps.startChild()
    children.add(child)
    return child
  }

  function release(child: ReaderChild): void {
    if (closed || !child.fit()) {
      end(child)
      return
    }
    const stopTimer = clock.after(limits.idleMs, () => {
      idle.delete(child)
      end(child)
    })
    idle.set(child, stopTimer)
  }

  function end(child: ReaderChild): void {
    const gone: Promise<void> = child
      .kill()
      .catch((error: unknown) => log.warn('the folder of a file reader could not be removed', { error: String(error) }))
      .finally(() => {
        children.delete(child)
        ending.delete(gone)
      })
    ending.add(gone)
  }

  async function serve<T>(work: PoolWork<T>): Promise<T> {
    const first = await childFor()
    const attempt = await tryWith(first.child, work)
    // What a child has read before may be why it failed now; a fresh one decides.
    const blameless = first.used && mayBeOfBefore(attempt.end, limits.memoryBytes)
    const { end, result } =
      blameless && !closed && !work.signal.aborted ? await tryWith(await freshChild(), work) : attempt
    if (result !== undefined) return result.value
    work.signal.throwIfAborted()
    if (closed) throw shuttingDown()
    if (end.kind === 'failed' && end.lasting) await work.refused?.(end.message)
    throw failureOf(end, work)
  }

  async function tryWith<T>(child: ReaderChild, work: PoolWork<T>): Promise<{ end: JobEnd; result?: { value: T } }> {
    const stop = (): void => end(child)
    work.signal.addEventListener('abort', stop)
    if (work.signal.aborted || closed) stop()
    try {
      const resultPath = `${child.folder}/${deps.newName()}`
      const ended = await child.run({ ...work.job, resultPath }, work.onProgress)
      return ended.kind === 'done' ? { end: ended, result: { value: await work.take(resultPath) } } : { end: ended }
    } finally {
      work.signal.removeEventListener('abort', stop)
      release(child)
    }
  }

  function failureOf(end: JobEnd, { job }: PoolWork<unknown>): ServerError {
    log.debug('a file could not be read', { type: job.mimeType, why: end.kind, content: end })
    switch (end.kind) {
      case 'failed':
        return unreadable(end.message, end.cause)
      case 'too-long':
        return unreadable(
          `The file takes longer to read than the ${job.timeMs / 1_000} seconds there are for one: split it.`,
        )
      case 'too-much-memory':
        return unreadable(
          `The file needs more memory than the ${Math.round(limits.memoryBytes / 1_000_000)} MB there are for one: split it, or make it smaller.`,
        )
      case 'stuck':
        return unreadable(
          'The file keeps the reader busy without end: open it in its own program, save it anew and attach it again, or split it.',
        )
      case 'gone':
      case 'done':
        return unreadable('The file could not be read: it is damaged in a way that the reader did not survive.')
    }
  }

  return {
    run<T>(work: PoolWork<T>): Promise<T> {
      if (closed) return Promise.reject(shuttingDown())
      if (work.signal.aborted) return Promise.reject(work.signal.reason)
      if (waiting >= limits.queue) return Promise.reject(queueFull(limits.queue))
      return new Promise<T>((resolve, reject) => {
        const giveUp = (): void => {
          leave(entry)
          reject(work.signal.reason)
        }
        const entry: Waiting = {
          lane: work.job.mimeType,
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
        enter(entry)
        pump()
      })
    },

    async close() {
      closed = true
      for (const { refuse } of [...lanes.values()].flat()) refuse(shuttingDown())
      lanes.clear()
      waiting = 0
      for (const stopTimer of idle.values()) stopTimer()
      idle.clear()
      for (const child of children) end(child)
      await Promise.all(serving)
      await Promise.all(ending)
    },
  }
}

/** Of the memory limit: a child that held less when it began had as much room as a fresh one. */
const NEARLY_FRESH = 0.3

const mayBeOfBefore = (end: JobEnd, memoryBytes: number): boolean =>
  end.kind === 'gone' || (end.kind === 'too-much-memory' && end.before > memoryBytes * NEARLY_FRESH)

const shuttingDown = (): ServerError =>
  new ServerError('shutting_down', 'The server is stopping and reads no more files.')

const queueFull = (queue: number): ServerError =>
  new ServerError('queue_full', `${queue} other files wait to be read: try again in a minute.`)
