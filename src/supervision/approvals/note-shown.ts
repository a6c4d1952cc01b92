import type { Clock } from '../../domain/clock.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { createSyncedWaits } from '../../engine/waits/synced-waits.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { WaitReads } from '../../store/ports/waits.ts'
import { createAuditOnce } from '../oversight/audit-trail.ts'
import { viaOf } from '../sessions/may-command.ts'
import { visibleApproval } from './permission.ts'

/**
 * Puts on record that somebody was shown an approval with this digest, and where: `ctl`, `console`, `slack`, … Once for each person,
 * digest and place. Throws `approval_not_found`.
 */
export type NoteShown = (by: Caller, approvalId: string, digest: string, surface: string) => Promise<void>

interface ShownDeps {
  waits: WaitReads
  log: Pick<SessionLog, 'commit' | 'synced'>
  clock: Pick<Clock, 'now'>
}

export function createNoteShown({ waits, log, clock }: ShownDeps): NoteShown {
  const synced = createSyncedWaits(waits, log)
  const auditOnce = createAuditOnce(log)

  return async (by, approvalId, digest, surface) => {
    const { id, sessionId, runId, agent, tool, callId } = await visibleApproval(synced, by, approvalId)
    const key = JSON.stringify([by.user, viaOf(by), id, digest, surface])
    const subject = { session: sessionId, run: runId, agent, tool, call: callId }
    const details = { approval: id, digest, surface, ...viaOf(by) }
    await auditOnce(key, { at: clock.now(), kind: 'shown', by: by.user, ...subject, details })
  }
}
