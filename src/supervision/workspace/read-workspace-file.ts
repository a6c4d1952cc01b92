import { hash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { ServerError } from '../../domain/errors.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import { type ConfinedPath, violation } from './confine.ts'
import { type OpenFolder, openFolder } from './open-folder.ts'

export interface WorkspaceFile {
  bytes: Uint8Array
  /** SHA-256 of exactly these bytes, in hex. */
  hash: string
  mode: number
  uid: number
  gid: number
  /** More than 1: the same file has other names. */
  links: number
}

/** For files and for diffs. */
export const MAX_FILE_BYTES = 5 * 1024 * 1024
/** A file that somebody writes at this moment is read again. */
const MAX_READS = 5

export const sha256OfBytes = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex')

/** Reads a file of a workspace; null if it does not exist. */
export async function readWorkspaceFile(place: ConfinedPath): Promise<WorkspaceFile | null> {
  await using folder = await openFolder(place.root, place.folders, { create: false })
  return folder === null ? null : await readFileIn(folder, place)
}

/** Reads and hashes in one open, so that the hash is of what was read. */
export async function readFileIn(folder: OpenFolder, { name, path }: ConfinedPath): Promise<WorkspaceFile | null> {
  await using file = await openFile(folder.at(name), path)
  if (file === null) return null
  // The folder may have been moved out of the workspace before the file was opened.
  await folder.check()
  return await readOpened(file, path)
}

/** Null: there is none. */
async function openFile(way: string, path: string): Promise<FileHandle | null> {
  const noFollow = process.platform === 'win32' ? 0 : constants.O_NOFOLLOW | constants.O_NONBLOCK
  try {
    return await open(way, constants.O_RDONLY | noFollow)
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === 'ENOENT') return null
    if (code === 'ELOOP') throw violation(path, 'it is a symbolic link')
    throw violation(path, `it cannot be opened (${code})`)
  }
}

async function readOpened(file: FileHandle, path: string): Promise<WorkspaceFile> {
  for (let i = 0; i < MAX_READS; i += 1) {
    const before = await file.stat({ bigint: true })
    if (!before.isFile()) throw violation(path, 'it is not an ordinary file')
    if (before.size > MAX_FILE_BYTES) throw tooLarge(path)
    // One byte more than expected shows that the file has grown.
    const buffer = Buffer.allocUnsafe(Number(before.size) + 1)
    let length = 0
    while (length < buffer.length) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    const after = await file.stat({ bigint: true })
    if (BigInt(length) !== before.size || after.mtimeNs !== before.mtimeNs || after.size !== before.size) continue
    const bytes = buffer.subarray(0, length)
    const { uid, gid } = before
    return {
      bytes,
      hash: sha256OfBytes(bytes),
      mode: Number(before.mode) & 0o777,
      uid: Number(uid),
      gid: Number(gid),
      links: Number(before.nlink),
    }
  }
  throw new ServerError('patch_conflict', `${path} is being written at this moment. Try again when it is finished.`)
}

export const tooLarge = (path: string): ServerError =>
  new ServerError('invalid_diff', `${path} is larger than 5 MB. Change such a file in another way.`)
