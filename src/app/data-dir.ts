import { existsSync } from 'node:fs'
import { join } from 'node:path'

export const databaseIn = (dataDir: string): string => join(dataDir, 'quarterdeck.db')

/** For a server without an agent file. */
export const userDataDir = (configDir: string): string => join(configDir, 'data')

/**
 * Where a server without an agent file keeps its data: in this folder if some are here or its settings are, otherwise in a folder of the user. Such a server
 * belongs to no folder, and its data must not lie in a workspace that an agent writes to.
 */
export function dataDirWithoutAgent(cwd: string, configDir: string | null): string {
  const here = join(cwd, '.quarterdeck')
  const isHere = [databaseIn(here), join(cwd, 'quarterdeck.yaml')].some((path) => existsSync(path))
  return configDir === null || isHere ? here : userDataDir(configDir)
}
