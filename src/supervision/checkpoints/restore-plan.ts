// What restoring a checkpoint would do, for the person who confirms it.

import type { Divergence, WorkspaceChange } from './compare-workspace.ts'

export interface RestorePlan extends PlanLists {
  /** The person confirms by naming it. Any change in the workspace gives another one. */
  digest: string
  /** The whole number: the lists have at most `shown` names each. */
  counts: Record<keyof PlanLists, number>
}

/** Show names with `visibleText`. */
interface PlanLists {
  modified: string[]
  deleted: string[]
  added: string[]
  /** Neither compared nor touched: they could not be read now or at the checkpoint. */
  unknown: string[]
  /** They stay as they are: the checkpoint has their hash but not their bytes. */
  cannot_restore: string[]
  /** Their present content is too large to be kept, so an undo cannot bring it back. */
  lost_for_good: string[]
  /** Also in one of the other lists. Restoring writes to these places, which nobody may write to without a person. */
  protected: string[]
}

interface PlanFacts {
  /** Hashes whose bytes the checkpoint keeps. */
  kept: ReadonlySet<string>
  limits: ContentLimits
  isProtected: (path: string) => boolean
  /** How many names each list shows. */
  shown: number
}

/** How much of the contents is kept. What is beyond has only its hash. */
export interface ContentLimits {
  maxFileBytes: number
  maxTotalBytes: number
}

export const contentLimits: ContentLimits = { maxFileBytes: 32 * 1024 * 1024, maxTotalBytes: 2 * 1024 * 1024 * 1024 }

export function planRestore(divergence: Divergence, facts: PlanFacts): RestorePlan {
  const { modified, deleted, added, unknown, digest } = divergence
  const changes = [...modified, ...deleted, ...added]
  const lists: PlanLists = {
    modified: modified.map(pathOf),
    deleted: deleted.map(pathOf),
    added: added.map(pathOf),
    unknown,
    cannot_restore: changes.filter((change) => !canRestore(change, facts.kept)).map(pathOf),
    lost_for_good: contentsToKeep(changes, facts).tooLarge.map(pathOf),
    protected: changes.map(pathOf).filter(facts.isProtected),
  }
  const counts = { ...EMPTY }
  for (const name of listNames) {
    counts[name] = lists[name].length
    lists[name] = lists[name].slice(0, facts.shown)
  }
  return { digest, counts, ...lists }
}

const EMPTY = { modified: 0, deleted: 0, added: 0, unknown: 0, cannot_restore: 0, lost_for_good: 0, protected: 0 }
const listNames = Object.keys(EMPTY) as (keyof PlanLists)[]

const pathOf = ({ path }: WorkspaceChange): string => path

/** Needs the bytes of the file, unless only its mode differs. */
export function canRestore({ checkpoint, present }: WorkspaceChange, kept: ReadonlySet<string>): boolean {
  if (checkpoint?.type !== 'file' || kept.has(checkpoint.sha256)) return true
  return present?.type === 'file' && present.sha256 === checkpoint.sha256
}

/**
 * Which present contents a restore must keep so that it can be undone, and which are too large for that. The plan and the restore both
 * ask here, so that the plan tells the truth.
 */
export function contentsToKeep(
  changes: readonly WorkspaceChange[],
  { kept, limits }: Pick<PlanFacts, 'kept' | 'limits'>,
): { keep: WorkspaceChange[]; tooLarge: WorkspaceChange[] } {
  const keep: WorkspaceChange[] = []
  const tooLarge: WorkspaceChange[] = []
  let left = limits.maxTotalBytes
  for (const change of changes) {
    const { checkpoint, present } = change
    if (present?.type !== 'file' || kept.has(present.sha256) || !canRestore(change, kept)) continue
    const isModeOnly = checkpoint?.type === 'file' && checkpoint.sha256 === present.sha256
    if (isModeOnly) continue
    const fits = present.bytes <= Math.min(limits.maxFileBytes, left)
    if (fits) left -= present.bytes
    const list = fits ? keep : tooLarge
    list.push(change)
  }
  return { keep, tooLarge }
}
