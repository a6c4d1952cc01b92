import type { Checkpoint, Instruction } from '../../../domain/supervision/supervision.ts'
import type { Divergence, WorkspaceChange } from '../../../supervision/checkpoints/compare-workspace.ts'
import type { FileDiff } from '../../../supervision/checkpoints/file-diff.ts'
import type { WorkspaceEntry } from '../../../supervision/checkpoints/read-entry.ts'
import { sameFields } from '../../shared/same-fields.ts'
import {
  type CheckpointChanges,
  type CheckpointFileDiff,
  CheckpointSchema,
  FileDiffSchema,
  type Checkpoint as WireCheckpoint,
} from './checkpoint-schema.ts'
import type * as wire from './schema.ts'
import { InstructionSchema } from './schema.ts'

export const instructionView: (one: Instruction) => wire.Instruction = sameFields(InstructionSchema.shape)

const sameOfCheckpoint = sameFields<Checkpoint, typeof CheckpointSchema.shape>(CheckpointSchema.shape)
export const checkpointView = (one: Checkpoint): WireCheckpoint => ({
  ...sameOfCheckpoint(one),
  checkpoint_id: one.id,
  session_state: sameOfState(one.sessionState),
  progress_snapshot: one.progressSnapshot,
})
const sameOfState = sameFields<Checkpoint['sessionState'], typeof CheckpointSchema.shape.session_state.shape>(
  CheckpointSchema.shape.session_state.shape,
)

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

export const fileDiffView: (one: FileDiff) => CheckpointFileDiff = sameFields(FileDiffSchema.shape)
