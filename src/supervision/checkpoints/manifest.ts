// What a checkpoint knows about the files of its workspace. As text it has one JSON array a line: first the checkpoint, then its
// .gitignore files, skipped entries, files and links.

import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { IgnoreFile } from '../../domain/text/ignore-rules.ts'
import type { SkippedEntry } from './hash-workspace.ts'
import type { SkipReason, WorkspaceEntry } from './read-entry.ts'

export interface Manifest {
  checkpointId: string
  label: string | null
  /** The real path of the workspace. */
  workspaceRoot: string
  /** Epoch milliseconds. */
  createdAt: number
  files: Map<string, WorkspaceEntry>
  /** Hashes of files whose bytes are kept too. */
  kept: Set<string>
  skipped: SkippedEntry[]
  ignoreFiles: IgnoreFile[]
}

/** What a list of checkpoints shows. `manifest` is the name of its files in the snapshot store. */
export interface CheckpointSummary {
  checkpoint_id: string
  label: string | null
  workspace_root: string
  created_at: number
  manifest: string
  files: number
  bytes: number
  /** Files that can be brought back because their bytes are kept. Links always can. */
  files_with_content: number
  skipped: number
  /** The first of them. */
  skipped_paths: SkippedEntry[]
}

const SHOWN_SKIPPED = 100

export function summaryOf(manifest: Manifest, name: string): CheckpointSummary {
  let bytes = 0
  let withContent = 0
  for (const entry of manifest.files.values()) {
    if (entry.type === 'link') continue
    bytes += entry.bytes
    if (manifest.kept.has(entry.sha256)) withContent += 1
  }
  return {
    checkpoint_id: manifest.checkpointId,
    label: manifest.label,
    workspace_root: manifest.workspaceRoot,
    created_at: manifest.createdAt,
    manifest: name,
    files: manifest.files.size,
    bytes,
    files_with_content: withContent,
    skipped: manifest.skipped.length,
    skipped_paths: manifest.skipped.slice(0, SHOWN_SKIPPED),
  }
}

interface CheckpointFile {
  path: string
  /** Null for a link. */
  sha256: string | null
  bytes: number
  mode: number | null
  link_target: string | null
  has_content: boolean
}

export interface CheckpointFilePage {
  files: CheckpointFile[]
  total: number
  /** Pass it as `after` to get the next page. Null: this was the last one. */
  next: string | null
}

/** One page of the files, in the order of their paths. */
export function pageOfFiles(manifest: Manifest, after: string | null, limit: number): CheckpointFilePage {
  const files: CheckpointFile[] = []
  let hasMore = false
  for (const [path, entry] of manifest.files) {
    if (after !== null && path <= after) continue
    hasMore = files.length >= limit
    if (hasMore) break
    files.push(shownFile(path, entry, manifest.kept))
  }
  return { files, total: manifest.files.size, next: hasMore ? (files.at(-1)?.path ?? null) : null }
}

function shownFile(path: string, entry: WorkspaceEntry, kept: ReadonlySet<string>): CheckpointFile {
  if (entry.type === 'link') {
    return { path, sha256: null, bytes: 0, mode: null, link_target: entry.target, has_content: true }
  }
  const { sha256, bytes, mode } = entry
  return { path, sha256, bytes, mode, link_target: null, has_content: kept.has(sha256) }
}

const FORMAT = 'quarterdeck-checkpoint-1'

export function encodeManifest(manifest: Manifest): Buffer {
  const { checkpointId, label, workspaceRoot, createdAt } = manifest
  const lines: unknown[] = [[FORMAT, { checkpointId, label, workspaceRoot, createdAt }]]
  for (const { folder, text } of manifest.ignoreFiles) lines.push(['ignore', folder, text])
  for (const { path, reason } of manifest.skipped) lines.push(['skipped', path, reason])
  for (const [path, entry] of manifest.files) {
    if (entry.type === 'link') lines.push(['link', path, entry.target])
    else lines.push(['file', path, entry.sha256, entry.bytes, entry.mode, manifest.kept.has(entry.sha256) ? 1 : 0])
  }
  return Buffer.from(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`)
}

/** The bytes are those that were written: whoever reads them has compared their hash. */
export function decodeManifest(bytes: Buffer): Manifest {
  const [first = '', ...lines] = bytes.toString('utf8').trimEnd().split('\n')
  const [format, head]: unknown[] = JSON.parse(first)
  if (format !== FORMAT || !isRecord(head)) {
    throw new ServerError(
      'storage_failed',
      'This checkpoint was made by another version of Quarterdeck. Use that version.',
    )
  }
  const manifest: Manifest = {
    checkpointId: String(head.checkpointId),
    label: head.label === null ? null : String(head.label),
    workspaceRoot: String(head.workspaceRoot),
    createdAt: Number(head.createdAt),
    files: new Map(),
    kept: new Set(),
    skipped: [],
    ignoreFiles: [],
  }
  for (const line of lines) addLine(manifest, JSON.parse(line))
  return manifest
}

type Line =
  | ['ignore', folder: string, text: string]
  | ['skipped', path: string, reason: SkipReason]
  | ['link', path: string, target: string]
  | ['file', path: string, sha256: string, bytes: number, mode: number, kept: 0 | 1]

function addLine(manifest: Manifest, line: Line): void {
  if (line[0] === 'ignore') manifest.ignoreFiles.push({ folder: line[1], text: line[2] })
  else if (line[0] === 'skipped') manifest.skipped.push({ path: line[1], reason: line[2] })
  else if (line[0] === 'link') manifest.files.set(line[1], { type: 'link', target: line[2] })
  else {
    const [, path, sha256, bytes, mode, kept] = line
    manifest.files.set(path, { type: 'file', sha256, bytes, mode })
    if (kept === 1) manifest.kept.add(sha256)
  }
}
