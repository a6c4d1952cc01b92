import { isoTime } from '../../../domain/clock.ts'
import type { Checkpoint, Instruction } from '../../../domain/supervision/supervision.ts'
import type { Divergence, WorkspaceChange } from '../../../supervision/checkpoints/compare-workspace.ts'
import type { FileDiff } from '../../../supervision/checkpoints/file-diff.ts'
import type { WorkspaceEntry } from '../../../supervision/checkpoints/read-entry.ts'
import type { CheckpointChanges, CheckpointFileDiff, Checkpoint as WireCheckpoint } from './checkpoint-schema.ts'
import type * as wire from './schema.ts'

const time = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))

export const instructionView = (one: Instruction): wire.Instruction => ({
  id: one.id,
  kind: one.kind,
  session_id: one.sessionId,
  text: one.text,
  source: one.source,
  created_at: isoTime(one.createdAt),
  delivered_at: time(one.deliveredAt),
})

export const checkpointView = (one: Checkpoint): WireCheckpoint => ({
  checkpoint_id: one.id,
  session_id: one.sessionId,
  owner: one.owner,
  label: one.label,
  workspace_root: one.workspaceRoot,
  files: one.files,
  bytes: one.bytes,
  has_contents: one.hasContents,
  session_state: {
    status: one.sessionState.status,
    mode: one.sessionState.mode,
    title: one.sessionState.title,
    last_tool: one.sessionState.lastTool,
  },
  progress_snapshot: one.progressSnapshot,
  created_at: isoTime(one.createdAt),
})

const bytesOf = (entry: WorkspaceEntry | null): number | null => (entry?.type === 'file' ? entry.bytes : null)

/** At most `shown` files. The counts are of all. */
export function changesView(
  { id }: Checkpoint,
  { modified, deleted, added, unknown }: Divergence,
  shown: number,
): CheckpointChanges {
  const view = (change: 'modified' | 'deleted' | 'added') => (one: WorkspaceChange) => ({
    path: one.path,
    change,
    bytes_then: bytesOf(one.checkpoint),
    bytes_now: bytesOf(one.present),
  })
  const files = [...modified.map(view('modified')), ...deleted.map(view('deleted')), ...added.map(view('added'))]
  return {
    checkpoint_id: id,
    counts: {
      modified: modified.length,
      deleted: deleted.length,
      added: added.length,
      unknown: unknown.length,
    },
    files: files.sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, shown),
    unknown: unknown.slice(0, shown),
  }
}

export const fileDiffView = (one: FileDiff): CheckpointFileDiff => ({
  path: one.path,
  change: one.change,
  diff: one.diff,
  shown_diff: one.shownDiff,
  added_lines: one.addedLines,
  removed_lines: one.removedLines,
  why_not: one.whyNot,
})
