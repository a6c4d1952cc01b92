// The tokens of one data directory, as hashes, in the config folder of the server's user: outside every folder that a tool is
// given. Only whoever holds the lock of the data directory reads or writes it.

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
import { z } from 'zod'
import { sha256 } from '../../domain/digest.ts'
import { ServerError } from '../../domain/errors.ts'
import { isWithin } from '../../domain/is-within.ts'
import { isForeign, isOpenToOthers, readPrivateFile, reasonOf } from './private-file.ts'
import { checkTokens, type TokenRecord, tokenRoles } from './token.ts'

export interface TokenFile {
  readonly path: string
  /** Null when there is none yet. Throws `config_invalid` when it cannot be trusted or read. */
  read(): readonly TokenRecord[] | null
  /** On disk when it returns; a crash leaves the old file or the new one. Throws `config_invalid`. */
  write(records: readonly TokenRecord[]): void
}

export interface TokenFileOptions {
  configDir: string
  /** It must exist: the file is named after its real path. */
  dataDir: string
  /** Makes the config folder with this mode, and those above it that are missing. */
  makeFolder: (path: string, mode: number) => void
}

const MAX_BYTES = 1_000_000

const ContentSchema = z.strictObject({
  /** For people who look into the folder. */
  data_dir: z.string(),
  tokens: z.array(
    z.strictObject({
      id: z.string().min(1).max(64),
      name: z.string().max(200),
      user: z.string().regex(/^\w{1,64}$/),
      role: z.enum(tokenRoles),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
      created_at: z.iso.datetime(),
    }),
  ),
})

export function createTokenFile({ configDir, dataDir, makeFolder }: TokenFileOptions): TokenFile {
  const realDir = realpathSync(dataDir)
  if (isBelow(configDir, realDir)) {
    throw folderProblem(configDir, `it lies in the data directory ${realDir}, where tools may get at it`)
  }
  const path = join(configDir, `tokens-${sha256(realDir).slice(0, 32)}.json`)

  return {
    path,
    read() {
      if (!checkFolder(configDir)) return null
      const text = readPrivateFile(path, { maxBytes: MAX_BYTES, refuse: (why, cause) => unusable(path, why, cause) })
      return text === null ? null : parse(path, text)
    },
    write(tokens) {
      try {
        makeFolder(configDir, 0o700)
      } catch (error) {
        throw folderProblem(configDir, `it cannot be made (${reasonOf(error)})`, error)
      }
      checkFolder(configDir)
      const draft = `${path}.new`
      try {
        rmSync(draft, { force: true })
        writeDurably(draft, `${JSON.stringify({ data_dir: realDir, tokens }, null, 2)}\n`)
        renameSync(draft, path)
        syncFolder(configDir)
      } catch (error) {
        throw folderProblem(configDir, `it cannot be written (${reasonOf(error)})`, error)
      }
    },
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

function parse(path: string, text: string): readonly TokenRecord[] {
  const repair = 'Restore it, or remove it and make new tokens: quarterdeck tokens create'
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw unusable(path, `it is not valid JSON. ${repair}`)
  }
  const parsed = ContentSchema.safeParse(content)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const where = issue === undefined || issue.path.length === 0 ? '' : ` (${issue.path.join('.')})`
    throw unusable(path, `it is not a token file of this version${where}. ${repair}`)
  }
  return checkTokens(parsed.data.tokens)
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

function unusable(path: string, why: string, cause?: unknown): ServerError {
  return new ServerError('config_invalid', `The token file ${path} cannot be used: ${why}.`, {
    details: { path },
    cause,
  })
}

function folderProblem(path: string, why: string, cause?: unknown): ServerError {
  return new ServerError(
    'config_invalid',
    `The config folder ${path} cannot be used for tokens: ${why}. QUARTERDECK_CONFIG_DIR names another.`,
    { details: { path }, cause },
  )
}
