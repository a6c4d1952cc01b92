import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { variable } from '../config/source/env-file.ts'
import { databaseIn, openStore } from '../open-store.ts'
import type { Store } from '../store/store.ts'
import { CliError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'
import type { Io } from './terminal/io.ts'

/** The data directory that is meant without an agent file: the flag's, the environment's, or the one in this folder. */
export function dataDirectory(flag: string | undefined, io: Io): string {
  const named = flag ?? variable(io.env, 'QUARTERDECK_DATA_DIR') ?? variable(io.env, 'DATA_DIR')
  return resolve(io.cwd, named ?? '.quarterdeck')
}

/** Runs `work` on the store of a data directory that no server uses meanwhile. Throws `data_dir_locked` when one does. */
export async function withStore<T>(
  directory: string,
  options: { create: boolean },
  io: Io,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const exists = await stat(databaseIn(directory)).then(
    () => true,
    () => false,
  )
  if (!exists && !options.create) {
    throw new CliError(exitCodes.usage.code, `There is no data of Quarterdeck in ${directory}.`, [
      'Name the folder: --data-dir <folder> (a server prints it at its start).',
    ])
  }
  const store = openStore({
    dataDir: directory,
    fatal(error) {
      io.stderr.write(`quarterdeck: the disk failed: ${error.message}\n`)
      io.exit(exitCodes.disk.code)
    },
  })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
