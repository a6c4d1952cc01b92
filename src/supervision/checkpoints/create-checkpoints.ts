// Checkpoints of workspaces: hashes, kept contents, comparison and restore. The work blocks and can take half a minute, so each job
// has a thread of its own.

import { rm, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { hasCode } from '../../domain/errors.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import type { CheckpointJobs, CompareRequest, SaveRequest } from './checkpoint-job.ts'
import type { Divergence } from './compare-workspace.ts'
import type { KeptFile } from './file-diff.ts'
import type { CheckpointFilePage, CheckpointSummary } from './manifest.ts'
import { type ContentLimits, contentLimits, planRestore, type RestorePlan } from './restore-plan.ts'
import type { OpenRestore, RestoreRequest, RestoreResult } from './restore-workspace.ts'
import { createThreadTurns, runInThread } from './run-in-thread.ts'
import { checkedId, type SweepResult } from './snapshot-store.ts'

export interface Checkpoints {
  /** With an abort nothing of it stays. `content: false` keeps only hashes. */
  save(request: Without<SaveRequest> & { content: boolean }, signal?: AbortSignal): Promise<CheckpointSummary>
  compare(request: Without<CompareRequest>, signal?: AbortSignal): Promise<Divergence>
  plan(request: Without<CompareRequest>): Promise<RestorePlan>
  /** `changed`: the workspace is not what the person confirmed. Nothing was written; show them the new plan. */
  restore(request: Without<RestoreRequest>): Promise<RestoreAnswer>
  /** Restores that the last process began and did not end. */
  openRestores(): Promise<OpenRestore[]>
  /** Goes on where the last process ended; steps that are done stay as they are. Null: there is nothing to finish. */
  finishRestore(restoreId: string): Promise<RestoreResult | null>
  /** Forgets a restore: all of it is done, or nobody wants the rest. Its checkpoint for an undo stays. */
  endRestore(restoreId: string): Promise<void>
  /** The files of a checkpoint, in the order of their paths. */
  files(manifest: string, after: string | null, limit: number): Promise<CheckpointFilePage>
  /** What a checkpoint has of one file, with its bytes if it keeps them and there are at most `maxBytes`. */
  content(manifest: string, path: string, maxBytes: number): Promise<KeptFile>
  /** Removes checkpoints that are not in `alive` and were made before `before` (epoch milliseconds), and the contents that nobody needs. */
  sweep(alive: string[], before: number): Promise<SweepResult>
}

type RestoreAnswer = { status: 'changed'; plan: RestorePlan } | { status: 'restored'; result: RestoreResult }

/** The parts of a request that are the same for every job come from `CheckpointSettings`. */
type Without<Request> = Omit<Request, 'excluded' | 'ignoreFiles' | 'limits' | 'content'>

interface CheckpointSettings {
  /** Where checkpoints are kept. It is created with the first one. */
  folder: string
  /** Absolute paths that are never part of a checkpoint: our data, config and runtime folders. */
  excluded: readonly string[]
  /** `path` is relative to the workspace `root`. */
  isProtected: (path: string, root: string) => boolean
  content?: ContentLimits
}

/** How many names each list of a plan shows. */
const SHOWN_NAMES = 1_000
/** More threads would take the processor from the server. */
const THREADS = 2

/** Lies beside this file: as source in a checkout, compiled in the published package. */
const script = new URL(`./checkpoint-worker${extname(import.meta.url)}`, import.meta.url)

export function createCheckpoints(settings: CheckpointSettings): Checkpoints {
  const { folder, excluded, isProtected, content = contentLimits } = settings
  const inTurn = createThreadTurns(THREADS)

  function run<Kind extends keyof CheckpointJobs>(
    kind: Kind,
    request: CheckpointJobs[Kind]['request'],
    signal?: AbortSignal,
  ): Promise<CheckpointJobs[Kind]['result']> {
    // The thread answers with the result of the job that it was given.
    return inTurn(ALONE.has(kind), () => runInThread(script, { folder, kind, request }, signal), signal) as Promise<
      CheckpointJobs[Kind]['result']
    >
  }

  /** Most servers have no checkpoints. Their start and their housekeeping need no thread. */
  async function isUnused(): Promise<boolean> {
    try {
      await stat(folder)
      return false
    } catch (error) {
      return systemErrorCode(error) === 'ENOENT'
    }
  }

  async function sweep(alive: string[], before: number): Promise<SweepResult> {
    return (await isUnused()) ? { manifests: 0, blobs: 0, bytes: 0 } : run('sweep', { alive, before })
  }

  async function save(request: Parameters<Checkpoints['save']>[0], signal?: AbortSignal): Promise<CheckpointSummary> {
    const incoming = join(folder, 'incoming', checkedId(request.checkpointId))
    try {
      return await run('save', { ...request, excluded, content: request.content ? content : null }, signal)
    } catch (error) {
      // A thread that was ended could not do this itself.
      await rm(incoming, { recursive: true, force: true })
      // Contents that were already in their place take space, and no checkpoint names them. All checkpoints stay.
      if (hasCode(error, 'storage_full')) await sweep([], 0).catch(() => {})
      throw error
    }
  }

  async function planFor(request: Without<CompareRequest>): Promise<RestorePlan> {
    const { divergence, kept } = await run('compare', { ...request, excluded })
    const ofWorkspace = (path: string) => isProtected(path, request.root)
    return planRestore(divergence, { kept, limits: content, isProtected: ofWorkspace, shown: SHOWN_NAMES })
  }

  return {
    save,
    compare: async (request, signal) => (await run('compare', { ...request, excluded }, signal)).divergence,
    plan: planFor,
    async restore(request) {
      const outcome = await run('restore', { ...request, excluded, content })
      if (outcome.status === 'restored') return outcome
      return { status: 'changed', plan: await planFor(request) }
    },
    openRestores: async () => ((await isUnused()) ? [] : run('open_restores', null)),
    finishRestore: (restoreId) => run('finish', { restoreId }),
    async endRestore(restoreId) {
      await run('end', { restoreId })
    },
    files: (manifest, after, limit) => run('files', { manifest, after, limit }),
    content: (manifest, path, maxBytes) => run('content', { manifest, path, maxBytes }),
    sweep,
  }
}

/** Restores write to workspaces. A sweep removes what a save beside it may count on. */
const ALONE: ReadonlySet<keyof CheckpointJobs> = new Set(['restore', 'finish', 'end', 'sweep'])
