// Writes an approved set to the workspace, once. Before the first file the approval is used up on disk, and each file is written whole or
// not at all. So after a kill, `finishChangeSet` knows of each file what is left to do.

import { hasCode, ServerError } from '../../domain/errors.ts'
import type { ChangeWriter } from '../diffs/change-writer.ts'
import type { FileChange } from '../diffs/propose-change.ts'

export interface ApplyRequest {
  /** Real path. */
  workspaceRoot: string
  changes: readonly FileChange[]
}

export interface AppliedSet {
  files_written: { path: string; bytes: number }[]
  /** Files that somebody changed after the check. They stay as they are. */
  conflicts: string[]
  /** Sentences for the agent, the operator and the audit trail. */
  warnings: string[]
}

interface ApplyDeps {
  writer: Pick<ChangeWriter, 'isUnchanged' | 'apply'>
  /** Records durably that the approval is used. If it throws, nothing is written. */
  beforeFirst: () => Promise<void>
}

/**
 * Writes all files, if every one still has the content that was approved as its "before"; otherwise throws `patch_conflict` with the
 * `paths` in its details, and writes nothing. An error after `beforeFirst` has `details.consumed: true`: then call `finishChangeSet`.
 */
export async function applyChangeSet(
  { workspaceRoot, changes }: ApplyRequest,
  { writer, beforeFirst }: ApplyDeps,
): Promise<AppliedSet> {
  const changed: string[] = []
  for (const change of changes) if (!(await writer.isUnchanged({ workspaceRoot, ...change }))) changed.push(change.path)
  if (changed.length > 0) throw changedMeanwhile(changed)
  await beforeFirst()
  const applied: AppliedSet = { files_written: [], conflicts: [], warnings: [] }
  for (const change of changes) {
    try {
      const one = await writer.apply({ workspaceRoot, ...change }, { beforeRename: async () => {} })
      applied.files_written.push(...one.files_written)
      applied.warnings.push(...one.warnings.map((text) => `${change.path}: ${text}`))
    } catch (error) {
      if (!hasCode(error, 'patch_conflict', 'path_violation')) throw asConsumed(error)
      applied.conflicts.push(change.path)
    }
  }
  return applied
}

/**
 * For a set whose approval is recorded as used, but not as applied: the process died in between. A file that has its new content counts as
 * written, one with its old content is written now, and any other is left alone and named. It can be called again at any time.
 */
export async function finishChangeSet(
  { workspaceRoot, changes }: ApplyRequest,
  writer: Pick<ChangeWriter, 'finish'>,
): Promise<AppliedSet> {
  const applied: AppliedSet = { files_written: [], conflicts: [], warnings: [] }
  for (const change of changes) {
    const { path, after } = change
    if ((await writer.finish({ workspaceRoot, ...change })) === 'applied') {
      applied.files_written.push({ path, bytes: after?.length ?? 0 })
    } else applied.conflicts.push(path)
  }
  return applied
}

const SHOWN = 10

function changedMeanwhile(paths: readonly string[]): ServerError {
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : ''
  return new ServerError(
    'patch_conflict',
    `Nothing was written, because these files were changed since the agent's work was shown: ${paths.slice(0, SHOWN).join(', ')}${more}. Look at the new change and decide again.`,
    { details: { paths } },
  )
}

function asConsumed(error: unknown): unknown {
  if (!(error instanceof ServerError)) return error
  const details = { ...error.details, consumed: true }
  return new ServerError(error.code, error.message, { details, cause: error })
}
