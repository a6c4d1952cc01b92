// Finds and hashes the files of a workspace, without those that its .gitignore files exclude. Blocks, so it runs on a thread.

import { join } from 'node:path'
import { ServerError } from '../../domain/errors.ts'
import { isWithin } from '../../domain/is-within.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import { createIgnoreRules, type IgnoreFile, joined } from '../../domain/text/ignore-rules.ts'
import { type ReadEntry, readEntry, type SkipReason, type WorkspaceEntry } from './read-entry.ts'
import { type Disk, FolderMoved, openWorkspaceFolder, type WorkspaceFolder } from './workspace-folder.ts'

interface HashLimits {
  /** Files, links and skipped entries together. */
  maxFiles: number
  maxMs: number
  maxDepth: number
  /** Of the path relative to the workspace, in bytes. */
  maxPathBytes: number
  /** Of all .gitignore files together. */
  maxIgnoreBytes: number
}

const hashLimits: HashLimits = {
  maxFiles: 500_000,
  maxMs: 300_000,
  maxDepth: 128,
  maxPathBytes: 3_000,
  maxIgnoreBytes: 1_000_000,
}

export interface HashRequest {
  /** The real path of the workspace. */
  root: string
  /** Absolute paths that are left out, such as our data folder. */
  excluded: readonly string[]
  /** Use these rules and not those on the disk: a comparison must look at the same files as its checkpoint. */
  ignoreFiles?: readonly IgnoreFile[]
  /** Paths that are looked at although a rule ignores them, with the folders above them. */
  always?: { has(path: string): boolean }
  /** Names of entries that nobody looks at, in lower case. By default `NEVER_KEPT`. */
  never?: ReadonlySet<string>
  limits?: Partial<HashLimits>
}

export interface HashDeps {
  /** Monotonic milliseconds. */
  mono: () => number
  disk: Disk
  /** Null: only hashes are wanted. */
  content: ContentSink | null
}

/** Takes the bytes of files while they are read, so that what is kept is what was hashed. */
interface ContentSink {
  maxFileBytes: number
  take(sha256: string, content: Buffer, path: string): void
}

export interface SkippedEntry {
  path: string
  reason: SkipReason
}

export interface WorkspaceHashes {
  /** By path relative to the workspace, with slashes; sorted. */
  files: Map<string, WorkspaceEntry>
  /** Nothing is known about these, nor about anything below them. Sorted by path. */
  skipped: SkippedEntry[]
  ignoreFiles: IgnoreFile[]
  /** Folders that a rule ignores. Sorted. */
  ignoredFolders: string[]
}

/** Git's folder would make every checkpoint large. Ours holds our records and the policy, which restoring must not bring back. */
export const NEVER_KEPT: ReadonlySet<string> = new Set(['.git', '.quarterdeck'])

export function hashWorkspace(request: HashRequest, deps: HashDeps): WorkspaceHashes {
  const { root, always, never = NEVER_KEPT } = request
  const { disk, content, mono } = deps
  const limits = { ...hashLimits, ...request.limits }
  const rules = createIgnoreRules(request.ignoreFiles)
  const ignoreFiles: IgnoreFile[] = [...(request.ignoreFiles ?? [])]
  const files = new Map<string, WorkspaceEntry>()
  const skipped: SkippedEntry[] = []
  const ignoredFolders: string[] = []
  const excluded = request.excluded.filter((path) => isWithin(path, root))
  const buffer = Buffer.allocUnsafe(1 << 20)
  const started = mono()
  let ignoreBytes = 0

  function keepPace(): void {
    if (mono() - started > limits.maxMs) throw tooSlow(limits.maxMs)
    if (files.size + skipped.length > limits.maxFiles) throw tooMany(limits.maxFiles)
  }

  function readRules(folder: string, open: WorkspaceFolder): void {
    if (request.ignoreFiles !== undefined) return
    const read = readEntry(disk, open.at('.gitignore'), limits.maxIgnoreBytes - ignoreBytes, buffer)
    if (!('entry' in read) || read.entry.type !== 'file') return
    if (read.content === null) {
      skipped.push({ path: joined(folder, '.gitignore'), reason: 'rules_too_large' })
      return
    }
    ignoreBytes += read.entry.bytes
    const file = { folder, text: read.content.toString('utf8') }
    ignoreFiles.push(file)
    rules.add(file)
  }

  function note(path: string, read: ReadEntry): void {
    if ('gone' in read) return
    if (!('entry' in read)) {
      // A folder took the place of the file a moment ago.
      skipped.push({ path, reason: 'folder' in read ? 'changing' : read.skipped })
      return
    }
    const { entry } = read
    files.set(path, entry)
    if (entry.type === 'link') return
    if (read.content !== null) content?.take(entry.sha256, read.content, path)
  }

  /** Returns the folders below. */
  function readFolder(folder: string, open: WorkspaceFolder): string[] {
    readRules(folder, open)
    const isIgnored = rules.scopeOf(folder)
    const below: string[] = []
    for (const item of disk.readdirSync(open.at(''), { withFileTypes: true })) {
      const { name } = item
      const path = joined(folder, name)
      if (never.has(name.toLowerCase())) continue
      if (isIgnored(name, item.isDirectory()) && always?.has(path) !== true) {
        if (item.isDirectory()) ignoredFolders.push(path)
        continue
      }
      if (excluded.length > 0 && excluded.includes(join(root, path))) continue
      keepPace()
      if (name.includes('\ufffd')) skipped.push({ path, reason: 'bad_name' })
      else if (Buffer.byteLength(path) > limits.maxPathBytes) skipped.push({ path, reason: 'path_too_long' })
      else if (item.isDirectory()) below.push(path)
      else note(path, readEntry(disk, open.at(name), content?.maxFileBytes, buffer))
    }
    return below
  }

  const left = ['']
  for (let folder = left.pop(); folder !== undefined; folder = left.pop()) {
    if (folder !== '' && folder.split('/').length > limits.maxDepth) {
      skipped.push({ path: folder, reason: 'too_deep' })
      continue
    }
    try {
      using open = openWorkspaceFolder(disk, root, folder)
      for (const below of readFolder(folder, open)) left.push(below)
    } catch (error) {
      const reason = folder === '' ? null : whySkipped(error)
      if (reason === null) throw folder === '' ? noWorkspace(root, error) : error
      if (reason !== 'gone') skipped.push({ path: folder, reason })
    }
  }
  return {
    files: new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1))),
    skipped: skipped.sort((a, b) => (a.path < b.path ? -1 : 1)),
    ignoreFiles,
    ignoredFolders: ignoredFolders.sort(),
  }
}

/** Null: it is not about this folder. */
function whySkipped(error: unknown): SkipReason | 'gone' | null {
  if (error instanceof FolderMoved) return 'changing'
  const code = systemErrorCode(error)
  if (code === 'ENOENT') return 'gone'
  if (code === 'ENAMETOOLONG') return 'path_too_long'
  return code === 'EACCES' || code === 'EPERM' || code === 'EIO' ? 'unreadable' : null
}

function noWorkspace(root: string, cause: unknown): unknown {
  const code = systemErrorCode(cause)
  if (!(cause instanceof FolderMoved) && code !== 'ENOENT' && code !== 'EACCES') return cause
  return new ServerError(
    'file_unreadable',
    `The workspace ${JSON.stringify(root)} cannot be read, or is no longer a folder.`,
    {
      cause,
    },
  )
}

const tooMany = (most: number): ServerError =>
  new ServerError(
    'file_unreadable',
    `The workspace has more than ${most} files. Add what is generated to .gitignore, then try again.`,
  )

const tooSlow = (ms: number): ServerError =>
  new ServerError(
    'file_unreadable',
    `Reading the workspace took more than ${Math.round(ms / 1000)} seconds. Add what is generated to .gitignore, then try again.`,
  )
