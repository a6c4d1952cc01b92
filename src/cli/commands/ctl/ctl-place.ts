import { existsSync } from 'node:fs'
import { ConfigError } from '../../../config/config-error.ts'
import { dataDirectory } from '../../data-directory.ts'
import { loadConfig } from '../../load-config.ts'
import type { Io } from '../../terminal/io.ts'

/** The data directory that the person names, otherwise the one that a server started in this folder uses, and the name of its socket. */
export function ctlPlace(
  { dataDir }: { dataDir?: string | undefined },
  io: Io,
): { dataDir: string; ipcName: string | null } {
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
