import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { databaseIn, userDataDir } from '../app/data-dir.ts'
import { openStore } from '../app/open-store.ts'
import { findConfigDir } from '../config/config-dir.ts'
import { variable } from '../config/source/env-file.ts'
import { hasCode, ServerError } from '../domain/errors.ts'
import { systemErrorCode } from '../domain/system-error-code.ts'
import type { ReadOnlyStore, Store } from '../store/store.ts'
import { type CliError, cannotCreate, usageError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'
import type { Io } from './terminal/io.ts'

/**
 * The data directory of a command that knows no agent file: from the flag, the environment, or `.quarterdeck` in this folder. If that
 * does not exist, it may be the one of this user's server without an agent file.
 */
export function dataDirectory(flag: string | undefined, io: Io): string {
  const named = namedDataDir(flag, io)
  if (named !== undefined) return resolve(io.cwd, named)
  const here = join(io.cwd, '.quarterdeck')
  const configDir = existsSync(here) ? null : configDirOrNull(io)
  return configDir !== null && existsSync(databaseIn(userDataDir(configDir))) ? userDataDir(configDir) : here
}

/** The one that the person names. */
export const namedDataDir = (flag: string | undefined, { env }: Pick<Io, 'env'>): string | undefined =>
  flag ?? variable(env, 'QUARTERDECK_DATA_DIR') ?? variable(env, 'DATA_DIR')

export function configDirOrNull({ env }: Io): string | null {
  try {
    return findConfigDir(env, process.platform)
  } catch {
    return null
  }
}

/** Runs `work` on the store while no server uses it. Throws `data_dir_locked` when one does. */
export async function withStore<T>(
  directory: string,
  options: { create: boolean },
  io: Io,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  if (!options.create) requireData(directory)
  const store = openStore({
    dataDir: directory,
    fatal(error) {
      io.stderr.write(`quarterdeck: the disk failed: ${error.message}\n`)
      io.exit(exitCodes.disk.code)
    },
  })
  await using _closed = closedAfter(store)
  return await work(store)
}

/** Closes something when the block ends. */
export const closedAfter = (one: { close(): unknown }): AsyncDisposable => ({
  [Symbol.asyncDispose]: async () => void (await one.close()),
})

export const isLocked = (error: unknown): boolean => hasCode(error, 'data_dir_locked')

/** Runs `work` on what is stored, whether a server runs or not. */
export async function withStoredData<T>(
  directory: string,
  io: Io,
  work: (stored: Pick<ReadOnlyStore, 'read'>) => Promise<T>,
): Promise<T> {
  requireData(directory)
  let stored: ReadOnlyStore
  try {
    stored = openStore({ dataDir: directory, readOnly: true })
  } catch (error) {
    if (hasCode(error, 'config_invalid')) throw unreadable(directory, error.details.reason)
    if (!(error instanceof ServerError) || error.code !== 'data_dir_older') throw error
    return await updateThenRead(directory, io, work, error)
  }
  await using _closed = closedAfter(stored)
  return await work(stored)
}

/** A copy of older data, a backup for example, is brought up to date on the way. Only a server of that version may be using it. */
async function updateThenRead<T>(
  directory: string,
  io: Io,
  work: (stored: Pick<ReadOnlyStore, 'read'>) => Promise<T>,
  older: ServerError,
): Promise<T> {
  try {
    return await withStore(directory, { create: false }, io, (store) => work({ read: (inner) => inner(store) }))
  } catch (error) {
    if (!isLocked(error)) throw error
    throw cannotCreate(older.message, [`A server of the older version is using ${directory} now. Stop it first.`])
  }
}

function requireData(directory: string): void {
  try {
    statSync(databaseIn(directory))
  } catch (error) {
    const code = systemErrorCode(error)
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw unreadable(directory, code)
    throw noData(directory)
  }
}

export const noData = (directory: string): CliError =>
  usageError(`There is no data of Quarterdeck in ${directory}.`, [
    'Name the folder: --data-dir <folder> (a server prints it when it starts).',
    'If the data is in Postgres, set QUARTERDECK_STORE to the address of the database.',
  ])

/** Even a reader needs the right to write: SQLite keeps the list of its readers in a file beside the database. */
const unreadable = (directory: string, reason: unknown): CliError =>
  usageError(`The data in ${directory} cannot be read (${reason}).`, [
    'Run this command as the user that the server runs as.',
    'If the folder is read-only, copy it and name the copy: --data-dir <folder>',
  ])
