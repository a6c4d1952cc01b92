import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { systemErrorCode } from '../../../domain/system-error-code.ts'

export interface PrivateFileOptions {
  maxBytes: number
  /** Makes the error to throw. */
  refuse: (why: string, cause?: unknown) => Error
}

const windows = process.platform === 'win32'

/** Reads a file that only this user can read and write. Null if it does not exist. */
export function readPrivateFile(path: string, { maxBytes, refuse }: PrivateFileOptions): string | null {
  let file: number
  try {
    // Without O_NONBLOCK, a pipe that somebody put there would block the start until it is written to.
    file = openSync(path, constants.O_RDONLY | (windows ? 0 : constants.O_NOFOLLOW | constants.O_NONBLOCK))
  } catch (error) {
    const reason = reasonOf(error)
    if (reason === 'ENOENT') return null
    throw refuse(reason === 'ELOOP' ? 'it is a symbolic link' : `it cannot be read (${reason})`, error)
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile() || stat.size > maxBytes) throw refuse('it is not a small file')
    if (isForeign(stat)) throw refuse('it belongs to another user')
    if (isOpenToOthers(stat)) throw refuse(`other users can read or write it; run: chmod 600 ${path}`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

export const isForeign = ({ uid }: Stats): boolean => process.getuid !== undefined && uid !== process.getuid()

/** On Windows the permissions of the folder decide. */
export const isOpenToOthers = ({ mode }: Stats): boolean => !windows && (mode & 0o077) !== 0

export const reasonOf = (error: unknown): string => systemErrorCode(error) || String(error)
