import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ServerError } from '../../domain/errors.ts'
import { diskFull, isDiskFull } from './storage-error.ts'

/** For what only this user may read. Throws `config_invalid` or `storage_full` when it cannot be made. */
export function makeDataDir(path: string): void {
  try {
    makeFolder(path, 0o700)
  } catch (cause) {
    if (isDiskFull(cause)) throw diskFull(cause)
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    throw new ServerError(
      'config_invalid',
      `The data dir cannot be made: ${path} (${reason}). Name a folder that you may write to with --data-dir.`,
      { details: { data_dir: path, reason }, cause },
    )
  }
}

/**
 * Makes a folder and those above it that are missing; one that is there stays as it is.
 *
 * Not `mkdirSync` with `recursive`: below a folder that refuses new ones with ENOENT, as /proc does, Node 24 never returns
 * from it. Here every folder is tried once.
 */
export function makeFolder(path: string, mode: number): void {
  const missing: string[] = []
  let folder = resolve(path)
  while (statSync(folder, { throwIfNoEntry: false }) === undefined && dirname(folder) !== folder) {
    missing.unshift(folder)
    folder = dirname(folder)
  }
  // Also for what is there already: a file in the place of a folder is refused.
  if (missing.length === 0) missing.push(folder)
  for (const one of missing) {
    try {
      mkdirSync(one, { mode })
    } catch (error) {
      // Another process may have made it in the meantime.
      if (!statSync(one, { throwIfNoEntry: false })?.isDirectory()) throw error
    }
  }
}
