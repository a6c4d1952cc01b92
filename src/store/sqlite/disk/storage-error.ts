// Turns SQLite's failures into errors of the store. A failed sync is special: the kernel may have dropped the pages, so a second
// sync would succeed and prove nothing.

import { ServerError } from '../../../domain/errors.ts'

const SQLITE_FULL = 13
const SQLITE_IOERR = 10
/** SQLite could not grow the index of the log. In practice the disk is full. */
const IOERR_SHMSIZE = 4874
const IOERR_FSYNC = 1034
const IOERR_DIR_FSYNC = 1290
const IOERR_TRUNCATE = 1546

/** What a start and the first runs need. */
const SPARE_MB = 8

export const errcodeOf = (error: unknown): number =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0

/** Errors of SQLite and of the system for a full disk. */
export const isDiskFull = (error: unknown): boolean =>
  (errcodeOf(error) & 0xff) === SQLITE_FULL ||
  errcodeOf(error) === IOERR_SHMSIZE ||
  (error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT'))

export const diskFull = (cause: unknown): ServerError =>
  new ServerError('storage_full', 'The disk is full: nothing was stored. Free some space and try again.', { cause })

/** Moving the log into the database takes as much space as the log. */
export function diskFullAtStart(path: string, logBytes: number, cause: unknown): ServerError {
  const needed = Math.ceil(logBytes / 1_000_000) + SPARE_MB
  const text = `The disk is full: ${path} cannot be opened. Nothing is lost. Free at least ${needed} MB on this disk, then start again.`
  return new ServerError('storage_full', text, { cause })
}

/** Calls `fatal`, which does not return, if a sync failed. */
export function storageError(error: unknown, fatal: (error: Error) => void): ServerError {
  if (error instanceof ServerError) return error
  const code = errcodeOf(error)
  if (error instanceof Error && (code === IOERR_FSYNC || code === IOERR_DIR_FSYNC || code === IOERR_TRUNCATE)) {
    fatal(error)
  }
  if (isDiskFull(error)) return diskFull(error)
  const kind = (code & 0xff) === SQLITE_IOERR ? 'The disk failed' : 'The store failed'
  return new ServerError('storage_failed', `${kind}: nothing was stored.`, { cause: error })
}
