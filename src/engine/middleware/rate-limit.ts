import type { Clock } from '../../domain/clock.ts'
import type { Middleware } from './middleware.ts'

/**
 * Drops CUSTOM and ACTIVITY_SNAPSHOT events of a run beyond `perSecond`, for tools that report their progress too often. Other
 * events are never dropped: an answer, a call or the state would be wrong with a piece missing.
 */
export function createRateLimit(perSecond: number, clock: Pick<Clock, 'mono'>): Middleware {
  const runs = new Map<string, { second: number; count: number }>()
  return (event, { runId }) => {
    if (event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR') runs.delete(runId)
    if (event.type !== 'CUSTOM' && event.type !== 'ACTIVITY_SNAPSHOT') return event
    const second = Math.floor(clock.mono() / 1000)
    const current = runs.get(runId)
    const count = current?.second === second ? current.count + 1 : 1
    runs.set(runId, { second, count })
    return count > perSecond ? null : event
  }
}
