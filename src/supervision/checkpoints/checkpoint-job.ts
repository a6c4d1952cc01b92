// What the thread of `create-checkpoints.ts` can be asked to do. Jobs and results are plain data: they cross the border between threads.

import { unreachable } from '../../domain/unreachable.ts'
import { compareWorkspace, type Divergence } from './compare-workspace.ts'
import type { KeptFile } from './file-diff.ts'
import { type HashRequest, hashWorkspace } from './hash-workspace.ts'
import { type CheckpointFilePage, type CheckpointSummary, type Manifest, pageOfFiles, summaryOf } from './manifest.ts'
import type { ContentLimits } from './restore-plan.ts'
import {
  type CheckpointDeps,
  finishRestore,
  type OpenRestore,
  openRestores,
  type RestoreOutcome,
  type RestoreRequest,
  type RestoreResult,
  restoreWorkspace,
} from './restore-workspace.ts'
import { createSnapshotStore, type SnapshotStore, type SweepResult } from './snapshot-store.ts'
import { systemDisk } from './workspace-folder.ts'

export interface CompareRequest extends HashRequest {
  manifest: string
}

/** `kept`: hashes in the difference whose bytes the checkpoint keeps. */
interface Comparison {
  divergence: Divergence
  kept: Set<string>
}

/** Each kind of job: what it needs and what it gives. */
export interface CheckpointJobs {
  save: { request: SaveRequest; result: CheckpointSummary }
  compare: { request: CompareRequest; result: Comparison }
  restore: { request: RestoreRequest; result: RestoreOutcome }
  finish: { request: { restoreId: string }; result: RestoreResult | null }
  end: { request: { restoreId: string }; result: null }
  open_restores: { request: null; result: OpenRestore[] }
  files: { request: { manifest: string; after: string | null; limit: number }; result: CheckpointFilePage }
  content: { request: { manifest: string; path: string; maxBytes: number }; result: KeptFile }
  sweep: { request: { alive: string[]; before: number }; result: SweepResult }
}

export type CheckpointJob = {
  [Kind in keyof CheckpointJobs]: { folder: string; kind: Kind; request: CheckpointJobs[Kind]['request'] }
}[keyof CheckpointJobs]

export function runCheckpointJob(
  job: CheckpointJob,
  mono: () => number,
): CheckpointJobs[keyof CheckpointJobs]['result'] {
  const store = createSnapshotStore(job.folder)
  const deps = { mono, disk: systemDisk }
  switch (job.kind) {
    case 'save':
      return saveCheckpoint(job.request, { ...deps, store })
    case 'compare': {
      const manifest = store.readManifest(job.request.manifest)
      const present = hashWorkspace({ ...job.request, ignoreFiles: manifest.ignoreFiles }, { ...deps, content: null })
      const divergence = compareWorkspace(job.request.manifest, manifest, present)
      return { divergence, kept: keptOf(divergence, manifest.kept) }
    }
    case 'restore':
      return restoreWorkspace(job.request, { ...deps, store })
    case 'finish':
      return finishRestore(job.request.restoreId, store)
    case 'end':
      store.removeJournal(job.request.restoreId)
      return null
    case 'open_restores':
      return openRestores(store)
    case 'files':
      return pageOfFiles(store.readManifest(job.request.manifest), job.request.after, job.request.limit)
    case 'content':
      return keptFile(store, job.request)
    case 'sweep':
      return store.sweep(new Set(job.request.alive), job.request.before)
    default:
      return unreachable(job)
  }
}

function keptFile(
  store: SnapshotStore,
  { manifest: name, path, maxBytes }: CheckpointJobs['content']['request'],
): KeptFile {
  const manifest = store.readManifest(name)
  const entry = manifest.files.get(path) ?? null
  const isKept = entry?.type === 'file' && manifest.kept.has(entry.sha256) && entry.bytes <= maxBytes
  return { entry, bytes: isKept ? store.readBlob(entry.sha256, entry.bytes) : null }
}

function keptOf({ modified, deleted, added }: Divergence, kept: ReadonlySet<string>): Set<string> {
  const found = new Set<string>()
  for (const { checkpoint, present } of [...modified, ...deleted, ...added]) {
    for (const entry of [checkpoint, present]) {
      if (entry?.type === 'file' && kept.has(entry.sha256)) found.add(entry.sha256)
    }
  }
  return found
}

export interface SaveRequest extends HashRequest {
  checkpointId: string
  label: string | null
  /** Epoch milliseconds. */
  createdAt: number
  /** Null: keep only hashes. Then the checkpoint can be compared, but not restored. */
  content: ContentLimits | null
}

/** Hashes the workspace and stores what it finds. If it fails, nothing of it is found later. */
export function saveCheckpoint(request: SaveRequest, { store, ...deps }: CheckpointDeps): CheckpointSummary {
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
