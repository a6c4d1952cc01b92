// One folder of a workspace, opened so that nobody can lead us elsewhere: it is reached without symbolic links, and what happens in it
// happens in this very folder, even if somebody replaces a part of its path meanwhile. Node has no `openat`. On Linux, paths through
// `/proc/self/fd` do the same. Elsewhere the path is checked once, when it is opened.
// This is the blocking twin of `../workspace/open-folder.ts`: it is for threads that look at 100,000 files, not for the event loop.

import * as fs from 'node:fs'
import { join, sep } from 'node:path'
import { systemErrorCode } from '../../domain/system-error-code.ts'

/** The calls to the file system, so that tests can use a disk that fails or changes. All block: they run on a thread of their own. */
export type Disk = Pick<
  typeof fs,
  | 'closeSync'
  | 'fchmodSync'
  | 'fstatSync'
  | 'fsyncSync'
  | 'lstatSync'
  | 'mkdirSync'
  | 'openSync'
  | 'readdirSync'
  | 'readlinkSync'
  | 'readSync'
  | 'realpathSync'
  | 'renameSync'
  | 'rmdirSync'
  | 'rmSync'
  | 'symlinkSync'
  | 'unlinkSync'
  | 'writeSync'
>

export const systemDisk: Disk = fs

/** Closes when the scope of its `using` ends. */
export interface WorkspaceFolder extends Disposable {
  /** The path of an entry of this folder. It is good until the folder is closed. */
  at(name: string): string
  /** Makes new names in this folder survive a power cut. */
  sync(): void
}

/** A part of the path is a symbolic link or not a folder, or was replaced while we looked. */
export class FolderMoved extends Error {
  constructor(folder: string, cause?: unknown) {
    super(`${JSON.stringify(folder)} is not a folder of the workspace.`, { cause })
    this.name = 'FolderMoved'
  }
}

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = fs.constants
const isWindows = process.platform === 'win32'
const hasDescriptorPaths = process.platform === 'linux' && fs.existsSync('/proc/self/fd')

/**
 * Opens `folder`, a path relative to `root` with slashes. `root` is a real path. Throws `FolderMoved`, or a system error such as
 * `ENOENT` and `EACCES`.
 */
export function openWorkspaceFolder(disk: Disk, root: string, folder: string): WorkspaceFolder {
  const path = folder === '' ? root : join(root, ...folder.split('/'))
  const fd = isWindows ? null : openFolder(disk, path, folder)
  try {
    const real = hasDescriptorPaths && fd !== null ? disk.readlinkSync(`/proc/self/fd/${fd}`) : disk.realpathSync(path)
    if (real !== path) throw new FolderMoved(folder)
  } catch (error) {
    if (fd !== null) disk.closeSync(fd)
    throw error
  }
  const base = hasDescriptorPaths && fd !== null ? `/proc/self/fd/${fd}/` : path.endsWith(sep) ? path : `${path}${sep}`
  return {
    at: (name) => base + name,
    sync: () => {
      if (fd !== null) disk.fsyncSync(fd)
    },
    [Symbol.dispose]: () => {
      if (fd !== null) disk.closeSync(fd)
    },
  }
}

function openFolder(disk: Disk, path: string, folder: string): number {
  try {
    return disk.openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === 'ELOOP' || code === 'ENOTDIR') throw new FolderMoved(folder, error)
    throw error
  }
}

export function withFile<T>(disk: Disk, path: string, flags: number, work: (fd: number) => T): T {
  const fd = disk.openSync(path, flags, 0o600)
  try {
    return work(fd)
  } finally {
    disk.closeSync(fd)
  }
}

/** Reads from the start of a file until the buffer is full or the file ends. Returns the number of bytes. */
export function readInto(disk: Disk, fd: number, buffer: Buffer): number {
  let at = 0
  while (at < buffer.length) {
    const got = disk.readSync(fd, buffer, at, buffer.length - at, at)
    if (got === 0) break
    at += got
  }
  return at
}

export function writeAll(disk: Disk, fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += disk.writeSync(fd, bytes, at)
}
