// The schedules of a server, for operators and for the server itself.

import type { AgentDefinition } from '../domain/agent/agent.ts'
import type { ScheduleSettings } from '../domain/agent/schedule.ts'
import type { Clock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import type { RunStatus } from '../domain/session/run.ts'
import type { Engine } from '../engine/engine.ts'
import type { Notes } from '../log/notes.ts'
import { createKeptSchedules, type PastTime, type Schedule } from './kept-schedules.ts'
import { createScheduler, nextTime } from './scheduler.ts'
import { createTellResults, lastRun, type TellDeps } from './tell-results.ts'
import { timesProblem } from './times.ts'

export type Schedules = ReturnType<typeof createSchedules>

/** `status` of its run, or of the run that continued it; null: it has none, or its session is gone. */
export type ShownTime = PastTime & { status: RunStatus | null }
export type ShownSchedule = Schedule & { next: number | null; past: ShownTime[] }

interface SchedulesDeps extends Pick<TellDeps, 'channels' | 'queue' | 'asHolder'> {
  agents: readonly AgentDefinition[]
  engine: Pick<Engine, 'agents' | 'runs' | 'sessions'>
  notes: Notes
  /** Wakes the other servers on the store. */
  tellOthers(): Promise<void>
  clock: Clock
  ids: Ids
  logger: Logger
}

export function createSchedules(deps: SchedulesDeps) {
  const { engine, clock, ids } = deps
  const { runs } = engine
  const kept = createKeptSchedules(deps)
  const scheduler = createScheduler({ ...deps, kept, tell: createTellResults({ ...deps, kept, runs }) })

  async function changed(): Promise<void> {
    scheduler.look()
    await deps.tellOthers()
  }

  async function shown(schedule: Schedule, most: number): Promise<ShownSchedule> {
    const past = schedule.state.past.slice(0, most).map(async (one): Promise<ShownTime> => {
      const run = await lastRun(runs, schedule, one)
      return { ...one, status: run?.status ?? null }
    })
    return { ...schedule, next: nextTime(schedule), past: await Promise.all(past) }
  }

  return {
    /** Begins to start what is due. */
    async begin(): Promise<void> {
      await kept.begin()
      scheduler.look()
    },
    look: scheduler.look,
    close: scheduler.close,

    /** All, each with its newest time. */
    list: async (): Promise<ShownSchedule[]> => Promise.all((await kept.list()).map((one) => shown(one, 1))),
    /** Throws `record_not_found`. */
    get: async (id: string): Promise<ShownSchedule> => shown(await kept.get(id), Number.POSITIVE_INFINITY),

    /** Throws `agent_not_found`, `invalid_request`, `conflict` and `limit`. */
    async add(agent: string, settings: ScheduleSettings): Promise<ShownSchedule> {
      const { name } = engine.agents.get(agent)
      const problem = timesProblem(settings.times, clock.now())
      if (problem !== null) {
        const problems = [{ pointer: `/${settings.times.type}`, detail: problem }]
        throw new ServerError('invalid_request', 'The schedule has no times.', { problems })
      }
      const unknown = settings.notify.find((channel) => !deps.channels.includes(channel))
      if (unknown !== undefined) {
        const known = deps.channels.length === 0 ? 'There are none' : `Send one of ${deps.channels.join(', ')}`
        const detail = `${JSON.stringify(unknown)} is not a channel that takes results. ${known}.`
        throw new ServerError('invalid_request', detail, { problems: [{ pointer: '/notify', detail }] })
      }
      const added = await kept.add(name, settings)
      await changed()
      return shown(added, 1)
    },

    /** What would have been due during a pause is not missed. Throws `record_not_found`. */
    async pause(id: string, isPaused: boolean): Promise<ShownSchedule> {
      await kept.get(id)
      await kept.change(id, (was) =>
        was.isPaused === isPaused ? was : { ...was, isPaused, upTo: Math.max(was.upTo, clock.now()) },
      )
      await changed()
      return shown(await kept.get(id), Number.POSITIVE_INFINITY)
    },

    /** Throws `record_not_found`, and as `Runs.start` does. */
    run: async (id: string, by: string): Promise<PastTime> => scheduler.runNow(await kept.get(id), by, ids.uuid()),

    /** Its sessions stay. Throws `record_not_found`, and `conflict` for one that stands in a file. */
    async remove(id: string): Promise<void> {
      const { isInFile, agent } = await kept.get(id)
      if (isInFile) {
        throw new ServerError(
          'conflict',
          `${id} stands in the file of ${agent}. Remove it there, or pause it: quarterdeck schedules pause ${id}`,
        )
      }
      await kept.change(id, () => null)
      await changed()
    },
  }
}
