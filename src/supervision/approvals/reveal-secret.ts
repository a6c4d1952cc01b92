import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import { createSyncedWaits } from '../../engine/waits/synced-waits.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { WaitReads } from '../../store/ports/waits.ts'
import { viaOf } from '../sessions/may-command.ts'
import { refuseWithoutPermission, visibleApproval } from './permission.ts'
import { argumentsOf, revealedText } from './shown-call.ts'

/**
 * The value of one argument without masks, with hidden characters marked. `name` is the name as it is shown. Each time is on record before
 * the caller has it. Throws `approval_not_found`, `forbidden`, or `invalid_request` for a name that the call does not have.
 */
export type RevealSecret = (by: Caller, approvalId: string, name: string) => Promise<string>

interface RevealDeps {
  waits: WaitReads
  log: Pick<SessionLog, 'commit' | 'synced'>
  clock: Pick<Clock, 'now'>
}

const MOST_NAME = 200

export function createRevealSecret({ waits, log, clock }: RevealDeps): RevealSecret {
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
    const { id, sessionId, runId, agent, tool, callId, digest } = approval
    const subject = { session: sessionId, run: runId, agent, tool, call: callId }
    const details = { approval: id, digest, name: name.slice(0, MOST_NAME).toWellFormed(), ...viaOf(by) }
    await log.commit({
      type: 'add_audit',
      audit: [{ at: clock.now(), kind: 'revealed', by: by.user, ...subject, details }],
    })
    return revealedText(found[1])
  }
}
