import type { Clock } from '../../domain/clock.ts'
import type { Caller } from '../../domain/decision.ts'
import { createSyncedWaits } from '../../engine/waits/synced-waits.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { WaitReads } from '../../store/ports/waits.ts'
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

/** Records that are remembered. One that is forgotten is written once more. */
const REMEMBERED = 10_000

export function createNoteShown({ waits, log, clock }: ShownDeps): NoteShown {
  const synced = createSyncedWaits(waits, log)
  const written = new Map<string, Promise<unknown>>()

  return async (by, approvalId, digest, surface) => {
    const { id, sessionId, runId, agent, tool, callId } = await visibleApproval(synced, by, approvalId)
    const key = JSON.stringify([by.user, viaOf(by), id, digest, surface])
    let writing = written.get(key)
    if (writing === undefined) {
      const subject = { session: sessionId, run: runId, agent, tool, call: callId }
      const details = { approval: id, digest, surface, ...viaOf(by) }
      const audit = [{ at: clock.now(), kind: 'shown' as const, by: by.user, ...subject, details }]
      writing = log.commit({ type: 'add_audit', audit }).catch((error: unknown) => {
        written.delete(key)
        throw error
      })
      written.set(key, writing)
      const [oldest] = written.keys()
      if (written.size > REMEMBERED && oldest !== undefined) written.delete(oldest)
    }
    await writing
  }
}
