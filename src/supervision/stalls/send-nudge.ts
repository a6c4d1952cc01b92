import { present } from '../../domain/present.ts'
import type { Alert } from '../../domain/records/record.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import { isOpen, type ProgressItem } from '../../domain/supervision/supervision.ts'
import { activityEvent } from '../sessions/session-events.ts'
import { about, type Changes, type SessionParts, type SupervisedSession } from '../sessions/take-step.ts'
import { alertOf } from './alerts.ts'
import type { Nudge, PushNudge } from './stalls.ts'

interface SendNudgeDeps extends Pick<SessionParts, 'takeStep' | 'clock' | 'ids' | 'logger'> {
  push: PushNudge
  /** Of the settings. */
  defaultMessage: string
}

interface Wanted {
  /** Null: nobody was alarmed. */
  alert: Alert | null
  /** Undefined: the configured text. */
  text?: string | undefined
  source: string
  /** More for the audit trail. */
  details?: AuditRecord['details']
}

/**
 * Pushes a nudge, then writes which way it took. It also goes out with the result of the next call, because hosts may drop what is
 * pushed.
 */
export function createSendNudge({ takeStep, push, defaultMessage, clock, ids, logger }: SendNudgeDeps) {
  return async (session: SupervisedSession, { alert, text, source, details = {} }: Wanted): Promise<void> => {
    const message = text ?? nudgeText(defaultMessage, session.supervision.progressSnapshot ?? [])
    const { nudgeCount, updatedAt } = session.supervision
    const idleSeconds = Math.round((clock.now() - updatedAt) / 1_000)
    const nudge: Nudge = { sessionId: session.id, message, nudgeCount: nudgeCount + 1, idleSeconds, source }
    const way = await push(nudge).catch((error: unknown) => {
      logger.warn('a nudge could not be pushed', { session_id: session.id, error })
      return null
    })
    await takeStep(session.id, (now): Changes => {
      // The window was closed meanwhile. A hosted agent that rests hears it with its next prompt.
      if (!isOpen(now.session.supervision) && now.session.supervision.hosted === undefined) return {}
      const open = alertOf(now)
      // The nudge may have ended the alert already. It was nudged all the same: the agent is not back by itself.
      const target = alert ?? open
      const isPending = target !== undefined && open?.id === target.id && open.status === 'pending'
      const facts = { message, by: source, way: way ?? 'the next result', nudge_count: nudge.nudgeCount }
      // The push may have woken the agent already. Then the next silence begins at none.
      const isBack = now.session.supervision.updatedAt > updatedAt
      return {
        supervision: {
          openNudge: message,
          nudgeCount: isBack ? now.session.supervision.nudgeCount : nudge.nudgeCount,
        },
        events: [activityEvent(ids.uuid(), 'nudge', facts, now.at)],
        settle: target === undefined ? [] : [{ id: target.id, patch: nudged(isPending, nudge, way, now.at) }],
        audit: [
          about(now.session, now.at, source, {
            what: 'nudge',
            way: way ?? 'none',
            count: nudge.nudgeCount,
            ...details,
          }),
        ],
      }
    })
  }
}

const nudged = (isPending: boolean, { message, nudgeCount }: Nudge, way: string | null, at: number): Partial<Alert> =>
  present({
    status: isPending ? ('nudged' as const) : undefined,
    nudgeCount,
    nudgeMessage: message,
    lastNudgeAt: at,
    nudgedBy: way,
  })

/** The configured text, with the checklist as the agent last told it. */
function nudgeText(defaultMessage: string, items: readonly ProgressItem[]): string {
  if (items.length === 0) return defaultMessage
  const named = (status: ProgressItem['status']) =>
    items.filter((one) => one.status === status).map(({ label }) => label)
  const done = named('done')
  const open = [...named('in_progress'), ...named('pending')]
  const sums = [
    `${done.length} of ${items.length} steps are done.`,
    ...(open.length === 0 ? [] : [`Next: ${open.slice(0, 5).join('; ')}.`]),
  ]
  return `${defaultMessage} ${sums.join(' ')}`
}
