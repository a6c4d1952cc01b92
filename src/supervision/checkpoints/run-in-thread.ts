// Work that blocks for long runs in a thread of its own: one job, one thread, one answer.

import { parentPort, Worker, workerData } from 'node:worker_threads'
import { ServerError } from '../../domain/errors.ts'

type Reply = { type: 'done'; result: unknown } | { type: 'failed'; failure: Failure }

/** An error that can be sent to another thread. `code` is null for anything but a `ServerError`. */
interface Failure {
  code: ServerError['code'] | null
  message: string
  stack: string
}

/** Of the heap of a thread. 500,000 files with long names need half of it. */
const MAX_HEAP_MB = 1_024

/** What the script of the thread does: takes the job that it was started with, and answers. Job and result are plain data. */
export async function answerJob<Job>(work: (job: Job) => unknown): Promise<void> {
  const reply = (message: Reply): void => parentPort?.postMessage(message)
  try {
    // Whoever starts the script passes the job that `work` takes.
    reply({ type: 'done', result: await work(workerData as Job) })
  } catch (error) {
    reply({ type: 'failed', failure: failureOf(error) })
  }
}

/** Starts `script` with `job`. With an abort the thread ends before this rejects. */
export function runInThread(script: URL, job: unknown, signal?: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(script, {
      workerData: job,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      // The thread reads and writes files and nothing else.
      env: {},
    })
    let settle = (): void => reject(new ServerError('storage_failed', 'Work on a workspace ended early. Try again.'))
    const abort = (): void => {
      settle = () => reject(signal?.reason)
      void worker.terminate()
    }
    worker.on('message', (reply: Reply) => {
      settle = reply.type === 'failed' ? () => reject(errorOf(reply.failure)) : () => resolve(reply.result)
    })
    worker.on('error', (error) => {
      settle = () => reject(error)
    })
    // Only now it can no longer write anything.
    worker.on('exit', () => {
      signal?.removeEventListener('abort', abort)
      settle()
    })
    signal?.addEventListener('abort', abort, { once: true })
  })
}

function failureOf(error: unknown): Failure {
  const { message, stack = '' } = error instanceof Error ? error : new Error(String(error))
  return { code: error instanceof ServerError ? error.code : null, message, stack }
}

function errorOf({ code, message, stack }: Failure): Error {
  return Object.assign(code === null ? new Error(message) : new ServerError(code, message), { stack })
}

/** Runs each work when its turn comes, in order of arrival: at most `most` side by side, or one alone. */
export function createThreadTurns(most: number) {
  const waiting: { alone: boolean; start: () => void }[] = []
  let running = 0
  let isExclusive = false

  function startNext(): void {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      if (isExclusive || (next.alone ? running > 0 : running >= most)) return
      waiting.shift()
      running += 1
      isExclusive = next.alone
      next.start()
    }
  }

  return async <T>(alone: boolean, work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    await new Promise<void>((start) => {
      waiting.push({ alone, start })
      startNext()
    })
    try {
      signal?.throwIfAborted()
      return await work()
    } finally {
      running -= 1
      isExclusive = false
      startNext()
    }
  }
}
