// A workspace goes back to a checkpoint: its files, the end of the session that worked there, and a new one in its place.

import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { Checkpoint } from '../../domain/supervision/supervision.ts'
import type { Store } from '../../store/store.ts'
import { type Operators, refuseForeignCommand } from '../sessions/may-command.ts'
import type { SupervisedSessions } from '../sessions/supervised-sessions.ts'
import { isSupervisedSession, type SupervisedSession } from '../sessions/take-step.ts'
import type { WhileWorking } from '../sessions/while-working.ts'
import type { Checkpoints } from './create-checkpoints.ts'
import type { CheckpointSummary } from './manifest.ts'
import type { RestorePlan } from './restore-plan.ts'
import type { RestoreOrigin, RestoreResult } from './restore-workspace.ts'

export interface SessionRestores {
  /**
   * Brings the workspace back if `confirm` is the digest of what would change now; otherwise gives the plan and changes nothing. Ends
   * the checkpoint's session and begins a new one of the same owner. Throws `forbidden`, `limit`, and `invalid_request` for a checkpoint
   * without contents.
   */
  restore(by: Caller, id: string, confirm: string | null): Promise<Restored>
  /** After a start: finishes what a killed process had begun to restore. */
  recover(): Promise<void>
}

type Restored =
  | { status: 'changed'; plan: RestorePlan }
  | { status: 'restored'; session: SupervisedSession; result: RestoreResult; undo: Checkpoint }

export interface SessionRestoresDeps {
  jobs: Checkpoints
  store: Pick<Store, 'sessions' | 'supervised'>
  sessions: Pick<SupervisedSessions, 'get' | 'create' | 'terminate' | 'checkRoom'>
  whileWorking: WhileWorking
  operators: Operators
  clock: Pick<Clock, 'now'>
  ids: Ids
  logger: Logger
}

interface CheckpointRecords {
  /** Throws `record_not_found`. */
  find(by: Caller, id: string): Promise<Checkpoint>
  /** Writes the record of the checkpoint that undoes a restore. */
  recordUndo(sessionId: string, summary: CheckpointSummary, by: Caller): Promise<Checkpoint>
}

export function createSessionRestores(
  { jobs, store, sessions, whileWorking, operators, clock, ids, logger }: SessionRestoresDeps,
  { find, recordUndo }: CheckpointRecords,
): SessionRestores {
  /** After the files: the checkpoint for an undo, the end of the old session, and the new one. What is done already stays. */
  async function goOn(checkpoint: Checkpoint, { by, sessionId: newId }: RestoreOrigin, { safety }: RestoreResult) {
    const { id, sessionId, workspaceRoot, progressSnapshot } = checkpoint
    const { mode, title } = checkpoint.sessionState
    const undo = (await store.supervised.checkpoint(safety.checkpoint_id)) ?? (await recordUndo(sessionId, safety, by))
    const old = await sessions.get(sessionId)
    const { host, prompt, channelId, tokenId, status } = old.supervision
    if (status !== 'terminated') {
      await sessions.terminate(by, sessionId, `Its workspace was restored to checkpoint ${id}.`)
    }
    const made = await store.sessions.get(newId)
    if (made !== null && isSupervisedSession(made)) return { undo, session: made }
    const session = await sessions.create({
      id: newId,
      workspaceRoot,
      owner: old.owner,
      host,
      prompt: prompt ?? '',
      title,
      channelId,
      tokenId,
      mode,
      progressSnapshot,
      restoredFrom: id,
    })
    return { undo, session }
  }

  return {
    async restore(by, id, confirm) {
      const checkpoint = await find(by, id)
      const { label, manifest, workspaceRoot: root, sessionId } = checkpoint
      const old = await sessions.get(sessionId)
      refuseForeignCommand(operators, by, old.owner)
      if (!checkpoint.hasContents) {
        throw new ServerError(
          'invalid_request',
          'This checkpoint has only hashes, so no file can be brought back. Make the next one with contents.',
        )
      }
      if (confirm === null) return { status: 'changed', plan: await jobs.plan({ root, manifest }) }
      await sessions.checkRoom(old.owner, old.id)
      const safety = { checkpointId: ids.uuid(), label: `before restoring ${label ?? id}`, createdAt: clock.now() }
      const restoreId = ids.uuid()
      const origin = { checkpointId: id, sessionId: ids.uuid(), by }
      const request = { root, manifest, confirm, restoreId, safety, origin }
      const restored = await whileWorking(sessionId, () => jobs.restore(request))
      if (restored.status === 'changed') return restored
      const { result } = restored
      try {
        return { status: 'restored', ...(await goOn(checkpoint, origin, result)), result }
      } finally {
        // A process that is killed before this makes the session at its next start.
        await jobs.endRestore(restoreId)
      }
    },

    async recover() {
      for (const { restore_id: restoreId, workspace_root: workspace, origin } of await jobs.openRestores()) {
        let result: RestoreResult | null
        try {
          result = await jobs.finishRestore(restoreId)
          logger.warn('a restore that was cut short is finished now', { workspace })
        } catch (error) {
          logger.error('a restore that was cut short cannot be finished', { workspace, error })
          continue
        }
        if (result === null || origin === undefined) continue
        try {
          await goOn(await find(origin.by, origin.checkpointId), origin, result)
        } catch (error) {
          logger.error('the files of a workspace are restored, but its new session could not be made', {
            workspace,
            error,
          })
        }
        await jobs.endRestore(restoreId)
      }
    },
  }
}
