// Starts what is due. Every server on the store does it for itself: the id of a run follows from its schedule and time, so whoever comes
// second finds the run of the first. A run is started before it is written that its time is over: after a kill between the two, the start
// is repeated and does nothing.

import { createHash } from 'node:crypto'
import { type Clock, isoTime } from '../domain/clock.ts'
import { hasCode, ServerError } from '../domain/errors.ts'
import type { Logger } from '../domain/logger.ts'
import type { RunInput } from '../domain/session/run.ts'
import type { SessionRecord } from '../domain/session/session.ts'
import type { Engine } from '../engine/engine.ts'
import type { SessionChoice } from '../engine/ports/runs.ts'
import type { KeptSchedules, PastTime, Schedule } from './kept-schedules.ts'
import { delayOf, timesOf } from './times.ts'

interface SchedulerDeps {
  kept: KeptSchedules
  engine: Pick<Engine, 'runs'> & { sessions: Pick<Engine['sessions'], 'findForStart' | 'getOpen'> }
  /** Tells channels how runs have ended. Gives in how many ms to ask again; null: when something else happens. */
  tell(schedules: readonly Schedule[]): Promise<number | null>
  clock: Clock
  logger: Logger
}

/** So often it looks anyway: the clock may have been set, and another server may have changed something. */
const LOOK_MS = 30_000
const AGAIN_MS = 5_000
/** What is later than this is missed: a restart takes less. So long a start is tried again that the server cannot take just now. */
const LATE_MS = 5 * 60_000
/** A clock that was ahead by more than this and was set back must not stop a schedule until it is there again. */
const AHEAD_MS = 3_600_000

export function createScheduler(deps: SchedulerDeps) {
  const { kept, tell, clock, logger } = deps
  /** When a start was first tried, by its key. */
  const tried = new Map<string, number>()
  let isWanted = false
  let isClosed = false
  let working: Promise<void> | null = null
  let cancel = () => {}

  /** Looks now what is due, and from then on by itself. */
  function look(): void {
    isWanted = true
    if (!isClosed) working ??= work().finally(() => (working = null))
  }

  async function work(): Promise<void> {
    while (isWanted && !isClosed) {
      isWanted = false
      cancel()
      const waitMs = await lookOnce().catch((error: unknown) => {
        logger.warn('the schedules cannot be looked at just now', { error })
        return AGAIN_MS
      })
      if (waitMs !== null) cancel = clock.after(Math.min(waitMs, LOOK_MS), look)
    }
  }

  /** In how many ms something is due; null: nothing is. */
  async function lookOnce(): Promise<number | null> {
    const schedules = await kept.list()
    const waits: number[] = []
    for (const schedule of schedules) {
      if (isClosed) return null
      const next = await deal(schedule).catch((error: unknown) => {
        logger.warn('a schedule could not be dealt with', { schedule: schedule.id, error })
        return clock.now() + AGAIN_MS
      })
      if (next !== null) waits.push(Math.max(next - clock.now(), 1))
    }
    const again = await tell(schedules)
    if (again !== null) waits.push(again)
    return waits.length === 0 ? null : Math.min(...waits)
  }

  /** Deals with what is due, and gives when to come again. */
  async function deal(schedule: Schedule): Promise<number | null> {
    const { id, settings, state } = schedule
    if (state.isPaused || hasEnded(schedule)) return null
    const now = clock.now()
    if (state.upTo > now + AHEAD_MS) {
      logger.warn('the clock was set back, so a schedule goes on from now', {
        schedule: id,
        up_to: isoTime(state.upTo),
      })
      await kept.change(id, (was) => (was.upTo === state.upTo ? { ...was, upTo: now } : was))
      return now
    }
    const delay = delayOf(id, settings.jitterMs)
    const times = timesOf(settings, state.since)
    const due = times.last(state.upTo, now - delay)
    if (due === null) {
      const next = times.next(state.upTo)
      return next === null ? null : next + delay
    }
    const past = await becomeOf(schedule, due, now - due - delay)
    if (past === null) return now + AGAIN_MS
    await kept.change(id, (was) => {
      // Another server has dealt with it.
      if (was.upTo >= due) return was
      // Only after the clock was set back.
      if (wasDealtWith(was, due)) return { ...was, upTo: due }
      const runs = was.runs + (past.outcome === 'started' ? 1 : 0)
      return { ...was, upTo: due, runs, past: [past, ...was.past] }
    })
    // Also when it has ended: what it has started may have to be told.
    return now
  }

  /** Null: it is tried again. */
  async function becomeOf(schedule: Schedule, due: number, lateMs: number): Promise<PastTime | null> {
    const { id, settings, state } = schedule
    const key = `${id} ${due}`
    const now = clock.now()
    const base = { due, at: now, by: null, runId: null, sessionId: null, isTold: settings.notify.length === 0 }
    const isTooLate = lateMs > LATE_MS && settings.missed === 'skip' && !tried.has(key)
    if (isTooLate || wasDealtWith(state, due)) {
      return { ...base, outcome: 'missed', why: `No server was there to start it at ${isoTime(due)}.` }
    }
    try {
      const started = await start(deps, schedule, due, startId(id, due))
      tried.delete(key)
      return { ...base, ...started, outcome: 'started', why: null }
    } catch (error) {
      const first = tried.get(key) ?? now
      tried.set(key, first)
      if (passesSoon(error) && now - first < LATE_MS) return null
      tried.delete(key)
      logger.warn('a schedule could not start a run', { schedule: id, due: isoTime(due), error })
      const why = error instanceof ServerError ? error.message : 'The server has failed. Its log says how.'
      return { ...base, outcome: 'failed', why }
    }
  }

  return {
    look,
    /** Starts a run now, beside its times. Throws as `Runs.start` does. */
    async runNow(schedule: Schedule, by: string, newId: string): Promise<PastTime> {
      const now = clock.now()
      const started = await start(deps, schedule, now, newId)
      const isTold = schedule.settings.notify.length === 0
      const past: PastTime = { due: now, at: now, by, outcome: 'started', ...started, why: null, isTold }
      await kept.change(schedule.id, (was) => ({ ...was, past: [past, ...was.past] }))
      look()
      return past
    },
    /** Resolves when nothing is under way. */
    async close(): Promise<void> {
      isClosed = true
      cancel()
      await working
    },
  }
}

const wasDealtWith = ({ past }: Schedule['state'], due: number): boolean =>
  past.some((one) => one.by === null && one.due === due)

/** It has no times any more. */
export const hasEnded = ({ settings: { count }, state: { runs } }: Schedule): boolean => count !== null && runs >= count

/** The next time at which a run starts; null: there is none. */
export function nextTime(schedule: Schedule): number | null {
  const { id, settings, state } = schedule
  if (state.isPaused || hasEnded(schedule)) return null
  const next = timesOf(settings, state.since).next(state.upTo)
  return next === null ? null : next + delayOf(id, settings.jitterMs)
}

/** Another server may have the agent already, or this one soon. */
const passesSoon = (error: unknown): boolean =>
  !(error instanceof ServerError) ||
  hasCode(error, 'shutting_down', 'storage_failed', 'storage_full', 'too_many_runs', 'agent_not_found', 'conflict')

/** `id` makes the start one that may be repeated. */
async function start({ engine }: SchedulerDeps, { agent, settings }: Schedule, due: number, id: string) {
  const { owner, session } = settings
  const found = session === null ? null : await engine.sessions.findForStart(owner, session)
  const request = { owner, agent, session: await sessionFor(engine.sessions, settings, found, id), wireRunId: id }
  try {
    const { run } = await engine.runs.start({ ...request, input: inputOf(settings, due, id), origin: 'background' })
    return { runId: run.id, sessionId: run.sessionId }
  } catch (error) {
    // What an earlier try has started may refuse this one: it waits for a person.
    const run = await engine.runs.byWireId(session === null ? id : (found?.id ?? ''), id)
    if (run === null) throw error
    return { runId: run.id, sessionId: run.sessionId }
  }
}

const inputOf = ({ name, message, inputs }: Schedule['settings'], due: number, id: string): RunInput => ({
  messages: [{ id, role: 'user', content: message }],
  instructions: [],
  context: [
    { description: `Time at which the schedule ${name} sends this message`, value: isoTime(due) },
    ...Object.entries(inputs).map(([description, value]) => ({ description, value })),
  ],
  clientTools: [],
  // Nobody is there who could run a client tool.
  clientAnswers: 'none',
})

async function sessionFor(
  sessions: SchedulerDeps['engine']['sessions'],
  { owner, session }: Schedule['settings'],
  found: SessionRecord | null,
  id: string,
): Promise<SessionChoice> {
  if (session === null) return { create: { id } }
  return found === null ? { create: { alias: session } } : { existing: await sessions.getOpen(owner, found.id) }
}

/** The id with which the run of this time is started, however often. */
export function startId(schedule: string, due: number): string {
  const hex = createHash('sha256').update(`${schedule} ${due}`).digest('hex')
  // Version 8 of RFC 9562: an id that follows from something else.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
