// What the trail says of who was shown an approval, and how much of it.

import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Approval } from '../../domain/records/record.ts'
import { aboutCall } from '../../domain/supervision/approval-audit.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Caller, Decision } from '../../domain/supervision/decision.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import { createSyncedWaits } from '../../engine/waits/synced-waits.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { WaitReads } from '../../store/ports/waits.ts'
import { createAuditOnce } from '../oversight/audit-trail.ts'
import { viaOf } from '../sessions/may-command.ts'
import { refuseWithoutPermission, visibleApproval } from './refuse-decision.ts'
import { argumentsOf, revealedText } from './shown-call.ts'

const MOST_NAMES = 5
const MOST_NAME = 60

/** What the person had on their screen before they decided, as their own surface says, for the audit trail: in words, and short. */
export function lookedAtOf({ lookedAt }: Pick<Decision, 'lookedAt'>): AuditRecord['details'] {
  if (lookedAt === undefined) return {}
  const { isWhole, notSeen } = lookedAt
  if (isWhole && notSeen.length === 0) return { looked_at: 'everything' }
  const parts = notSeen
    .slice(0, MOST_NAMES)
    .map(
      ({ name, shown, total }) =>
        `${visibleText(name.slice(0, MOST_NAME).toWellFormed())} (${shown} of ${total} bytes)`,
    )
  const more = notSeen.length > MOST_NAMES ? [`${notSeen.length - MOST_NAMES} more`] : []
  return { looked_at: notSeen.length === 0 ? 'not everything' : `not everything: ${[...parts, ...more].join(', ')}` }
}

/**
 * Puts on record that somebody was shown an approval with this digest, and where: `ctl`, `console`, `slack`, … Once for each person,
 * digest and place. Throws `approval_not_found`.
 */
export type NoteShown = (by: Caller, approvalId: string, digest: string, surface: string) => Promise<void>

interface LookDeps {
  waits: WaitReads
  log: Pick<SessionLog, 'commit' | 'synced'>
  clock: Pick<Clock, 'now'>
}

export function createNoteShown({ waits, log, clock }: LookDeps): NoteShown {
  const synced = createSyncedWaits(waits, log)
  const auditOnce = createAuditOnce(log)

  return async (by, approvalId, digest, surface) => {
    const approval = await visibleApproval(synced, by, approvalId)
    const key = JSON.stringify([by.user, viaOf(by), approval.id, digest, surface])
    await auditOnce(key, lookRecord('shown', by, approval, clock.now(), { digest, surface }))
  }
}

/**
 * The value of one argument without masks, with hidden characters marked. `name` is the name as it is shown. Each time is on record before
 * the caller has it. Throws `approval_not_found`, `forbidden`, or `invalid_request` for a name that the call does not have.
 */
export type RevealSecret = (by: Caller, approvalId: string, name: string) => Promise<string>

const MOST_REVEALED_NAME = 200

export function createRevealSecret({ waits, log, clock }: LookDeps): RevealSecret {
  const synced = createSyncedWaits(waits, log)

  return async (by, approvalId, name) => {
    const approval = await visibleApproval(synced, by, approvalId)
    refuseWithoutPermission(by, approval)
    const found = Object.entries(argumentsOf(approval)).find(([one]) => visibleText(one) === name)
    if (found === undefined) {
      throw new ServerError('invalid_request', 'The call has no argument of this name.', {
        problems: [{ pointer: '/name', detail: 'Send a name as `shown.arguments` has it.' }],
      })
    }
    const shown = { digest: approval.digest, name: name.slice(0, MOST_REVEALED_NAME).toWellFormed() }
    await log.commit({ type: 'add_audit', audit: [lookRecord('revealed', by, approval, clock.now(), shown)] })
    return revealedText(found[1])
  }
}

const lookRecord = (
  kind: 'shown' | 'revealed',
  by: Caller,
  approval: Approval,
  at: number,
  details: AuditRecord['details'],
): AuditRecord => ({
  at,
  kind,
  by: by.user,
  ...aboutCall(approval),
  details: { approval: approval.id, ...details, ...viaOf(by) },
})
