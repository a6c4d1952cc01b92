// Checkpoints of supervised sessions: their records in the store, and their files on disk. A restore brings back the files, ends the session
// that worked there, and begins a new one in its place.

import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { Checkpoint } from '../../domain/supervision/supervision.ts'
import type { Store } from '../../store/store.ts'
import { refuseForeignCommand, viaOf } from '../sessions/may-command.ts'
import { activityEvent, shownIn } from '../sessions/session-events.ts'
import type { SupervisedSessions } from '../sessions/supervised-sessions.ts'
import { about, isSupervisedSession, type SessionParts, type SupervisedSession } from '../sessions/take-step.ts'
import type { WhileWorking } from '../sessions/while-working.ts'
import type { Divergence } from './compare-workspace.ts'
import type { Checkpoints } from './create-checkpoints.ts'
import { diffOfFile, type FileDiff, MAX_DIFF_BYTES } from './file-diff.ts'
import type { CheckpointFilePage, CheckpointSummary } from './manifest.ts'
import type { RestorePlan } from './restore-plan.ts'
import type { RestoreOrigin, RestoreResult } from './restore-workspace.ts'

export interface SessionCheckpoints {
  /** Hashes the session's workspace and, unless `contents` is false, keeps its files. Throws `forbidden`, `storage_full`. */
  save(
    by: Caller,
    sessionId: string,
    wanted: { label: string | null; contents: boolean },
    signal?: AbortSignal,
  ): Promise<Checkpoint>
  /** Throws `record_not_found`, also for a user who does not own its session. */
  get(by: Caller, id: string): Promise<Checkpoint>
  /** Newest first. A user sees their own, an operator sees all. */
  list(query: CheckpointQuery): Promise<Checkpoint[]>
  /** The files of a checkpoint, in the order of their paths. */
  files(checkpoint: Checkpoint, after: string | null, limit: number): Promise<CheckpointFilePage>
  /** What differs between the checkpoint and the workspace now. Reads every file of the workspace. */
  changes(checkpoint: Checkpoint, signal?: AbortSignal): Promise<Divergence>
  /** The difference in one file. Throws `path_violation`, `file_not_found`. */
  diff(checkpoint: Checkpoint, path: string): Promise<FileDiff>
  /**
   * Brings the workspace back if `confirm` is the digest of what would change now; otherwise gives the plan and changes nothing. Ends
   * the checkpoint's session and begins a new one of the same owner. Throws `forbidden`, `limit`, and `invalid_request` for a checkpoint
   * without contents.
   */
  restore(by: Caller, id: string, confirm: string | null): Promise<Restored>
  /** After a start: finishes what a killed process had begun to restore. */
  recover(): Promise<void>
  /** Removes the files of checkpoints whose records are gone. */
  sweep(): Promise<void>
}

interface CheckpointQuery {
  by: Caller
  owner?: string | undefined
  sessionId?: string | undefined
  limit: number
  /** The last one of the page before. */
  before?: Place | undefined
}

interface SessionCheckpointsDeps extends Pick<SessionParts, 'takeStep' | 'operators' | 'ids' | 'logger'> {
  jobs: Checkpoints
  store: Pick<Store, 'sessions' | 'supervised'>
  sessions: Pick<SupervisedSessions, 'get' | 'create' | 'terminate' | 'checkCapacity'>
  whileWorking: WhileWorking
  clock: Pick<Clock, 'now'>
}

/** More than a server ever has at one time. */
const MOST = 100_000
/** A checkpoint that is being written is younger than this. */
const YOUNG_MS = 60 * 60 * 1_000

export function createSessionCheckpoints(deps: SessionCheckpointsDeps): SessionCheckpoints {
  const { jobs, store, sessions, takeStep, whileWorking, operators, clock, ids, logger } = deps

  /** Writes the record. The files are on disk by then, so a record never names what is not there. */
  async function record(
    sessionId: string,
    summary: CheckpointSummary,
    by: Caller,
    what: 'checkpoint' | 'checkpoint_before_restore',
  ): Promise<Checkpoint> {
    const { result } = await takeStep(sessionId, ({ session, at }) => {
      const { status, mode, title, lastTool, progressSnapshot } = session.supervision
      const checkpoint: Checkpoint = {
        id: summary.checkpoint_id,
        sessionId,
        owner: session.owner,
        label: summary.label,
        workspaceRoot: summary.workspace_root,
        manifest: summary.manifest,
        files: summary.files,
        bytes: summary.bytes,
        hasContents: summary.files_with_content > 0 || summary.files === 0,
        sessionState: { status, mode, title, lastTool },
        progressSnapshot,
        createdAt: summary.created_at,
      }
      const facts = { checkpoint_id: checkpoint.id, label: checkpoint.label, files: checkpoint.files, by: by.user }
      return {
        result: checkpoint,
        checkpoints: [checkpoint],
        events: shownIn(session, activityEvent(ids.uuid(), what, facts, at)),
        audit: [about(session, at, by.user, { what, checkpoint: checkpoint.id, ...viaOf(by) })],
      }
    })
    return result
  }

  async function find(by: Caller, id: string): Promise<Checkpoint> {
    const checkpoint = await store.supervised.checkpoint(id)
    if (checkpoint !== null && (by.role === 'operator' || checkpoint.owner === by.user)) return checkpoint
    throw new ServerError('record_not_found', `There is no checkpoint ${JSON.stringify(id)}.`)
  }

  /** After the files: the checkpoint for an undo, the end of the old session, and the new one. What is done already stays. */
  async function goOn(checkpoint: Checkpoint, { by, sessionId: newId }: RestoreOrigin, { safety }: RestoreResult) {
    const { id, sessionId, workspaceRoot, progressSnapshot } = checkpoint
    const { mode, title } = checkpoint.sessionState
    const undo =
      (await store.supervised.checkpoint(safety.checkpoint_id)) ??
      (await record(sessionId, safety, by, 'checkpoint_before_restore'))
    const old = await sessions.get(sessionId)
    const { host, prompt, channelId, tokenId, status, hosted } = old.supervision
    if (status !== 'terminated') {
      await sessions.terminate(by, sessionId, `Its workspace was restored to checkpoint ${id}.`)
    }
    const made = await store.sessions.get(newId)
    if (isSupervisedSession(made)) return { undo, session: made }
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
      agent: hosted === undefined ? undefined : old.agent,
    })
    return { undo, session }
  }

  return {
    async save(by, sessionId, { label, contents }, signal) {
      const session = await sessions.get(sessionId)
      refuseForeignCommand(operators, by, session.owner)
      const request = {
        root: session.supervision.workspaceRoot,
        checkpointId: ids.uuid(),
        label,
        createdAt: clock.now(),
        content: contents,
      }
      const summary = await whileWorking(sessionId, () => jobs.save(request, signal))
      return record(sessionId, summary, by, 'checkpoint')
    },

    get: find,

    async list({ by, owner, sessionId, limit, before }) {
      const own = by.role === 'operator' ? owner : by.user
      // The store has them in the order in which they were finished. A page begins where the one before ended, so all need one order.
      const found = (await store.supervised.checkpoints({ sessionId, owner: own, limit: MOST })).toSorted(newestFirst)
      return found
        .filter((one) => own === undefined || one.owner === own)
        .filter((one) => before === undefined || newestFirst(before, one) < 0)
        .slice(0, limit)
    },

    files: ({ manifest }, after, limit) => jobs.files(manifest, after, limit),

    changes: ({ workspaceRoot: root, manifest }, signal) => jobs.compare({ root, manifest }, signal),

    diff: async ({ workspaceRoot, manifest }, path) =>
      diffOfFile(workspaceRoot, path, await jobs.content(manifest, path, MAX_DIFF_BYTES)),

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
      await sessions.checkCapacity(old.owner, old.id)
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

    async sweep() {
      const all = await store.supervised.checkpoints({ limit: MOST })
      await jobs.sweep(
        all.map(({ manifest }) => manifest),
        clock.now() - YOUNG_MS,
      )
    },
  }
}

type Place = Pick<Checkpoint, 'createdAt' | 'id'>

const newestFirst = (a: Place, b: Place): number =>
  b.createdAt - a.createdAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)

type Restored =
  | { status: 'changed'; plan: RestorePlan }
  | { status: 'restored'; session: SupervisedSession; result: RestoreResult; undo: Checkpoint }
