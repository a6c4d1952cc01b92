// Checks the text of an agent file in a thread of its own: a text of 256 KB can be made so that reading it takes minutes.

import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { TextProblem } from './agent-text-problems.ts'

/** Throws `limit` when too many checks wait, and the signal's reason. */
export type CheckAgentText = (text: string, signal: AbortSignal) => Promise<TextProblem[]>

const script = new URL(`./agent-text-worker${extname(import.meta.url)}`, import.meta.url)
const MAX_HEAP_MB = 256
const TIMEOUT_MS = 10_000
const MOST_WAITING = 8

/** One check at a time. */
export function createCheckAgentText({ clock, timeoutMs = TIMEOUT_MS }: { clock: Clock; timeoutMs?: number }) {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0

  const check: CheckAgentText = async (text, signal) => {
    if (waiting >= MOST_WAITING) throw new ServerError('limit', 'Too many texts are being checked. Try again soon.')
    waiting += 1
    const mine = last.then(() => checkInThread(text, clock, timeoutMs, signal))
    last = mine.catch(() => {})
    try {
      return await mine
    } finally {
      waiting -= 1
    }
  }
  return check
}

function checkInThread(text: string, clock: Clock, timeoutMs: number, signal: AbortSignal): Promise<TextProblem[]> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    // The thread has no variables, and nothing in it opens a file after its own code is loaded.
    const worker = new Worker(script, {
      workerData: text,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    })
    let settle = (): void => resolve([tooMuch])
    const abort = (): void => {
      settle = () => reject(signal.reason)
      void worker.terminate()
    }
    const cancel = clock.after(timeoutMs, () => void worker.terminate())
    worker.on('message', (problems: TextProblem[]) => {
      settle = () => resolve(problems)
    })
    worker.on('error', (error) => {
      const isFull = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      settle = () => (isFull ? resolve([tooMuch]) : reject(error))
    })
    worker.on('exit', () => {
      cancel()
      signal.removeEventListener('abort', abort)
      settle()
    })
    signal.addEventListener('abort', abort, { once: true })
  })
}

const tooMuch: TextProblem = {
  line: 1,
  column: 1,
  path: '',
  message:
    'the text takes too much time or memory to check. Make it shorter, and use fewer anchors (&name) and aliases (*name).',
}
