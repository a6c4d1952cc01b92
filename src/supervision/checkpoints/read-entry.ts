// Reads one file of a workspace: its hash, and its bytes if somebody wants them.

import { createHash, hash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import { type Disk, readInto, withFile } from './workspace-folder.ts'

/** A file or a symbolic link of a workspace. Links are never followed. */
export type WorkspaceEntry =
  | {
      type: 'file'
      sha256: string
      bytes: number
      /** The permission bits. */
      mode: number
    }
  | { type: 'link'; target: string }

export type SkipReason =
  /** A FIFO, a socket or a device. */
  | 'special'
  /** No permission, or the disk failed. */
  | 'unreadable'
  /** It was written to while we read it, three times in a row. */
  | 'changing'
  /** Its name is not UTF-8. */
  | 'bad_name'
  | 'path_too_long'
  | 'too_deep'
  /** A `.gitignore` that is too large. Its rules do not apply. */
  | 'rules_too_large'

export const isSameEntry = (a: WorkspaceEntry | null, b: WorkspaceEntry | null): boolean => {
  if (a === null || b === null) return a === b
  if (a.type === 'link' || b.type === 'link')
    return a.type === b.type && 'target' in a && 'target' in b && a.target === b.target
  return a.sha256 === b.sha256 && a.mode === b.mode
}

export type ReadEntry =
  | { entry: WorkspaceEntry; content: Buffer | null }
  | { skipped: SkipReason }
  | { folder: true }
  | { gone: true }

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
const TRIES = 3
/** Files are read in pieces of this size, unless the caller brings a larger buffer. */
const PIECE = 1 << 16

/**
 * Reads what is at `path`, the last part of which may be anything. With `maxContent`, the bytes of a file that is not larger come with
 * it. `buffer` is scratch space; content is always a copy.
 */
export function readEntry(disk: Disk, path: string, maxContent = -1, buffer = Buffer.allocUnsafe(PIECE)): ReadEntry {
  try {
    const found = disk.lstatSync(path)
    if (found.isSymbolicLink()) {
      const target = disk.readlinkSync(path)
      return target.includes('\ufffd') ? { skipped: 'bad_name' } : { entry: { type: 'link', target }, content: null }
    }
    if (found.isDirectory()) return { folder: true }
    // Opening a device can do something, so look first.
    if (!found.isFile()) return { skipped: 'special' }
    // Whatever took its place since then must neither be followed nor make us wait.
    const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
    return withFile(disk, path, flags, (fd) => readFile(disk, fd, maxContent, buffer))
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return { gone: true }
    if (code === 'ELOOP') return { skipped: 'changing' }
    if (code === 'ENAMETOOLONG') return { skipped: 'path_too_long' }
    if (code === '') throw error
    return { skipped: 'unreadable' }
  }
}

function readFile(disk: Disk, fd: number, maxContent: number, buffer: Buffer): ReadEntry {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = disk.fstatSync(fd)
    if (!before.isFile()) return { skipped: 'special' }
    const read = before.size <= maxContent ? readWhole(disk, fd, before.size) : readPieces(disk, fd, buffer)
    if (read.bytes !== before.size || isTouched(before, disk.fstatSync(fd))) continue
    const mode = before.mode & 0o777
    return { entry: { type: 'file', sha256: read.sha256, bytes: read.bytes, mode }, content: read.content }
  }
  return { skipped: 'changing' }
}

interface Read {
  sha256: string
  bytes: number
  content: Buffer | null
}

function readWhole(disk: Disk, fd: number, size: number): Read {
  // One byte more, to see a file that has grown.
  const content = Buffer.allocUnsafe(size + 1)
  const bytes = readInto(disk, fd, content)
  const whole = content.subarray(0, Math.min(bytes, size))
  return { sha256: hash('sha256', whole, 'hex'), bytes, content: whole }
}

function readPieces(disk: Disk, fd: number, buffer: Buffer): Read {
  const first = disk.readSync(fd, buffer, 0, buffer.length, 0)
  if (first < buffer.length)
    return { sha256: hash('sha256', buffer.subarray(0, first), 'hex'), bytes: first, content: null }
  const sum = createHash('sha256')
  let bytes = 0
  for (let got = first; got > 0; got = disk.readSync(fd, buffer, 0, buffer.length, bytes)) {
    sum.update(buffer.subarray(0, got))
    bytes += got
  }
  return { sha256: sum.digest('hex'), bytes, content: null }
}

const isTouched = (before: Stats, after: Stats): boolean =>
  before.size !== after.size || before.mtimeMs !== after.mtimeMs || before.ctimeMs !== after.ctimeMs
