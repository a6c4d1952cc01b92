// Tells channels how the runs of schedules have ended, and which could not be started. A line is queued before it is written that it is told, under an id that stays the
// same: after a kill between the two it is queued again, and whoever has it already can tell.

import type { Clock } from '../domain/clock.ts'
import { hasCode } from '../domain/errors.ts'
import type { Logger } from '../domain/logger.ts'
import { typeOfEventText } from '../domain/session/event.ts'
import { isFinished, type RunRecord } from '../domain/session/run.ts'
import { createRunFold, foldedTypes } from '../domain/session/run-answer.ts'
import { joinedCitations, shownSource, sourceLines } from '../domain/session/source.ts'
import type { ChannelLine } from '../domain/supervision/delivery.ts'
import type { Engine } from '../engine/engine.ts'
import type { KeptSchedules, PastTime, Schedule } from './kept-schedules.ts'
import { startId } from './scheduler.ts'

export interface TellDeps {
  kept: Pick<KeptSchedules, 'change'>
  runs: Pick<Engine['runs'], 'get' | 'continuation' | 'follow'>
  /** Channels that take lines. */
  channels: readonly string[]
  /** Queues a line for one of them. Throws `limit`. */
  queue(channel: string, line: Line): Promise<void>
  /** Where several servers share the store, one of them does it at a time. */
  asHolder(work: () => Promise<void>): Promise<void>
  clock: Pick<Clock, 'now'>
  logger: Logger
}

const RUNNING_MS = 2_000
const WAITING_MS = 15_000
const MOST_CHARS = 20_000

/** Gives in how many ms to ask again; null: nothing is to be told. */
export function createTellResults(deps: TellDeps) {
  const { kept, runs, channels, queue, asHolder, clock, logger } = deps

  return async (schedules: readonly Schedule[]): Promise<number | null> => {
    const untold = schedules.flatMap((schedule) =>
      schedule.state.past.filter(({ isTold }) => !isTold).map((past) => ({ schedule, past })),
    )
    if (untold.length === 0) return null
    let again: number = WAITING_MS
    await asHolder(async () => {
      for (const { schedule, past } of untold) {
        const ended = await lastRun(runs, schedule, past)
        if (ended === null || isFinished(ended.status)) await tellOne(schedule, past, ended)
        else if (ended.status !== 'waiting') again = RUNNING_MS
      }
    })
    return again
  }

  async function tellOne(schedule: Schedule, past: PastTime, run: RunRecord | null): Promise<void> {
    const { id, agent, settings } = schedule
    const line = run === null ? unstartedLine(schedule, past) : await endLine(schedule, run)
    if (line !== null) {
      for (const channel of settings.notify) {
        if (channels.includes(channel)) await queue(channel, line)
        else logger.warn('a schedule notifies a channel that is not there', { schedule: id, agent, channel })
      }
    }
    await kept.change(id, (was) => ({
      ...was,
      past: was.past.map((one) => (one.due === past.due && one.runId === past.runId ? { ...one, isTold: true } : one)),
    }))
  }

  async function endLine(schedule: Schedule, run: RunRecord): Promise<Line> {
    const { id, sessionId, status, finishedAt } = run
    const level = status === 'completed' ? 'success' : 'error'
    const text = await textOf(runs, schedule, run)
    return { ...lineOf(id, finishedAt ?? clock.now(), text), sessionId, by: 'agent', level }
  }
}

type Line = Omit<ChannelLine, 'n'>

const lineOf = (id: string, at: number, text: string) => ({ kind: 'line', id, at, text, thread: null }) as const

/** Null: it was started, and its session is gone. */
function unstartedLine({ id, settings }: Schedule, { outcome, due, at, why }: PastTime): Line | null {
  if (outcome === 'started') return null
  const text = `${settings.name} was not started. ${why}`
  return { ...lineOf(startId(id, due), at, text), sessionId: null, by: 'server', level: 'error' }
}

type RunReads = Pick<Engine['runs'], 'get' | 'continuation' | 'follow'>

/** The run of this time, or the newest of those that continued it after answers. Null: its session is gone. */
export async function lastRun(
  runs: Pick<RunReads, 'get' | 'continuation'>,
  { settings: { owner } }: Schedule,
  { runId }: PastTime,
): Promise<RunRecord | null> {
  let run = runId === null ? null : await runs.get(owner, runId).catch(nullIfGone)
  for (let next = run; next !== null; next = await runs.continuation(next)) run = next
  return run
}

const nullIfGone = (error: unknown): null => {
  if (hasCode(error, 'run_not_found')) return null
  throw error
}

/** What the agent has said at last. */
async function textOf(
  runs: Pick<RunReads, 'follow'>,
  { settings: { name } }: Schedule,
  run: RunRecord,
): Promise<string> {
  const fold = createRunFold()
  if (run.firstSeq !== null) {
    const target = { sessionId: run.sessionId, runId: run.id, after: run.firstSeq - 1, firstSeq: run.firstSeq }
    for await (const batch of runs.follow(target, new AbortController().signal)) {
      for (const { kind, data } of batch) {
        if (kind === 'event' && foldedTypes.has(typeOfEventText(data))) fold.add(JSON.parse(data))
      }
    }
  }
  const { text, messages } = fold.soFar()
  const cited = joinedCitations(messages.map(({ citations }) => citations))
  const lines = cited === null ? [] : sourceLines(cited.sources.map(shownSource), cited.notFound)
  const said =
    run.status === 'completed'
      ? [text, ...(lines.length === 0 ? [] : ['', ...lines])].join('\n')
      : `${run.status}: ${run.error?.message ?? text}`
  return `${name}: ${said.slice(0, MOST_CHARS).toWellFormed()}`
}
