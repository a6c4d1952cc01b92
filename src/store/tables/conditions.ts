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

/** Its opposite. The index of what is done names the same statuses. */
export const DONE_RECORD = `status NOT ${among(openRecordStatuses)}`

/** The indexes of records begin with the kind. */
export const OPEN_RECORD_OF_ANY_KIND = `kind ${among(allKinds)} AND ${OPEN_RECORD}`

type Membership = (is: 'IN' | 'NOT IN') => string

interface ActivityColumns {
  /** The status of its agent elsewhere; null if it has none. */
  supervised: string
  /** Whether the session is in a list. Each list is small and read once, however many sessions are asked about. */
  running: Membership
  queued: Membership
  waiting: Membership
  /** Why the last run failed; null if it did not. */
  failure: string
}

/** `activityOf` as conditions, one for each activity. */
export function activityConditions(columns: ActivityColumns): Readonly<Record<SessionActivity, string>> {
  const { supervised, running, queued, waiting, failure } = columns
  const isNot = (statuses: readonly string[]) => `(${supervised} IS NULL OR ${supervised} NOT ${among(statuses)})`
  const holds: Record<ActivityFact, string> = {
    hasEnded: `${supervised} ${among(endedStatuses)}`,
    isRunning: running('IN'),
    isWaiting: waiting('IN'),
    hasMore: `(${supervised} ${among(busyStatuses)} OR ${queued('IN')})`,
    hasFailed: `${failure} IS NOT NULL`,
  }
  // Not `NOT (…)`: a session without an agent elsewhere has no status, and what is unknown would leave it out.
  const fails: Record<ActivityFact, string> = {
    hasEnded: isNot(endedStatuses),
    isRunning: running('NOT IN'),
    isWaiting: waiting('NOT IN'),
    hasMore: `(${isNot(busyStatuses)} AND ${queued('NOT IN')})`,
    hasFailed: `${failure} IS NULL`,
  }
  const conditionOf = (activity: SessionActivity): string => {
    const ways = activityRules.flatMap(([fact, word], i) => {
      const before = activityRules.slice(0, i).filter(([, other]) => other !== activity)
      return word === activity ? [[holds[fact], ...before.map(([other]) => fails[other])].join(' AND ')] : []
    })
    return ways.length === 1 ? String(ways[0]) : `(${ways.map((way) => `(${way})`).join(' OR ')})`
  }
  const open = activityRules.map(([fact]) => fails[fact]).join(' AND ')
  return {
    open,
    running: conditionOf('running'),
    waiting: conditionOf('waiting'),
    failed: conditionOf('failed'),
    ended: conditionOf('ended'),
  }
}
