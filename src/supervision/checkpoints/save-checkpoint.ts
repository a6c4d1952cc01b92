import { type HashDeps, type HashRequest, hashWorkspace } from './hash-workspace.ts'
import { type CheckpointSummary, type Manifest, summaryOf } from './manifest.ts'
import type { ContentLimits } from './restore-plan.ts'
import type { SnapshotStore } from './snapshot-store.ts'

export interface SaveRequest extends HashRequest {
  checkpointId: string
  label: string | null
  /** Epoch milliseconds. */
  createdAt: number
  /** Null: keep only hashes. Then the checkpoint can be compared, but not restored. */
  content: ContentLimits | null
}

/** Hashes the workspace and stores what it finds. If it fails, nothing of it is found later. */
export function saveCheckpoint(
  request: SaveRequest,
  { store, ...deps }: Omit<HashDeps, 'content'> & { store: SnapshotStore },
): CheckpointSummary {
  const { checkpointId, label, createdAt, content, root: workspaceRoot } = request
  const writer = store.begin(checkpointId)
  const kept = new Set<string>()
  let left = content?.maxTotalBytes ?? 0
  const sink = content && {
    maxFileBytes: content.maxFileBytes,
    take(sha256: string, bytes: Buffer): void {
      if (kept.has(sha256) || bytes.length > left) return
      left -= bytes.length
      writer.keep(sha256, bytes)
      kept.add(sha256)
    },
  }
  try {
    const found = hashWorkspace(request, { ...deps, content: sink })
    const manifest: Manifest = { checkpointId, label, workspaceRoot, createdAt, ...found, kept }
    return summaryOf(manifest, writer.commit(manifest))
  } finally {
    writer.discard()
  }
}
