// What SQLite's failures mean to whoever asked. A failed sync is told apart: the kernel may have dropped the pages, so that
// trying again would succeed and prove nothing.

import { ServerError } from '../../domain/errors.ts'

const SQLITE_FULL = 13
const SQLITE_IOERR = 10
/** The index of the log could not be made larger, which has one cause in practice. */
const IOERR_SHMSIZE = 4874
const IOERR_FSYNC = 1034
const IOERR_DIR_FSYNC = 1290
const IOERR_TRUNCATE = 1546

export const errcodeOf = (error: unknown): number =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0

/** What SQLite, and what the system itself, says about a disk that is full. */
export const isDiskFull = (error: unknown): boolean =>
  (errcodeOf(error) & 0xff) === SQLITE_FULL ||
  errcodeOf(error) === IOERR_SHMSIZE ||
  (error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT'))

export const diskFull = (cause: unknown): ServerError =>
  new ServerError('storage_full', 'The disk is full: nothing was stored. Free some space and try again.', { cause })

/** Calls `fatal`, which does not return, when it was a sync that failed. */
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
