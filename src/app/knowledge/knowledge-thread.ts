// The thread that `work-thread.ts` starts.

import { parentPort, workerData } from 'node:worker_threads'
import type { Logger } from '../../domain/logger.ts'
import type { WorkListener } from '../../knowledge/knowledge-work.ts'
import { openWork, type WorkSettings } from './open-work.ts'
import { connectCalls } from './thread-calls.ts'

if (parentPort === null) throw new Error('this is the script of a thread')
const port = parentPort

const log = loggerWith({})
// Whoever starts the script passes its settings.
const work = await openWork(workerData as WorkSettings, {
  listener: {
    progress: (...args: Parameters<WorkListener['progress']>) => tell('progress', args),
    embed: (...args: Parameters<WorkListener['embed']>) =>
      calls.call('embed', args) as ReturnType<WorkListener['embed']>,
  },
  log,
})
const calls = connectCalls(port, {
  ...work,
  async close() {
    await work.close()
    // With nothing left to wait for, the thread ends.
    setImmediate(() => port.close())
  },
})

/** Whoever does not want to hear it any more stops no work. */
function tell(method: string, args: readonly unknown[]): void {
  calls.call(method, args).catch(() => {})
}

function loggerWith(own: Record<string, unknown>): Logger {
  const say =
    (level: string) =>
    (message: string, fields: Record<string, unknown> = {}) =>
      tell('log', [level, message, plain({ ...own, ...fields })])
  return {
    debug: say('debug'),
    info: say('info'),
    warn: say('warn'),
    error: say('error'),
    with: (fields) => loggerWith({ ...own, ...fields }),
  }
}

/** An error keeps its name and text on its way to another thread, but functions cannot go there. */
const plain = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof Error ? String(value.stack ?? value) : value,
    ]),
  )
