import { z } from 'zod'
import type { Clock } from '../../../domain/clock.ts'
import type { Engine } from '../../../engine/engine.ts'

export const PingSchema = z.object({
  status: z.enum(['Healthy', 'HealthyBusy']).meta({ description: '`HealthyBusy` while a run is active or queued.' }),
  time_of_last_update: z.int().meta({ description: 'When the status last changed, in seconds since 1970.' }),
})

type Ping = z.infer<typeof PingSchema>

/**
 * The answer to the platform. It stops a machine that has been `Healthy` for a long time, so a run that began and ended between
 * two pings also counts as a change.
 */
export function createPing(engine: Pick<Engine, 'stats'>, clock: Pick<Clock, 'now'>): () => Ping {
  let seen = look()
  let changedAt = clock.now()

  function look() {
    const { activeRuns, queuedRuns, runsStarted } = engine.stats()
    return { isBusy: activeRuns + queuedRuns > 0, runsStarted }
  }

  return () => {
    const current = look()
    if (current.isBusy !== seen.isBusy || current.runsStarted !== seen.runsStarted) changedAt = clock.now()
    seen = current
    return { status: current.isBusy ? 'HealthyBusy' : 'Healthy', time_of_last_update: Math.floor(changedAt / 1000) }
  }
}
