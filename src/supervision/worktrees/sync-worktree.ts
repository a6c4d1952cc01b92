// Brings into a worktree what people changed in its workspace, and never what would replace the agent's own work. What the agent began
// with is the baseline: each file of the workspace as it was when it came into the worktree. Blocks, so it runs on a thread.

import { isAbsolute, join } from 'node:path'
import { ServerError } from '../../domain/errors.ts'
import { foldersAbove } from '../../domain/text/ignore-rules.ts'
import { hashWorkspace, type SkippedEntry, type WorkspaceHashes } from '../checkpoints/hash-workspace.ts'
import { isSameEntry, readEntry, type WorkspaceEntry } from '../checkpoints/read-entry.ts'
import { applyStep, placeOf, removeIfEmpty } from '../checkpoints/restore-step.ts'
import { syncFileSystem } from '../checkpoints/snapshot-store.ts'
import { type Disk, openWorkspaceFolder, systemDisk } from '../checkpoints/workspace-folder.ts'
import { type Baseline, baselineFile, nextBaselineFile } from './baseline.ts'

export interface WorktreePlaces {
  sessionId: string
  /** The private folder of the session. The baseline is kept in it. */
  folder: string
  /** The worktree: a folder in it, which belongs to the agent. */
  root: string
  /** Real path. */
  workspaceRoot: string
  /** Absolute paths that are left out, such as our data folder. */
  excluded: readonly string[]
}

export interface SyncRequest extends WorktreePlaces {
  /** Paths that become as they are in the workspace, whatever the agent made of them. */
  discarded: readonly string[] | 'all'
  /**
   * The same, only where the worktree still has what the agent made: this SHA-256 or `deleted`. A file with the workspace's content
   * keeps the permissions that the agent gave it.
   */
  settled: readonly (readonly [path: string, agentHash: string])[]
}

/** Folders of the workspace that the agent sees read-only, relative to it. */
export interface SyncResult {
  mounts: string[]
}

const MAX_FILES = 200_000
const MAX_BYTES = 2_000_000_000
/** Each is an argument on the command line of the sandbox. */
const MAX_MOUNTS = 200

/**
 * Folders that package managers fill. Other ignored folders, such as `dist` and `coverage`, are output: the agent makes its own, and could
 * not if they were there read-only.
 */
const DEPENDENCIES: ReadonlySet<string> = new Set([
  'node_modules',
  '.venv',
  'venv',
  'vendor',
  'bower_components',
  'Pods',
])

/** The worktree's own `.git` is a clone or nothing. Unlike a checkpoint, the agent needs our folder: its policy is in there. */
const NEVER: ReadonlySet<string> = new Set(['.git'])

/** Nobody waits for each file: see `syncFileSystem`. */
const disk: Disk = { ...systemDisk, fsyncSync() {} }

/** Looks at everything that the baseline knows, whatever the rules ignore by now. */
export function walk(root: string, baseline: Baseline, places: WorktreePlaces, mono: () => number, content: Content) {
  return hashWorkspace(
    { root, excluded: places.excluded, always: withFolders(baseline), never: NEVER, limits: { maxFiles: MAX_FILES } },
    { disk, mono, content },
  )
}

type Content = Parameters<typeof hashWorkspace>[1]['content']

function withFolders(baseline: Baseline): ReadonlySet<string> {
  const paths = new Set<string>()
  for (const path of baseline.keys()) {
    for (let at = path; at !== '' && !paths.has(at); at = placeOf(at).folder) paths.add(at)
  }
  return paths
}

export function syncWorktree(request: SyncRequest, mono: () => number): SyncResult {
  const { sessionId, folder, root, workspaceRoot, discarded } = request
  const saved = baselineFile(folder, disk)
  const baseline = saved.read() ?? new Map()
  const theirs = walk(root, baseline, request, mono, null)
  const ours = walk(workspaceRoot, baseline, request, mono, null)
  refuseTooLarge(ours)
  const chosen = new Set(discarded === 'all' ? theirs.files.keys() : discarded)
  const settled = new Map(request.settled)
  const isDiscarded = (path: string): boolean => discarded === 'all' || chosen.has(path)
  const unclear = theirs.skipped.filter(
    ({ path, reason }) => !(reason === 'special' && isDiscarded(path) && unlink(root, path)),
  )
  const isUnknown = covers([...unclear, ...ours.skipped])

  // What a killed process brought in, or took out, is not the agent's work.
  const planned = nextBaselineFile(folder, disk)
  const plan = planned.read()
  for (const path of plan === null ? [] : new Set([...plan.keys(), ...baseline.keys()])) {
    const wanted = plan?.get(path) ?? null
    if (isSameEntry(theirs.files.get(path) ?? null, wanted)) setOrDelete(baseline, path, wanted)
  }

  const steps: [path: string, from: WorkspaceEntry | null, to: WorkspaceEntry | null][] = []
  for (const path of new Set([...baseline.keys(), ...ours.files.keys(), ...chosen, ...settled.keys()])) {
    if (isUnknown(path)) continue
    const was = baseline.get(path) ?? null
    const now = inside(path, ours.files.get(path) ?? null)
    const agents = theirs.files.get(path) ?? null
    // A person may name what is nowhere, or lies outside.
    if (was === null && now === null && agents === null) continue
    const isSettled = settled.get(path) === hashOf(agents)
    if (isDiscarded(path)) steps.push([path, agents, now])
    else if (isSettled && isSameContent(agents, now)) setOrDelete(baseline, path, now)
    else if (isSettled || (isSameContent(agents, was) && !isSameEntry(now, was))) steps.push([path, agents, now])
    else if (isSameEntry(agents, now)) setOrDelete(baseline, path, now)
  }

  if (steps.length > 0) {
    const next: Baseline = new Map(baseline)
    for (const [path, , to] of steps) setOrDelete(next, path, to)
    planned.write(next)
  }
  // Removals first: a file may take the place of a folder.
  for (const step of steps.toSorted(([, , a], [, , b]) => Number(a !== null) - Number(b !== null))) {
    const [path, from, to] = step
    const problem = isSameEntry(from, to) ? null : bring(request, step)
    if (problem === null) setOrDelete(baseline, path, to)
    if (to === null) removeEmptyFolders(root, path)
  }
  if (steps.length > 0) syncFileSystem(folder)
  saved.write(baseline)
  planned.remove()
  return { mounts: mountsFor(request, ours.ignoredFolders) }

  function bring(places: WorktreePlaces, step: (typeof steps)[number]) {
    const store = {
      readBlob: (sha256: string, bytes: number) => contentOf(places.workspaceRoot, step[0], sha256, bytes),
    }
    return applyStep(disk, store, { workspaceRoot: root, restoreId: sessionId }, step)
  }
}

/** Null: a link. */
const hashOf = (entry: WorkspaceEntry | null): string | null =>
  entry === null ? 'deleted' : entry.type === 'file' ? entry.sha256 : null

const setOrDelete = (baseline: Baseline, path: string, entry: WorkspaceEntry | null): void => {
  if (entry === null) baseline.delete(path)
  else baseline.set(path, entry)
}

/** Whether nothing is known about a path, because it or a folder above it was skipped. */
export function covers(skipped: readonly SkippedEntry[]): (path: string) => boolean {
  const paths = new Set(skipped.map(({ path }) => path))
  return (path) => paths.size > 0 && foldersAbove(path).some((above) => paths.has(above))
}

export const isSameContent = (a: WorkspaceEntry | null, b: WorkspaceEntry | null): boolean =>
  a?.type === 'file' && b?.type === 'file' ? a.sha256 === b.sha256 : isSameEntry(a, b)

/** A link that leads out of the workspace is not copied, nor one with an absolute path. */
function inside(path: string, entry: WorkspaceEntry | null): WorkspaceEntry | null {
  if (entry?.type !== 'link') return entry
  const way = join(placeOf(path).folder, entry.target)
  return isAbsolute(entry.target) || way === '..' || way.startsWith('../') ? null : entry
}

/** The bytes that the walk has seen. Throws `storage_failed` if the file has changed since; then the next refresh brings it. */
function contentOf(root: string, path: string, sha256: string, bytes: number): Buffer {
  const { folder, name } = placeOf(path)
  using open = openWorkspaceFolder(disk, root, folder)
  const read = readEntry(disk, open.at(name), bytes)
  if ('entry' in read && read.entry.type === 'file' && read.entry.sha256 === sha256 && read.content !== null)
    return read.content
  throw new ServerError('storage_failed', `${path} changed while it was copied.`)
}

function refuseTooLarge({ files }: WorkspaceHashes): void {
  let bytes = 0
  for (const entry of files.values()) bytes += entry.type === 'file' ? entry.bytes : 0
  if (bytes <= MAX_BYTES) return
  throw new ServerError(
    'limit',
    `The workspace has ${Math.ceil(bytes / 1e6)} MB of files. An agent's private copy holds at most ${MAX_BYTES / 1e6} MB. Add what is generated to .gitignore, then try again.`,
  )
}

/** Removes a pipe or a socket that the agent made. */
function unlink(root: string, path: string): boolean {
  const { folder, name } = placeOf(path)
  try {
    using open = openWorkspaceFolder(disk, root, folder)
    disk.unlinkSync(open.at(name))
    return true
  } catch {
    return false
  }
}

function removeEmptyFolders(root: string, path: string): void {
  for (const above of foldersAbove(placeOf(path).folder)) if (above !== '') removeIfEmpty(disk, root, above)
}

/** The nearest to the root first. Where the agent has put something of its own, nothing is shown over it. */
function mountsFor({ root }: WorktreePlaces, ignored: readonly string[]): string[] {
  return ignored
    .filter((path) => DEPENDENCIES.has(placeOf(path).name) && isFreeFor(root, path))
    .toSorted((a, b) => a.split('/').length - b.split('/').length)
    .slice(0, MAX_MOUNTS)
}

function isFreeFor(root: string, path: string): boolean {
  const { folder, name } = placeOf(path)
  try {
    using above = openWorkspaceFolder(disk, root, folder)
    if (disk.lstatSync(above.at(name), { throwIfNoEntry: false }) === undefined) return true
    using open = openWorkspaceFolder(disk, root, path)
    return disk.readdirSync(open.at('')).length === 0
  } catch {
    return false
  }
}
