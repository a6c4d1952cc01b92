// Keeps the data directory private: other users must not read it, and must not be able to open the lock file, because that is
// enough to hold the lock.

import { chmodSync, chownSync, closeSync, lstatSync, openSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { ServerError } from '../../../domain/errors.ts'
import { makeFolder } from '../../make-folder.ts'
import { diskFull, isDiskFull } from './storage-error.ts'

const STICKY = 0o1000

/** Undefined on Windows, where files have no owner of this kind. */
const myself = (): number | undefined => process.geteuid?.()

/** Creates the data directory. Only this user can read it. Throws `config_invalid` or `storage_full` if that fails. */
export function makeDataDir(path: string): void {
  try {
    makeFolder(path, 0o700)
  } catch (cause) {
    if (isDiskFull(cause)) throw diskFull(cause)
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    throw new ServerError(
      'config_invalid',
      `The data directory cannot be created: ${path} (${reason}). Name a folder that you may write to with --data-dir.`,
      { details: { data_dir: path, reason }, cause },
    )
  }
}

/** Removes the write permission of other users. Throws `config_invalid` if the directory belongs to another user. */
export function claimDataDir(path: string): void {
  const me = myself()
  if (me === undefined) return
  const { uid, mode } = statSync(path)
  for (const owner of [uid, lstatSync(path).uid]) {
    // Services and containers have directories of root, and root may work on the directory of a service.
    if (owner !== me && owner !== 0 && me !== 0) throw notYours(path, owner)
  }
  if (uid === me && (mode & 0o022) !== 0 && (mode & STICKY) === 0) chmodSync(path, mode & 0o7755)
}

/**
 * Creates a missing file that only this user can read. Throws `config_invalid` if the file belongs to another user. `strict`: the
 * file must not be a link, and other users lose their permissions on an existing one.
 *
 * Never opens an existing file: closing it would drop all locks that this process has on it.
 */
export function claimFile(path: string, { strict = false } = {}): void {
  try {
    const found = statOf(path, strict) ?? make(path) ?? statOf(path, strict)
    if (found !== undefined) check(path, found, strict)
  } catch (cause) {
    if (cause instanceof ServerError) throw cause
    throw unusable(path, cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown', cause)
  }
}

const statOf = (path: string, strict: boolean): Stats | undefined =>
  (strict ? lstatSync : statSync)(path, { throwIfNoEntry: false })

/** Undefined if another process was faster. */
function make(path: string): Stats | undefined {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined
    throw error
  }
  const folder = statSync(dirname(path))
  // If root creates a file in the directory of a service, the service must be able to open it.
  if (myself() === 0 && folder.uid !== 0) chownSync(path, folder.uid, folder.gid)
  return statSync(path)
}

function check(path: string, found: Stats, strict: boolean): void {
  const { uid, mode } = found
  if (!found.isFile()) throw unusable(path, found.isSymbolicLink() ? 'it is a link' : 'it is not a file')
  const me = myself()
  if (me === undefined) return
  if (uid !== me && uid !== 0 && !(me === 0 && uid === statSync(dirname(path)).uid)) throw notYours(path, uid)
  if (strict && (uid === me || me === 0) && (mode & 0o077) !== 0) chmodSync(path, 0o600)
}

const notYours = (path: string, uid: number): ServerError =>
  new ServerError(
    'config_invalid',
    `${path} belongs to another user (uid ${uid}). Name a folder of your own with --data-dir.`,
    { details: { path, reason: 'owner' } },
  )

/** `storage_full` if the disk is full, otherwise `config_invalid`. */
export const unusable = (path: string, reason: string, cause?: unknown): ServerError =>
  isDiskFull(cause)
    ? diskFull(cause)
    : new ServerError(
        'config_invalid',
        `The data directory cannot be used: ${path} (${reason}). Name a folder that you may write to with --data-dir.`,
        { details: { path, reason }, cause },
      )
