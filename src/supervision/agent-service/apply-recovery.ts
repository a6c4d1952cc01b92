import { ServerError } from '../../domain/errors.ts'
import { type HostApproval, isSupervisedApproval, type SupervisedApproval } from '../../domain/records/record.ts'
import { openStatuses } from '../../domain/supervision/supervision.ts'
import { isOfPlace } from '../../replicas/at-its-place.ts'
import type { Store } from '../../store/store.ts'
import { appliedAs, type ChangeWriter } from '../diffs/change-writer.ts'
import { approvedSet } from '../hosted/ask-changes.ts'
import type { SessionParts } from '../sessions/take-step.ts'
import { finishChangeSet } from '../worktrees/apply-change-set.ts'
import { approvedChange, finished, notWritten } from './accept-diff.ts'

interface RecoveryDeps extends Pick<SessionParts, 'takeStep' | 'logger'> {
  store: Pick<Store, 'sessions' | 'supervised' | 'waits'>
  writer: Pick<ChangeWriter, 'finish' | 'clean'>
  /** See `Replica.place`: each process finishes what was begun on its own folder. */
  place: string | null
}

const PAGE = 100
const MOST_OPEN = 1_000

/**
 * After a start: finishes the changes that were approved and used up when the process died. Each is then written, or its record says why
 * not. Also sets the stall timers going that the old process had paused. Never rejects: what fails now is tried at the next start.
 */
export function createApplyRecovery(deps: RecoveryDeps): () => Promise<void> {
  const { store, takeStep, writer, logger, place: own } = deps

  async function finish(record: SupervisedApproval): Promise<void> {
    const { id, sessionId } = record
    const { workspaceRoot, place } = (await store.sessions.get(sessionId))?.supervision ?? {}
    if (workspaceRoot === undefined || !isOfPlace(own, place)) return
    try {
      if (record.kind === 'changes') return await finishSet(record, workspaceRoot)
      const change = await approvedChange(store, record, workspaceRoot)
      if ((await writer.finish(change)) === 'applied') {
        await takeStep(sessionId, (now) => finished(now, record, appliedAs(change, [])))
        logger.info('a change that was interrupted is written', { approval_id: id, session_id: sessionId })
        return
      }
      const why = 'The server stopped before it wrote the file, and the file has other content now.'
      await takeStep(sessionId, (now) => notWritten(now, record, why))
    } catch (error) {
      // A full disk may have space later. Everything else that has a name stays as it is.
      const isForGood = error instanceof ServerError && !error.code.startsWith('storage_')
      if (isForGood) await takeStep(sessionId, (now) => notWritten(now, record, error.message))
      else throw error
    }
  }

  /** All that a hosted agent had changed, and a person approved. */
  async function finishSet(record: HostApproval, workspaceRoot: string): Promise<void> {
    const { set } = await approvedSet(store, record, { workspaceRoot, serverPaths: [] })
    const { files_written, conflicts, warnings } = await finishChangeSet(
      { workspaceRoot, changes: set.changes },
      writer,
    )
    const why = `The server stopped before it wrote them, and they have other content now: ${conflicts.join(', ')}.`
    await takeStep(record.sessionId, (now) =>
      conflicts.length === 0 ? finished(now, record, { files_written, warnings }) : notWritten(now, record, why),
    )
  }

  async function finishAll(): Promise<void> {
    const tried = new Set<string>()
    for (;;) {
      const left = await store.supervised.unapplied(PAGE)
      const next = left.filter(({ id }) => !tried.has(id))
      if (next.length === 0) return
      for (const record of next) {
        tried.add(record.id)
        await finish(record).catch((error: unknown) =>
          logger.warn('a change that was interrupted could not be finished yet', { approval_id: record.id, error }),
        )
      }
    }
  }

  /** A kill before the approval was used leaves a temporary file beside the real one. */
  async function clean(sessionId: string, workspaceRoot: string): Promise<void> {
    const approved = await store.waits.list({ wait: 'approval', sessionId, status: 'approved', limit: PAGE })
    for (const record of approved.filter(isSupervisedApproval)) {
      if (record.kind !== 'diff') continue
      try {
        await writer.clean(await approvedChange(store, record, workspaceRoot))
      } catch (error) {
        logger.warn('a temporary file may be left', { approval_id: record.id, error })
      }
    }
  }

  /** A session whose timer is paused is one that the old process worked for. */
  async function resumeTimers(): Promise<void> {
    for (const { id, supervision } of await store.supervised.sessions({ statuses: openStatuses, limit: MOST_OPEN })) {
      if (supervision?.stallPaused !== true || !isOfPlace(own, supervision.place)) continue
      try {
        await clean(id, supervision.workspaceRoot)
        await takeStep(id, ({ at }) => ({ supervision: { stallPaused: false, updatedAt: at } }))
      } catch (error) {
        logger.warn('the stall timer of a session stays paused', { session_id: id, error })
      }
    }
  }

  return async () => {
    try {
      await finishAll()
      await resumeTimers()
    } catch (error) {
      logger.warn('interrupted changes could not be looked through', { error })
    }
  }
}
