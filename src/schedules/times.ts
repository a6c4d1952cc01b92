// When a schedule is due. Pure: `scheduler.ts` has the clock.

import { createHash } from 'node:crypto'
import { Cron } from 'croner'
import type { ScheduleSettings, ScheduleTimes } from '../domain/agent/schedule.ts'

/** The due times of a schedule, in epoch ms. They are the same for every server, whenever it asks. */
export interface Times {
  /** The first one after this time; null: there is none. */
  next(after: number): number | null
  /** The last one after `after` and not after `upTo`; null: there is none. */
  last(after: number, upTo: number): number | null
}

/** `since` is when the schedule began: what is due every hour is due an hour later for the first time. */
export function timesOf({ times, until }: Pick<ScheduleSettings, 'times' | 'until'>, since: number): Times {
  const following = followingOf(times, since)
  const next = (after: number): number | null => {
    const at = following(after)
    return at === null || (until !== null && at > until) ? null : at
  }

  function last(after: number, upTo: number): number | null {
    const isThereAfter = (at: number): boolean => (next(at) ?? Number.POSITIVE_INFINITY) <= upTo
    if (!isThereAfter(after)) return null
    // There may be half a million of them, and cron only knows what comes next.
    let [has, hasNot] = [after, upTo]
    while (hasNot - has > 1) {
      const middle = Math.floor((has + hasNot) / 2)
      if (isThereAfter(middle)) has = middle
      else hasNot = middle
    }
    return hasNot
  }
  return { next, last }
}

function followingOf(times: ScheduleTimes, since: number): (after: number) => number | null {
  switch (times.type) {
    case 'at':
      return (after) => (after < times.at ? times.at : null)
    case 'every':
      return (after) => since + (Math.floor(Math.max(after - since, 0) / times.ms) + 1) * times.ms
    case 'cron': {
      const cron = parseCron(times.cron, times.timeZone)
      // Croner counts in seconds.
      return (after) => cron.nextRun(new Date(Math.floor(after / 1_000) * 1_000))?.getTime() ?? null
    }
  }
}

/**
 * Croner's rules for summer time: a time of day that does not exist is the first moment after the gap, one that exists twice counts once,
 * and what is due every so many minutes follows the clock on the wall through both hours.
 */
const parseCron = (cron: string, timezone: string): Cron => new Cron(cron, { timezone, paused: true, mode: '5-part' })

/** What is wrong with the times, with what to write; null: nothing. */
export function timesProblem(times: ScheduleTimes, now: number): string | null {
  if (times.type === 'at') {
    return times.at > now ? null : `${new Date(times.at).toISOString()} is over. Write a time that is still to come.`
  }
  if (times.type === 'every') return null
  const example = 'Write minute, hour, day, month and weekday, e.g. cron: "0 8 * * 1-5" for 8:00 from Monday to Friday.'
  try {
    const first = parseCron(times.cron, times.timeZone).nextRun(new Date(now))
    return first === null ? `${JSON.stringify(times.cron)} never comes. ${example}` : null
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : 'it cannot be read'
    return `${JSON.stringify(times.cron)} is not a cron expression: ${why.replace(/\.$/, '')}. ${example}`
  }
}

/** By how much the times of this schedule are delayed. */
export const delayOf = (id: string, jitterMs: number): number =>
  Math.floor((createHash('sha256').update(id).digest().readUInt32BE() / 2 ** 32) * jitterMs)
