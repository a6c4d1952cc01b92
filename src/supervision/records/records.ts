// Prompts, standbys and alerts of agents elsewhere: who sees them, and how a person answers them.

import { isoTime } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { PersonRecord, RecordOf } from '../../domain/records/record.ts'
import type { PersonKind } from '../../domain/records/record-kinds.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { createSyncedWaits, type SyncedWaits } from '../../engine/waits/synced-waits.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { WaitQuery, WaitReads } from '../../store/ports/waits.ts'
import type { SessionNow } from '../sessions/take-step.ts'
import { timeOf } from './record-words.ts'

/** Approvals have rules of their own. */
export type ShownKind = Exclude<PersonKind, 'approval'>

/** `owner`: only those of this one. A user sees their own in any case. */
interface RecordQuery extends Omit<WaitQuery, 'wait'> {
  by: Caller
}

export interface Records {
  /** Newest first. A user sees those of their own sessions, an operator sees all. */
  list<Kind extends ShownKind>(kind: Kind, query: RecordQuery): Promise<RecordOf<Kind>[]>
  /** Throws `record_not_found`, also for a user who does not own its session. */
  get<Kind extends ShownKind>(kind: Kind, by: Caller, id: string): Promise<RecordOf<Kind>>
}

export function createRecords(deps: { waits: WaitReads; log: Pick<SessionLog, 'synced'> }): Records {
  const synced: SyncedWaits = createSyncedWaits(deps.waits, deps.log)
  return {
    async list<Kind extends ShownKind>(kind: Kind, { by, owner, ...query }: RecordQuery) {
      const own = by.role === 'operator' ? owner : by.user
      return (await synced.list({ ...query, owner: own, wait: kind })) as RecordOf<Kind>[]
    },
    async get<Kind extends ShownKind>(kind: Kind, by: Caller, id: string) {
      const wait = await synced.get(id)
      const isVisible = wait?.wait === kind && (by.role === 'operator' || wait.owner === by.user)
      if (!isVisible) throw new ServerError('record_not_found', `There is no ${kind} ${JSON.stringify(id)}.`)
      return wait as RecordOf<Kind>
    },
  }
}

/** How it was decided: ` by ann at 2026-…`. */
export const decidedText = ({ decidedBy, decidedAt }: Pick<PersonRecord, 'decidedBy' | 'decidedAt'>): string =>
  [decidedBy === null ? '' : ` by ${decidedBy}`, decidedAt === null ? '' : ` at ${isoTime(decidedAt)}`].join('')

/** For an answer that came too late: says who answered what and when. */
export function alreadyAnswered(record: RecordOf<ShownKind>, what: string): ServerError {
  const { id, status, decidedBy, decidedAt } = record
  const words =
    decidedBy === 'timeout'
      ? `Nobody answered in time, so this was ${what} by itself${decidedText({ decidedBy: null, decidedAt })}.`
      : `This was already ${what}${decidedText(record)}.`
  return new ServerError('record_decided', words, {
    details: { id, status, decided_by: decidedBy, decided_at: timeOf(decidedAt) },
  })
}

/** What every new record of an agent elsewhere begins with. */
export const newRecord = ({ session: { id: sessionId, owner, agent, supervision }, at }: SessionNow, id: string) => ({
  id,
  status: 'pending' as const,
  sessionId,
  owner,
  agent,
  createdAt: at,
  runId: supervision.openRun ?? supervision.lastRun ?? sessionId,
  lane: null,
  continuationRunId: null,
  messageRefs: {},
  decidedAt: null,
  decidedBy: null,
  decidedVia: null,
  reason: null,
})
