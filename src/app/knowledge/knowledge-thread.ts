// The thread that `work-thread.ts` starts.

import { parentPort, workerData } from 'node:worker_threads'
import type { Logger } from '../../domain/logger.ts'
import type { WorkPlace } from '../../knowledge/create-knowledge.ts'
import type { WorkListener } from '../../knowledge/knowledge-work.ts'
import { openWork, type WorkSettings } from './open-work.ts'
import { connectCalls } from './thread-calls.ts'

if (parentPort === null) throw new Error('this is the script of a thread')
const port = parentPort

const { promise: opened, resolve } = Promise.withResolvers<WorkPlace>()
type Arguments<Method extends keyof WorkPlace> = Parameters<WorkPlace[Method]>

// Connected before the work is opened, which may already have something to log.
const calls = connectCalls(port, {
  update: async (...args: Arguments<'update'>) => (await opened).update(...args),
  stop: async (...args: Arguments<'stop'>) => (await opened).stop(...args),
  search: async (...args: Arguments<'search'>) => (await opened).search(...args),
  around: async (...args: Arguments<'around'>) => (await opened).around(...args),
  now: async (...args: Arguments<'now'>) => (await opened).now(...args),
  look: async (...args: Arguments<'look'>) => (await opened).look(...args),
  clear: async (...args: Arguments<'clear'>) => (await opened).clear(...args),
  keepOnly: async (...args: Arguments<'keepOnly'>) => (await opened).keepOnly(...args),
  async close() {
    await (await opened).close()
    // With nothing left to wait for, the thread ends.
    setImmediate(() => port.close())
  },
} satisfies Record<keyof WorkPlace, unknown>)

// Whoever starts the script passes its settings.
resolve(
  await openWork(workerData as WorkSettings, {
    listener: {
      progress: (...args: Parameters<WorkListener['progress']>) => tell('progress', args),
      embed: (...args: Parameters<WorkListener['embed']>) =>
        calls.call('embed', args) as ReturnType<WorkListener['embed']>,
    },
    log: loggerWith({}),
  }),
)

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
function plain(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof Error ? String(value.stack ?? value) : value,
    ]),
  )
}
