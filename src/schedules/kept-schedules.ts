// The schedules of this server: those of its agent files, and those that were made over the API. What has become of them is in one note
// each, which is changed by compare and set. The note of one that was made over the API has the schedule itself too.

import type { AgentDefinition } from '../domain/agent/agent.ts'
import { type ScheduleSettings, scheduleId } from '../domain/agent/schedule.ts'
import type { Clock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import { didYouMean } from '../domain/text/did-you-mean.ts'
import type { Notes } from '../log/notes.ts'

const PLACE = 'kept schedules'
const MOST_SCHEDULES = 1_000
const MOST_PAST = 50

export interface Schedule {
  /** `agent.name`. */
  id: string
  agent: string
  settings: ScheduleSettings
  /** It stands in the file of its agent. */
  isInFile: boolean
  state: ScheduleState
}

export interface ScheduleState {
  /** Epoch ms from which on its times count. */
  since: number
  /** All times up to here are dealt with. */
  upTo: number
  isPaused: boolean
  /** How many of its times have started a run. */
  runs: number
  /** Newest first. */
  past: readonly PastTime[]
}

/** What became of one time. */
export interface PastTime {
  due: number
  /** When it was dealt with. */
  at: number
  /** Null: it was due. Otherwise who has started it by hand. */
  by: string | null
  outcome: 'started' | 'missed' | 'failed'
  runId: string | null
  sessionId: string | null
  why: string | null
  /** The channels have been told, or there are none. */
  isTold: boolean
}

/** What a note has. `times` are those of the file: if they change, what they would have been before is not missed. */
interface Kept extends ScheduleState {
  times: string
  /** Only of one that was made over the API. */
  made: { agent: string; settings: ScheduleSettings } | null
}

/** `null` from the change: the schedule goes. */
type ChangeState = (state: ScheduleState) => ScheduleState | null

export type KeptSchedules = ReturnType<typeof createKeptSchedules>

interface KeptDeps {
  agents: readonly AgentDefinition[]
  notes: Notes
  clock: Pick<Clock, 'now'>
}

export function createKeptSchedules({ agents, notes, clock }: KeptDeps) {
  const inFiles = new Map(
    agents.flatMap(({ name: agent, schedules = [] }) =>
      schedules.map((settings) => [scheduleId(agent, settings.name), { agent, settings }] as const),
    ),
  )

  function scheduleOf(id: string, { times: _, made, ...state }: Kept): Schedule[] {
    const inFile = inFiles.get(id)
    const known = inFile ?? made
    return known === null ? [] : [{ id, ...known, isInFile: inFile !== undefined, state }]
  }

  const fresh = (settings: ScheduleSettings, made: Kept['made']): Kept => {
    const now = clock.now()
    return { since: now, upTo: now, isPaused: false, runs: 0, past: [], times: JSON.stringify(settings.times), made }
  }

  async function get(id: string): Promise<Schedule> {
    const kept = await notes.read(PLACE, id)
    const [found] = kept === null ? [] : scheduleOf(id, JSON.parse(kept.value))
    if (found !== undefined) return found
    // People leave the agent out.
    const all = (await list()).map((one) => one.id)
    const near = all.find((one) => one.endsWith(`.${id}`)) ?? didYouMean(id, all)
    const advice = near === null ? 'GET /schedules lists them.' : `Did you mean ${near}?`
    throw new ServerError('record_not_found', `There is no schedule ${JSON.stringify(id.slice(0, 130))}. ${advice}`)
  }

  const list = async (): Promise<Schedule[]> =>
    (await notes.list(PLACE)).flatMap(({ key, value }) => scheduleOf(key, JSON.parse(value)))

  return {
    get,
    /** In the order of their ids. */
    list,

    /** Begins those of the files. What has become of them goes on where it was, unless their times have changed. */
    async begin(): Promise<void> {
      for (const [id, { settings }] of inFiles) {
        await notes.update(PLACE, id, (was) => {
          const now = fresh(settings, null)
          if (was === null) return JSON.stringify(now)
          const kept: Kept = JSON.parse(was)
          if (kept.times === now.times) return was
          const upTo = Math.max(kept.upTo, now.upTo)
          return JSON.stringify({ ...kept, since: upTo, upTo, runs: 0, times: now.times })
        })
      }
    },

    /** Throws `conflict` if there is one with this name, and `limit`. */
    async add(agent: string, settings: ScheduleSettings): Promise<Schedule> {
      const id = scheduleId(agent, settings.name)
      if ((await notes.list(PLACE)).length >= MOST_SCHEDULES) {
        throw new ServerError('limit', `There are ${MOST_SCHEDULES} schedules already. Remove one first.`)
      }
      await notes.update(PLACE, id, (was) => {
        // A note of a file that is gone, or has lost this schedule, is only what became of it.
        if (was !== null && scheduleOf(id, JSON.parse(was)).length > 0) {
          throw new ServerError(
            'conflict',
            `There is a schedule ${id} already. Choose another name, or remove it first.`,
          )
        }
        return JSON.stringify(fresh(settings, { agent, settings }))
      })
      return get(id)
    },

    /** Nothing happens if it is gone. */
    async change(id: string, change: ChangeState): Promise<void> {
      await notes.update(PLACE, id, (was) => {
        if (was === null) return null
        const { times, made, ...state }: Kept = JSON.parse(was)
        const next = change(state)
        if (next === state) return was
        if (next === null) return null
        return JSON.stringify({ ...next, past: next.past.slice(0, MOST_PAST), times, made })
      })
    },
  }
}
