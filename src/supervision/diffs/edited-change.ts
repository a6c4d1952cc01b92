import { decodeFile } from './file-text.ts'
import {
  type ChangeRequest,
  type FileChange,
  type ProposedChange,
  proposeChange,
  withHeaders,
} from './propose-change.ts'
import { unifiedDiff } from './unified-diff.ts'

export interface EditedChange {
  /** A change of its own, with another digest than the agent's. */
  change: ProposedChange
  /** Unified diff from the agent's text to the operator's, for the agent. Empty if they are the same. */
  difference: string
}

/**
 * An operator writes something else than the agent proposed. `diff` is the operator's: a patch of the file as it is on disk, or its whole
 * new text. Throws as `proposeChange` does.
 */
export async function editedChange(
  stored: FileChange,
  { diff, workspaceRoot, serverPaths = [] }: Omit<ChangeRequest, 'filePath'>,
): Promise<EditedChange> {
  const change = await proposeChange({ workspaceRoot, filePath: stored.path, diff, serverPaths })
  if (change.beforeHash !== stored.beforeHash) change.warnings.push('The file has changed since the agent asked.')
  return { change, difference: differenceBetween(change.path, stored.after, change.after) }
}

/** Unified diff between two texts of one file; null is a file that is not there. Empty if they are the same. */
export function differenceBetween(path: string, from: Uint8Array | null, to: Uint8Array | null): string {
  if (from === to || (from !== null && to !== null && Buffer.compare(from, to) === 0)) return ''
  const textOf = (bytes: Uint8Array | null): string => (bytes === null ? '' : decodeFile(bytes, path).text)
  return withHeaders(path, kindBetween(from, to), unifiedDiff(textOf(from), textOf(to)).hunks)
}

/** An agent that deletes and an operator who keeps: from nothing to a file. */
function kindBetween(from: Uint8Array | null, to: Uint8Array | null): FileChange['kind'] {
  if (from === null) return 'create'
  return to === null ? 'delete' : 'modify'
}
