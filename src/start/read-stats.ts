import type { Clock } from '../domain/clock.ts'
import type { Engine } from '../engine/engine.ts'
import { createLoopDelay } from '../http/metrics/loop-delay.ts'
import type { HttpStats } from '../http/server/server.ts'
import type { ServerStats } from '../protocols/manage/stats/routes.ts'
import type { Store } from '../store/store.ts'

interface StatsParts {
  engine: Pick<Engine, 'stats'>
  store: Pick<Store, 'figures'>
  http: () => HttpStats
  clock: Clock
}

/** The figures of `GET /stats`. */
export function createReadStats(
  { engine, store, http, clock }: StatsParts,
  undo: AsyncDisposableStack,
): () => Promise<ServerStats> {
  const delay = createLoopDelay(clock)
  undo.defer(() => delay.close())
  const startedAt = clock.mono()
  return async () => {
    const { bytes, walBytes, waitingRuns, inbox } = await store.figures()
    const { activeRuns, queuedRuns } = engine.stats()
    const { connections, streams } = http()
    const { rss, heapUsed } = process.memoryUsage()
    return {
      uptimeSeconds: Math.floor((clock.mono() - startedAt) / 1_000),
      runs: { active: activeRuns, queued: queuedRuns, waiting: waitingRuns },
      streams,
      connections,
      memory: { rss, heapUsed },
      loopDelayMs: delay.read(),
      store: { bytes, walBytes },
      inbox,
    }
  }
}
