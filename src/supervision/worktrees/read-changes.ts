// What the agent has changed in its worktree, each file as a change of the workspace as it is now. The agent may write while we look, and
// may have put anything in its folder: what cannot become a change is named and left. Runs on a thread.

import { hasCode, ServerError } from '../../domain/errors.ts'
import type { SkippedEntry } from '../checkpoints/hash-workspace.ts'
import type { SkipReason, WorkspaceEntry } from '../checkpoints/read-entry.ts'
import { systemDisk } from '../checkpoints/workspace-folder.ts'
import { proposeBytes } from '../diffs/propose-change.ts'
import { foldedName } from '../workspace/confine.ts'
import { MAX_FILE_BYTES } from '../workspace/read-workspace-file.ts'
import { baselineFile } from './baseline.ts'
import { type ChangeSet, changeSetOf, type LeftFile, type SetChange } from './change-set.ts'
import { covers, isSameContent, type WorktreePlaces, walk } from './sync-worktree.ts'

export interface ChangesRequest extends WorktreePlaces {
  /** See `createServerPlaces`. */
  serverPaths: readonly string[]
}

/** A person decides about all of them at once. */
export const MOST_FILES = 1_000
export const MOST_BYTES = 20 * 1024 * 1024

/** Throws `limit` if there is more than one approval can hold. */
export async function readChanges(request: ChangesRequest, mono: () => number): Promise<ChangeSet> {
  const { found, left } = findChanges(request, mono)
  const changes: SetChange[] = []
  for (const one of found) {
    const change = await proposed(request, one)
    if (change === null) continue
    if ('why' in change) left.push(change)
    else changes.push(change)
  }
  const { kept, torn } = withoutTorn(changes, left)
  return changeSetOf(kept, [...left, ...torn])
}

interface Found {
  path: string
  /** Null: the agent deleted it. */
  bytes: Uint8Array | null
  isExecutable: boolean
  /** The workspace's file as the agent knew it. */
  was: WorkspaceEntry | null
}

function findChanges(request: ChangesRequest, mono: () => number): { found: Found[]; left: LeftFile[] } {
  const baseline = baselineFile(request.folder, systemDisk).read() ?? new Map()
  const contents = new Map<string, Uint8Array>()
  let total = 0
  const { files, skipped } = walk(request.root, baseline, request, mono, {
    maxFileBytes: MAX_FILE_BYTES,
    take(sha256, content, path) {
      const was = baseline.get(path)
      if (was?.type === 'file' && was.sha256 === sha256) return
      total += content.length
      if (total > MOST_BYTES) throw tooMuch(`more than ${MOST_BYTES / 1024 / 1024} MB`)
      contents.set(path, content)
    },
  })
  const found: Found[] = []
  const left: LeftFile[] = skipped.map(leftBecause)
  for (const [path, entry] of files) {
    const was = baseline.get(path) ?? null
    const bytes = contents.get(path)
    if (isSameContent(entry, was)) {
      if (entry.type === 'file' && was?.type === 'file' && isExecutable(entry) !== isExecutable(was))
        left.push({ path, why: 'Only its permissions differ, and these are not changed from here.' })
    } else if (entry.type === 'link') left.push({ path, why: 'It is a symbolic link.' })
    else if (was?.type === 'link') left.push({ path, why: 'It takes the place of a symbolic link.' })
    else if (bytes === undefined) left.push({ path, why: 'It is larger than 5 MB.' })
    else found.push({ path, bytes, was, isExecutable: isExecutable(entry) })
  }
  const isUnknown = covers(skipped)
  for (const [path, was] of baseline) {
    if (files.has(path) || isUnknown(path)) continue
    if (was.type === 'link')
      left.push({ path, why: 'It was a symbolic link and is gone. Links are not removed from here.' })
    else found.push({ path, bytes: null, was, isExecutable: false })
  }
  const count = found.length + left.length
  if (count > MOST_FILES) throw tooMuch(`${count.toLocaleString('en')} files`)
  return { found, left }
}

const tooMuch = (what: string): ServerError =>
  new ServerError(
    'limit',
    `The agent changed ${what}. One approval holds at most ${MOST_FILES.toLocaleString('en')} files and ${MOST_BYTES / 1024 / 1024} MB. Discard some of it, or tell the agent to add what is generated to .gitignore.`,
  )

const isExecutable = ({ mode }: { mode: number }): boolean => (mode & 0o111) !== 0

const REASONS: Record<SkipReason, string> = {
  special: 'It is a device, a pipe or a socket.',
  unreadable: 'It cannot be read.',
  changing: 'It is being written at this moment.',
  bad_name: 'Its name is not UTF-8.',
  path_too_long: 'Its path is too long.',
  too_deep: 'It lies too deep.',
  rules_too_large: 'It is too large for a list of ignored files, so its rules do not count.',
}

const leftBecause = ({ path, reason }: SkippedEntry): LeftFile => ({ path, why: REASONS[reason] })

/** Null: the workspace is like this already. */
async function proposed(
  { workspaceRoot, serverPaths }: ChangesRequest,
  { path, bytes, was, isExecutable }: Found,
): Promise<SetChange | LeftFile | null> {
  try {
    const change = await proposeBytes({ workspaceRoot, serverPaths, filePath: path, bytes })
    if (change === null) return null
    if (change.path !== path) return { path, why: `In the workspace this path leads to ${change.path}.` }
    const known = was?.type === 'file' ? was.sha256 : 'new_file'
    if (change.beforeHash !== known) change.warnings.push(CHANGED_MEANWHILE)
    if (change.kind === 'create' && isExecutable) change.warnings.push(NOT_EXECUTABLE)
    return { ...change, agentHash: change.afterHash }
  } catch (error) {
    if (hasCode(error, 'path_violation', 'invalid_diff', 'patch_conflict')) return { path, why: error.message }
    throw error
  }
}

const CHANGED_MEANWHILE =
  'Somebody changed this file in the workspace after the agent began with it. The agent has not seen that change, and this replaces it.'
const NOT_EXECUTABLE = 'The agent made this file executable. It is written as an ordinary file.'

/**
 * Half of a move would lose the file: without its new place, the old one is not removed. A new place may differ only by case, or be a
 * folder where the file was.
 */
function withoutTorn(
  changes: readonly SetChange[],
  left: readonly LeftFile[],
): { kept: SetChange[]; torn: LeftFile[] } {
  const names = left.map(({ path }) => foldedName(path))
  const others = new Set(names)
  const isTorn = ({ kind, path }: SetChange): boolean => {
    if (kind !== 'delete') return false
    const name = foldedName(path)
    return others.has(name) || names.some((other) => other.startsWith(`${name}/`) || name.startsWith(`${other}/`))
  }
  const torn = changes.filter(isTorn)
  return {
    kept: changes.filter((change) => !torn.includes(change)),
    torn: torn.map(({ path }) => ({ path, why: 'It stays, because what took its place cannot be written.' })),
  }
}
