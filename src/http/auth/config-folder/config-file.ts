// A file about one data directory in the config folder of the user that runs the server. No tool gets access to that folder.

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

interface ConfigFile {
  readonly path: string
  /** The real path of the data directory. */
  readonly dataDir: string
  /** Null if the file does not exist. Throws `config_invalid` if the folder cannot be trusted, or the error of `refuse`. */
  read(options: PrivateFileOptions): string | null
  /** The text is on disk when it returns. A crash leaves the old file or the new one. Throws `config_invalid` or `storage_full`. */
  write(text: string): void
  remove(): void
}

export interface ConfigFileOptions {
  configDir: string
  /** Must exist, because the file is named after its real path. */
  dataDir: string
  /** Creates the config folder with this mode, and its missing parents. */
  makeFolder: (path: string, mode: number) => void
}

export function createConfigFile(kind: string, { configDir, dataDir, makeFolder }: ConfigFileOptions): ConfigFile {
  const realDir = realpathSync(dataDir)
  if (isBelow(configDir, realDir)) {
    throw folderProblem(configDir, `it is inside the data directory ${realDir}, where tools may reach it`)
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
        throw folderProblem(configDir, `it cannot be created (${reasonOf(error)})`, error)
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

/** `path` does not have to exist yet. */
function isBelow(path: string, folder: string): boolean {
  try {
    return isWithin(realpathSync(path), folder)
  } catch {
    return dirname(path) !== path && isBelow(dirname(path), folder)
  }
}

/** False if the folder does not exist. Throws if other users can change it. */
function checkFolder(path: string): boolean {
  let stat: Stats
  try {
    stat = lstatSync(path)
  } catch (error) {
    // A folder that we may not look into has nothing for us. A service without a home directory must still start.
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

/** Without this, a power cut may bring the old file back. */
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
    `The config folder ${path} cannot be used for tokens: ${why}. You can choose another one with QUARTERDECK_CONFIG_DIR.`,
    { details: { path }, cause },
  )
}
