// Checkpoints of supervised sessions: their records in the store, and their files on disk. `session-restores.ts` goes back to one.

import { ServerError } from '../../domain/errors.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { type Checkpoint, isOpen } from '../../domain/supervision/supervision.ts'
import { refuseForeignCommand, viaOf } from '../sessions/may-command.ts'
import { noticeEvent } from '../sessions/session-events.ts'
import { about, type TakeStep } from '../sessions/take-step.ts'
import type { Divergence } from './compare-workspace.ts'
import { diffOfFile, type FileDiff, MAX_DIFF_BYTES } from './file-diff.ts'
import type { CheckpointFilePage, CheckpointSummary } from './manifest.ts'
import { createSessionRestores, type SessionRestores, type SessionRestoresDeps } from './session-restores.ts'

export interface SessionCheckpoints extends SessionRestores {
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
  /** Removes the files of checkpoints whose records are gone. */
  sweep(): Promise<void>
}

export interface CheckpointQuery {
  by: Caller
  owner?: string | undefined
  sessionId?: string | undefined
  limit: number
  /** The last one of the page before. */
  before?: Place | undefined
}

interface SessionCheckpointsDeps extends SessionRestoresDeps {
  takeStep: TakeStep
}

/** More than a server ever has at one time. */
const MOST = 100_000
/** A checkpoint that is being written is younger than this. */
const YOUNG_MS = 60 * 60 * 1_000

export function createSessionCheckpoints(deps: SessionCheckpointsDeps): SessionCheckpoints {
  const { jobs, store, sessions, takeStep, whileWorking, operators, clock, ids } = deps

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
        events: isOpen(session.supervision) ? [noticeEvent(ids.uuid(), what, facts, at)] : [],
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

  const restores = createSessionRestores(deps, {
    find,
    recordUndo: (sessionId, summary, by) => record(sessionId, summary, by, 'checkpoint_before_restore'),
  })

  return {
    ...restores,

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
      const summary = await whileWorking(sessionId, () => jobs.save(request, { signal }))
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

    changes: ({ workspaceRoot: root, manifest }, signal) => jobs.compare({ root, manifest }, { signal }),

    diff: async ({ workspaceRoot, manifest }, path) =>
      diffOfFile(workspaceRoot, path, await jobs.content(manifest, path, MAX_DIFF_BYTES)),

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
