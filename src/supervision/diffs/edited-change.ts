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
  const agents = stored.after === null ? '' : decodeFile(stored.after, stored.path).text
  const operators = change.after === null ? '' : decodeFile(change.after, change.path).text
  const { hunks } = unifiedDiff(agents, operators)
  const isOther = change.afterHash !== stored.afterHash
  return { change, difference: isOther ? withHeaders(change.path, kindBetween(stored, change), hunks) : '' }
}

/** An agent that deletes and an operator who keeps: from nothing to a file. */
function kindBetween(from: FileChange, to: FileChange): FileChange['kind'] {
  if (from.after === null) return 'create'
  return to.after === null ? 'delete' : 'modify'
}
