// The work on indexes in a thread of its own. It starts with the first question and ends when there has been nothing to do for a while,
// which gives its memory back.

import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import type { WorkPlace } from '../../knowledge/create-knowledge.ts'
import type { WorkListener } from '../../knowledge/knowledge-work.ts'
import type { WorkSettings } from './open-work.ts'
import { type Calls, connectCalls } from './thread-calls.ts'

interface WorkThreadDeps {
  settings: WorkSettings
  listener: WorkListener
  /** Null: what it keeps lives in its memory alone, so it never ends by itself. */
  restMs: number | null
  clock: Clock
  log: Logger
}

const script = new URL(`./knowledge-thread${extname(import.meta.url)}`, import.meta.url)
/** Limit of the heap of the thread. A document of 50 MB and its passages need half of it; vectors are outside of it. */
const MAX_HEAP_MB = 512
const MAX_NEW_MB = 4

interface Thread {
  worker: Worker
  calls: Calls
  ended: Promise<void>
  /** Questions without an answer. */
  underWay: number
}

export function createWorkThread({ settings, listener, restMs, clock, log }: WorkThreadDeps): WorkPlace {
  let thread: Thread | null = null
  let cancelRest = (): void => {}

  function begin(): Thread {
    const worker = new Worker(script, {
      workerData: settings,
      // With V8's own size for new objects, a hundred searches leave 60 MB of garbage before it is collected.
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: MAX_NEW_MB },
    })
    const calls = connectCalls(worker, {
      progress: listener.progress,
      embed: listener.embed,
      log: (level: 'debug' | 'info' | 'warn' | 'error', message: string, fields: Record<string, unknown>) =>
        log[level](message, fields),
    })
    const ended = new Promise<void>((resolve) => {
      worker.on('error', (error) => log.error('the thread that reads documents has failed', { error }))
      worker.on('exit', () => {
        if (thread?.worker === worker) thread = null
        calls.lost(
          new ServerError('storage_failed', 'The work on documents has ended early. Try again; the log says why.'),
        )
        resolve()
      })
    })
    worker.unref()
    return { worker, calls, ended, underWay: 0 }
  }

  async function ask(method: keyof WorkPlace, args: readonly unknown[]): Promise<unknown> {
    cancelRest()
    thread ??= begin()
    const asked = thread
    asked.underWay += 1
    // A program without a port must not end while it waits for an answer.
    asked.worker.ref()
    try {
      return await asked.calls.call(method, args)
    } finally {
      asked.underWay -= 1
      // One that is being closed is waited for.
      if (asked.underWay === 0 && asked === thread) {
        asked.worker.unref()
        if (restMs !== null) cancelRest = clock.after(restMs, () => void close())
      }
    }
  }

  async function close(): Promise<void> {
    cancelRest()
    const ending = thread
    // The next question starts a new one.
    thread = null
    if (ending === null) return
    ending.worker.ref()
    await ending.calls.call('close', []).catch(() => {})
    await ending.ended
  }

  const asking =
    <Method extends keyof WorkPlace>(method: Method) =>
    (...args: Parameters<WorkPlace[Method]>) =>
      // The thread offers the same methods.
      ask(method, args) as ReturnType<WorkPlace[Method]>

  return {
    update: asking('update'),
    async stop() {
      // A thread that is not there has nothing to stop.
      if (thread !== null) await ask('stop', [])
    },
    search: asking('search'),
    around: asking('around'),
    now: asking('now'),
    look: asking('look'),
    clear: asking('clear'),
    keepOnly: asking('keepOnly'),
    close,
  }
}
