// Brings a workspace back to a checkpoint. Before the first change, the present content of everything that goes away is kept in a
// checkpoint of its own, and a journal with all steps is on disk. A step can be repeated: it compares the file with what it was and
// with what it shall be. So a restore that was killed at any moment can be finished later.

import { ServerError } from '../../domain/errors.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import { foldersAbove } from '../../domain/text/ignore-rules.ts'
import { compareWorkspace, type Divergence, type WorkspaceChange } from './compare-workspace.ts'
import { type HashDeps, type HashRequest, hashWorkspace, type WorkspaceHashes } from './hash-workspace.ts'
import { type CheckpointSummary, type Manifest, summaryOf } from './manifest.ts'
import { isSameEntry, readEntry } from './read-entry.ts'
import { type ContentLimits, canRestore, contentsToKeep } from './restore-plan.ts'
import { applyStep, type NotRestoredReason, placeOf, type RestoreStep, removeIfEmpty } from './restore-step.ts'
import type { SnapshotStore } from './snapshot-store.ts'
import { type Disk, FolderMoved, openWorkspaceFolder, systemDisk } from './workspace-folder.ts'

export interface RestoreRequest extends HashRequest {
  /** Name of the checkpoint's manifest. */
  manifest: string
  /** The digest that the person confirmed. */
  confirm: string
  /** Names the journal, and the files that are being written. Letters, digits, `_` and `-`. */
  restoreId: string
  /** The checkpoint that keeps what goes away. */
  safety: { checkpointId: string; label: string | null; createdAt: number }
  /** What the caller has to do after the files. With it the journal stays until the caller says that it is done. */
  origin?: RestoreOrigin
  content: ContentLimits
}

/** Enough to finish a restore in another process. */
export interface RestoreOrigin {
  checkpointId: string
  /** The id of the session that goes on after it. */
  sessionId: string
  by: Caller
}

export interface CheckpointDeps extends Omit<HashDeps, 'content'> {
  store: SnapshotStore
}

export interface RestoreResult {
  restore_id: string
  /** Name of the manifest that was restored. */
  manifest: string
  workspace_root: string
  written: number
  removed: number
  not_restored: { path: string; reason: NotRestoredReason }[]
  /** The checkpoint to restore if somebody wants to undo this restore. */
  safety: CheckpointSummary
}

/** `changed`: the workspace is not what the person confirmed. Nothing was written; ask again with the new difference. */
export type RestoreOutcome =
  | { status: 'changed'; divergence: Divergence }
  | { status: 'restored'; result: RestoreResult }

/** A restore that has begun and not ended, for example because the server was killed. */
export interface OpenRestore {
  restore_id: string
  manifest: string
  workspace_root: string
  started_at: number
  steps: number
  origin?: RestoreOrigin | undefined
}

interface Journal {
  restoreId: string
  manifest: string
  safety: string
  workspaceRoot: string
  startedAt: number
  /** Removals first: a folder may have to go before a file can take its place. */
  steps: RestoreStep[]
  /** Folders that may be empty after the removals; the deepest first. */
  emptied: string[]
  noContent: string[]
  origin?: RestoreOrigin | undefined
}

export function restoreWorkspace(request: RestoreRequest, deps: CheckpointDeps): RestoreOutcome {
  const { store, disk } = deps
  const manifest = store.readManifest(request.manifest)
  if (manifest.workspaceRoot !== request.root) {
    throw new ServerError(
      'invalid_request',
      `The checkpoint is of another workspace: ${JSON.stringify(manifest.workspaceRoot)}.`,
    )
  }
  if (openRestores(store).some((open) => open.workspace_root === request.root)) {
    throw new ServerError(
      'conflict',
      'Another restore of this workspace has not ended. Try again in a moment. If it was cut short, the next start of the server finishes it.',
    )
  }
  const look = (): WorkspaceHashes =>
    hashWorkspace({ ...request, ignoreFiles: manifest.ignoreFiles }, { ...deps, content: null })
  const present = look()
  const divergence = compareWorkspace(request.manifest, manifest, present)
  if (divergence.digest !== request.confirm) return { status: 'changed', divergence }
  const changes = [...divergence.modified, ...divergence.deleted, ...divergence.added]
  const safety = keepPresent(request, manifest, present, changes, store, disk)
  if (safety === null) {
    return { status: 'changed', divergence: compareWorkspace(request.manifest, manifest, look()) }
  }
  const journal = journalOf(request, manifest, safety, changes)
  store.writeJournal(request.restoreId, JSON.stringify(journal))
  return { status: 'restored', result: runJournal(journal, store, disk) }
}

/** Repeats the steps of a restore that was cut short. Null: there is no such restore, or it has ended. */
export function finishRestore(restoreId: string, store: SnapshotStore, disk = systemDisk): RestoreResult | null {
  const text = store.readJournal(restoreId)
  return text === null ? null : runJournal(parseJournal(text), store, disk)
}

export function openRestores(store: SnapshotStore): OpenRestore[] {
  return store.journals().flatMap((id) => {
    const text = store.readJournal(id)
    if (text === null) return []
    const { restoreId, manifest, workspaceRoot, startedAt, steps, origin } = parseJournal(text)
    return [
      {
        restore_id: restoreId,
        manifest,
        workspace_root: workspaceRoot,
        started_at: startedAt,
        steps: steps.length,
        origin,
      },
    ]
  })
}

/** Journals appear whole or not at all, in a folder that only we write to. */
const parseJournal = (text: string): Journal => JSON.parse(text)

/** Saves the checkpoint for an undo and returns its name. Null: a file is no longer what the person was shown. */
function keepPresent(
  request: RestoreRequest,
  manifest: Manifest,
  present: WorkspaceHashes,
  changes: readonly WorkspaceChange[],
  store: SnapshotStore,
  disk: Disk,
): string | null {
  const writer = store.begin(request.restoreId)
  try {
    const kept = new Set<string>()
    for (const change of contentsToKeep(changes, { kept: manifest.kept, limits: request.content }).keep) {
      const read = readAt(disk, request.root, change.path, request.content.maxFileBytes)
      if (read === null || !('entry' in read) || !isSameEntry(read.entry, change.present)) return null
      if (read.entry.type !== 'file' || read.content === null) return null
      writer.keep(read.entry.sha256, read.content)
      kept.add(read.entry.sha256)
    }
    // The bytes of unchanged files are those of the checkpoint.
    for (const entry of present.files.values()) {
      if (entry.type === 'file' && manifest.kept.has(entry.sha256)) kept.add(entry.sha256)
    }
    return writer.commit({ ...request.safety, workspaceRoot: request.root, ...present, kept })
  } finally {
    writer.discard()
  }
}

function readAt(disk: Disk, root: string, path: string, maxContent: number): ReturnType<typeof readEntry> | null {
  const { folder, name } = placeOf(path)
  try {
    using open = openWorkspaceFolder(disk, root, folder)
    return readEntry(disk, open.at(name), maxContent)
  } catch (error) {
    if (error instanceof FolderMoved || systemErrorCode(error) !== '') return null
    throw error
  }
}

function journalOf(
  request: RestoreRequest,
  manifest: Manifest,
  safety: string,
  changes: readonly WorkspaceChange[],
): Journal {
  const possible = changes.filter((change) => canRestore(change, manifest.kept))
  const step = ({ path, present, checkpoint }: WorkspaceChange): RestoreStep => [path, present, checkpoint]
  const removals = possible.filter(({ checkpoint }) => checkpoint === null)
  const needed = new Set([...manifest.files.keys()].flatMap((path) => foldersAbove(placeOf(path).folder)))
  const emptied = new Set(removals.flatMap(({ path }) => foldersAbove(placeOf(path).folder)))
  return {
    restoreId: request.restoreId,
    manifest: request.manifest,
    safety,
    workspaceRoot: request.root,
    startedAt: request.safety.createdAt,
    steps: [...removals.map(step), ...possible.filter(({ checkpoint }) => checkpoint !== null).map(step)],
    emptied: [...emptied].filter((folder) => folder !== '' && !needed.has(folder)).sort((a, b) => b.length - a.length),
    noContent: changes.filter((change) => !canRestore(change, manifest.kept)).map(({ path }) => path),
    origin: request.origin,
  }
}

function runJournal(journal: Journal, store: SnapshotStore, disk: Disk): RestoreResult {
  const result: RestoreResult = {
    restore_id: journal.restoreId,
    manifest: journal.manifest,
    workspace_root: journal.workspaceRoot,
    written: 0,
    removed: 0,
    not_restored: journal.noContent.map((path) => ({ path, reason: 'no_content' })),
    safety: summaryOf(store.readManifest(journal.safety), journal.safety),
  }
  const run = (step: RestoreStep): void => {
    const [path, , to] = step
    const problem = applyStep(disk, store, journal, step)
    if (problem !== null) result.not_restored.push({ path, reason: problem })
    else if (to === null) result.removed += 1
    else result.written += 1
  }
  for (const step of journal.steps) if (step[2] === null) run(step)
  for (const folder of journal.emptied) removeIfEmpty(disk, journal.workspaceRoot, folder)
  for (const step of journal.steps) if (step[2] !== null) run(step)
  if (journal.origin === undefined) store.removeJournal(journal.restoreId)
  return result
}
