// What differs between a workspace and a checkpoint of it.

import { createHash } from 'node:crypto'
import { foldersAbove } from '../../domain/text/ignore-rules.ts'
import type { WorkspaceHashes } from './hash-workspace.ts'
import type { Manifest } from './manifest.ts'
import { isSameEntry, type WorkspaceEntry } from './read-entry.ts'

/** Null: it is not there. */
export interface WorkspaceChange {
  path: string
  checkpoint: WorkspaceEntry | null
  present: WorkspaceEntry | null
}

export interface Divergence {
  /** Sorted by path, as the other lists. Another mode, or a link in the place of a file, counts as modified. */
  modified: WorkspaceChange[]
  deleted: WorkspaceChange[]
  added: WorkspaceChange[]
  /** Could not be read now or at the checkpoint, so nobody knows whether they differ. */
  unknown: string[]
  /** Of the checkpoint, of everything above and of the present files behind it. A person who confirms names it. */
  digest: string
}

export function compareWorkspace(name: string, manifest: Manifest, present: WorkspaceHashes): Divergence {
  const unknown = new Set([...manifest.skipped, ...present.skipped].map(({ path }) => path))
  const isKnown = (path: string): boolean => unknown.size === 0 || !foldersAbove(path).some((at) => unknown.has(at))
  const modified: WorkspaceChange[] = []
  const deleted: WorkspaceChange[] = []
  const added: WorkspaceChange[] = []
  for (const [path, checkpoint] of manifest.files) {
    const now = present.files.get(path) ?? null
    if (isSameEntry(checkpoint, now) || !isKnown(path)) continue
    const list = now === null ? deleted : modified
    list.push({ path, checkpoint, present: now })
  }
  for (const [path, now] of present.files) {
    if (!manifest.files.has(path) && isKnown(path)) added.push({ path, checkpoint: null, present: now })
  }
  const lists = { modified, deleted, added, unknown: [...unknown].sort() }
  return { ...lists, digest: digestOf(name, lists) }
}

function digestOf(name: string, lists: Omit<Divergence, 'digest'>): string {
  const sum = createHash('sha256').update(`checkpoint difference\n${name}\n`)
  for (const { path, checkpoint, present } of [...lists.modified, ...lists.deleted, ...lists.added]) {
    sum.update(`${JSON.stringify([path, identityOf(checkpoint), identityOf(present)])}\n`)
  }
  return sum.update(JSON.stringify(lists.unknown)).digest('hex')
}

const identityOf = (entry: WorkspaceEntry | null): unknown => {
  if (entry === null) return null
  return entry.type === 'link' ? ['link', entry.target] : ['file', entry.sha256, entry.bytes, entry.mode]
}
