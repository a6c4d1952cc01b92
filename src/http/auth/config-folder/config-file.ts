// What is kept about one data directory in the config folder of the server's user: outside every folder that a tool is given.

import {
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { ServerError } from '../../../domain/errors.ts'
import { isWithin } from '../../../domain/is-within.ts'
import { sha256 } from '../../../json/digest.ts'
import { isForeign, isOpenToOthers, type PrivateFileOptions, readPrivateFile, reasonOf } from './read-private-file.ts'

export interface ConfigFile {
  readonly path: string
  /** The real path of the data directory. */
  readonly dataDir: string
  /** Null when there is none. Throws `config_invalid` when the folder cannot be trusted, or what `refuse` makes. */
  read(options: PrivateFileOptions): string | null
  /** On disk when it returns; a crash leaves the old file or the new one. Throws `config_invalid` or `storage_full`. */
  write(text: string): void
  remove(): void
}

export interface ConfigFileOptions {
  configDir: string
  /** It must exist: the file is named after its real path. */
  dataDir: string
  /** Makes the config folder with this mode, and those above it that are missing. */
  makeFolder: (path: string, mode: number) => void
}

export function createConfigFile(kind: string, { configDir, dataDir, makeFolder }: ConfigFileOptions): ConfigFile {
  const realDir = realpathSync(dataDir)
  if (isBelow(configDir, realDir)) {
    throw folderProblem(configDir, `it lies in the data directory ${realDir}, where tools may get at it`)
  }
  const path = join(configDir, `${kind}-${sha256(realDir).slice(0, 32)}.json`)

  return {
    path,
    dataDir: realDir,
    read: (options) => (checkFolder(configDir) ? readPrivateFile(path, options) : null),
    write(text) {
      try {
        makeFolder(configDir, 0o700)
      } catch (error) {
        throw folderProblem(configDir, `it cannot be made (${reasonOf(error)})`, error)
      }
      checkFolder(configDir)
      const draft = `${path}.new`
      try {
        rmSync(draft, { force: true })
        writeDurably(draft, text)
        renameSync(draft, path)
        syncFolder(configDir)
      } catch (error) {
        if (['ENOSPC', 'EDQUOT'].includes(reasonOf(error))) {
          throw new ServerError('storage_full', `There is no space left in the config folder ${configDir}.`, {
            cause: error,
          })
        }
        throw folderProblem(configDir, `it cannot be written (${reasonOf(error)})`, error)
      }
    },
    remove: () => rmSync(path, { force: true }),
  }
}

/** `path` need not be there yet. */
function isBelow(path: string, folder: string): boolean {
  try {
    return isWithin(realpathSync(path), folder)
  } catch {
    return dirname(path) !== path && isBelow(dirname(path), folder)
  }
}

/** False when there is none. A folder that others can change is theirs. */
function checkFolder(path: string): boolean {
  let stat: Stats
  try {
    stat = lstatSync(path)
  } catch (error) {
    // Below what may not be looked into there is nothing for us: a service without a home is served all the same.
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(reasonOf(error))) return false
    throw folderProblem(path, `it cannot be read (${reasonOf(error)})`, error)
  }
  if (stat.isSymbolicLink()) throw folderProblem(path, 'it is a symbolic link')
  if (!stat.isDirectory()) throw folderProblem(path, 'it is not a folder')
  if (isForeign(stat)) throw folderProblem(path, 'it belongs to another user')
  if (isOpenToOthers(stat)) throw folderProblem(path, `other users can look into it; run: chmod 700 ${path}`)
  return true
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Without it a power cut may bring the old file back. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function folderProblem(path: string, why: string, cause?: unknown): ServerError {
  return new ServerError(
    'config_invalid',
    `The config folder ${path} cannot be used for tokens: ${why}. QUARTERDECK_CONFIG_DIR can name another one.`,
    { details: { path }, cause },
  )
}
