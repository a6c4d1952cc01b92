import type { Clock } from '../../domain/clock.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { SupervisedReads } from '../../store/ports/supervised.ts'
import { isSupervisedSession, type SupervisedSession } from './take-step.ts'

/** Removes supervised sessions that ended before the retention time, with everything that belongs to them. Never an open one. */
export type PurgeSupervised = (options: { dryRun: boolean }) => Promise<{ sessions: SupervisedSession[] }>

interface PurgeDeps {
  store: { supervised: Pick<SupervisedReads, 'sessions'> }
  log: Pick<SessionLog, 'commit'>
  clock: Pick<Clock, 'now'>
  /** `sessions.retention_days`. 0: they are kept for ever. */
  retentionDays: number
}

const DAY_MS = 24 * 60 * 60 * 1_000
const MOST = 10_000

export function createPurgeSupervised({ store, log, clock, retentionDays }: PurgeDeps): PurgeSupervised {
  return async ({ dryRun }) => {
    if (retentionDays === 0) return { sessions: [] }
    const now = clock.now()
    const before = now - retentionDays * DAY_MS
    const ended = await store.supervised.sessions({ statuses: ['terminated', 'interrupted'], limit: MOST })
    const due = ended.filter(isSupervisedSession).filter((session) => isOlder(session, before))
    if (!dryRun) {
      const ofOwn = { unlistedBefore: 0, unsentBefore: 0 }
      await log.commit({ type: 'purge_sessions', elsewhere: true, before, ...ofOwn, now, limit: MOST })
    }
    return { sessions: due }
  }
}

/** Text for an ended session, or a handover, is activity after its end. */
const isOlder = ({ lastActivity, supervision: { terminatedAt } }: SupervisedSession, before: number): boolean =>
  Math.max(lastActivity, terminatedAt ?? 0) < before
