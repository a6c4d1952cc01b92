import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { loadConfig } from '../../../app/load-config.ts'
import { ConfigError } from '../../../config/config-error.ts'
import { dataDirectory, namedDataDir } from '../../data-directory.ts'
import { shellWord } from '../../program-name.ts'
import { onlyRunning } from '../../running-server.ts'
import type { Io } from '../../terminal/io.ts'

interface CtlFolder {
  dataDir: string
  ipcName: string | null
}

/**
 * The data directory that the person names, otherwise the one that a server started in this folder uses, and the name of its socket. If
 * `isServed` says no to that one, it is the one of the only server of this user that runs. Throws `CliError` with a list if several run.
 */
export async function ctlPlace(
  { dataDir }: { dataDir?: string | undefined },
  io: Io,
  isServed: (place: CtlFolder) => boolean = (place) => existsSync(place.dataDir),
): Promise<CtlFolder> {
  const usual = usualPlace(dataDir, io)
  if (namedDataDir(dataDir, io) !== undefined || isServed(usual)) return usual
  const running = await onlyRunning(io)
  return running === null ? usual : { dataDir: running, ipcName: null }
}

/** What leads a command to the server of this data directory, if the command would not find it from where the person is. */
export function dataDirFlag(dataDir: string, io: Io): string {
  const cwd = io.env.INIT_CWD ?? io.cwd
  // Their other terminals do not have to have the variables of this one.
  const env = { ...io.env, QUARTERDECK_DATA_DIR: undefined, DATA_DIR: undefined }
  if (usualPlace(undefined, { ...io, cwd, env }).dataDir === dataDir) return ''
  const shorter = relative(cwd, dataDir)
  return ` --data-dir ${shellWord(shorter.startsWith('..') ? dataDir : shorter)}`
}

function usualPlace(dataDir: string | undefined, io: Io): CtlFolder {
  const named = dataDirectory(dataDir, io)
  try {
    const { settings, dataDir: usual } = loadConfig({ files: [], flags: {} }, io)
    const isUsual = dataDir === undefined && existsSync(usual)
    return { dataDir: isUsual ? usual : named, ipcName: settings.supervision.ipcName }
  } catch (error) {
    // A mistake in an agent's file is no reason to leave questions unanswered.
    if (!(error instanceof ConfigError)) throw error
    return { dataDir: named, ipcName: null }
  }
}
