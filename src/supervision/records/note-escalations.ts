// Whom `operators.escalation` asks, and when: on record, so that the trail says who could have answered.

import type { Clock } from '../../domain/clock.ts'
import { isOfCodingAgent, isWaiting, type SupervisedRecord } from '../../domain/records/record.ts'
import type { EscalationSettings } from '../../domain/settings/supervision-settings.ts'
import type { Store } from '../../store/store.ts'
import { isSamePerson } from '../sessions/may-command.ts'
import { activityEvent, shownIn } from '../sessions/session-events.ts'
import { about, type SessionParts } from '../sessions/take-step.ts'

interface EscalationDeps extends Pick<SessionParts, 'takeStep' | 'operators' | 'ids' | 'logger'> {
  store: Pick<Store, 'waits'>
  escalation: readonly EscalationSettings[]
  clock: Pick<Clock, 'now'>
}

/** Records of one sweep. The next one, seconds later, takes the rest. */
const MOST_AT_ONCE = 500

/** Looks for what nobody has answered for so long that others are asked too, and puts that on record once. Never throws. */
export function createNoteEscalations(deps: EscalationDeps): () => Promise<void> {
  const { store, takeStep, operators, escalation, clock, ids, logger } = deps

  /** Names and groups that are asked by now and are not on record yet. */
  const newlyAsked = ({ createdAt, owner, escalatedTo = [] }: SupervisedRecord, at: number): string[] => {
    const due = escalation.filter(({ afterMs }) => at - createdAt >= afterMs).flatMap(({ to }) => to)
    return [...new Set(due)].filter((name) => !escalatedTo.includes(name) && !isSamePerson(operators, name, owner))
  }

  async function stillOpen(id: string): Promise<SupervisedRecord | null> {
    const record = await store.waits.get(id)
    return record !== null && isOfCodingAgent(record) && isWaiting(record) ? record : null
  }

  async function note({ id, sessionId }: SupervisedRecord): Promise<void> {
    await takeStep(sessionId, async ({ session, at }) => {
      const record = await stillOpen(id)
      const names = record === null ? [] : newlyAsked(record, at)
      if (record === null || names.length === 0) return {}
      const facts = {
        record: id,
        escalated_to: names.join(', '),
        waited_seconds: Math.floor((at - record.createdAt) / 1000),
      }
      return {
        settle: [{ id, patch: { escalatedTo: [...(record.escalatedTo ?? []), ...names] } }],
        events: shownIn(session, activityEvent(ids.uuid(), 'escalated', facts, at)),
        audit: [about(session, at, 'server', { what: 'escalated', ...facts })],
      }
    })
  }

  return async () => {
    if (escalation.length === 0) return
    const found = await store.waits.list({ isWaiting: true, limit: MOST_AT_ONCE })
    for (const wait of found.filter(isOfCodingAgent)) {
      if (!isWaiting(wait) || newlyAsked(wait, clock.now()).length === 0) continue
      await note(wait).catch((error: unknown) =>
        logger.warn('an escalation could not be put on record yet', { wait_id: wait.id, error }),
      )
    }
  }
}
