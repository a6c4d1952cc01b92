import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Creates a folder and its missing parents. An existing folder stays as it is.
 *
 * Not `mkdirSync` with `recursive`: Node 24 never returns from it in a folder that refuses new ones with ENOENT, as /proc
 * does. Here every folder is tried once.
 */
export function makeFolder(path: string, mode: number): void {
  const missing: string[] = []
  let folder = resolve(path)
  while (statSync(folder, { throwIfNoEntry: false }) === undefined && dirname(folder) !== folder) {
    missing.unshift(folder)
    folder = dirname(folder)
  }
  // Also if nothing is missing: a file in the place of the folder is refused.
  if (missing.length === 0) missing.push(folder)
  for (const one of missing) {
    try {
      mkdirSync(one, { mode })
    } catch (error) {
      // Another process may have created it in the meantime.
      if (!statSync(one, { throwIfNoEntry: false })?.isDirectory()) throw error
    }
  }
}
