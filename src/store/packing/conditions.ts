// Conditions that both databases ask in the same words. They are made from the tables of the domain.

import { allKinds, openRecordStatuses } from '../../domain/records/record-kinds.ts'
import {
  type ActivityFact,
  activityRules,
  busyStatuses,
  endedStatuses,
  type SessionActivity,
} from '../../domain/session/session-overview.ts'

export const among = (words: readonly string[]): string => `IN (${words.map((word) => `'${word}'`).join(', ')})`

/** The same as `isWaiting` of a record. */
export const OPEN_RECORD = `status ${among(openRecordStatuses)}`

/** The indexes of records begin with the kind. */
export const OPEN_RECORD_OF_ANY_KIND = `kind ${among(allKinds)} AND ${OPEN_RECORD}`

interface ActivityColumns {
  /** The session's number or id. */
  session: string
  /** The status of its agent elsewhere; null if it has none. */
  supervised: string
  /** Lists of sessions. Each is small and read once, however many sessions are asked about. */
  running: string
  queued: string
  waiting: string
}

/** `activityOf` as conditions, one for each activity. */
export function activityConditions(columns: ActivityColumns): Readonly<Record<SessionActivity, string>> {
  const { session, supervised, running, queued, waiting } = columns
  const isNot = (statuses: readonly string[]) => `(${supervised} IS NULL OR ${supervised} NOT ${among(statuses)})`
  const holds: Record<ActivityFact, string> = {
    hasEnded: `${supervised} ${among(endedStatuses)}`,
    isRunning: `${session} IN ${running}`,
    isWaiting: `${session} IN ${waiting}`,
    hasMore: `(${supervised} ${among(busyStatuses)} OR ${session} IN ${queued})`,
  }
  // Not `NOT (…)`: a session without an agent elsewhere has no status, and what is unknown would leave it out.
  const fails: Record<ActivityFact, string> = {
    hasEnded: isNot(endedStatuses),
    isRunning: `${session} NOT IN ${running}`,
    isWaiting: `${session} NOT IN ${waiting}`,
    hasMore: `(${isNot(busyStatuses)} AND ${session} NOT IN ${queued})`,
  }
  const conditionOf = (activity: SessionActivity): string => {
    const ways = activityRules.flatMap(([fact, word], i) => {
      const before = activityRules.slice(0, i).filter(([, other]) => other !== activity)
      return word === activity ? [[holds[fact], ...before.map(([other]) => fails[other])].join(' AND ')] : []
    })
    return ways.length === 1 ? String(ways[0]) : `(${ways.map((way) => `(${way})`).join(' OR ')})`
  }
  const open = activityRules.map(([fact]) => fails[fact]).join(' AND ')
  return { open, running: conditionOf('running'), waiting: conditionOf('waiting'), ended: conditionOf('ended') }
}
