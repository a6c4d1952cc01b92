// What the thread of `create-worktrees.ts` can be asked to do.

import { storageError } from '../checkpoints/snapshot-store.ts'
import type { ChangeSet } from './change-set.ts'
import { type ChangesRequest, readChanges } from './read-changes.ts'
import { type SyncRequest, type SyncResult, syncWorktree } from './sync-worktree.ts'

export interface WorktreeJobs {
  sync: { request: SyncRequest; result: SyncResult }
  changes: { request: ChangesRequest; result: ChangeSet }
}

export type WorktreeJob = {
  [Kind in keyof WorktreeJobs]: { kind: Kind; request: WorktreeJobs[Kind]['request'] }
}[keyof WorktreeJobs]

export async function runWorktreeJob(
  job: WorktreeJob,
  mono: () => number,
): Promise<WorktreeJobs[keyof WorktreeJobs]['result']> {
  try {
    return job.kind === 'sync' ? syncWorktree(job.request, mono) : await readChanges(job.request, mono)
  } catch (error) {
    throw storageError(error)
  }
}
