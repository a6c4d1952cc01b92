import { homedir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { ConfigError, issueWithoutLine } from './config-error.ts'
import { type Environment, variable } from './source/env-file.ts'

export const CONFIG_DIR_VARIABLE = 'QUARTERDECK_CONFIG_DIR'

/**
 * The folder for what belongs to the user of the server and not to an agent: the tokens. `env` is the environment of the process.
 * The `.env` next to an agent must not count, because a tool may be able to write it. Throws `ConfigError`.
 */
export function findConfigDir(env: Environment, platform: NodeJS.Platform): string {
  const named = variable(env, CONFIG_DIR_VARIABLE)
  if (named !== undefined) {
    if (isAbsolute(named)) return named
    throw problem(`expected an absolute path, found ${JSON.stringify(named)}.`)
  }
  const base = platform === 'win32' ? variable(env, 'APPDATA') : variable(env, 'XDG_CONFIG_HOME')
  // The XDG specification says to ignore a relative path.
  if (base !== undefined && isAbsolute(base)) return join(base, 'quarterdeck')
  const home = homeFolder(env, platform)
  if (home === null)
    throw problem('this user has no home folder. Set this variable to a folder that only this user may read.')
  return platform === 'win32' ? join(home, 'AppData', 'Roaming', 'quarterdeck') : join(home, '.config', 'quarterdeck')
}

/** Never a relative path: it would be inside a workspace. `homedir()` returns whatever HOME says, even an empty text. */
function homeFolder(env: Environment, platform: NodeJS.Platform): string | null {
  const named = platform === 'win32' ? homedir() : variable(env, 'HOME')
  if (named !== undefined && isAbsolute(named)) return named
  try {
    const { homedir: own } = userInfo()
    return isAbsolute(own) ? own : null
  } catch {
    return null
  }
}

const problem = (message: string): ConfigError =>
  new ConfigError([issueWithoutLine(message, { path: CONFIG_DIR_VARIABLE })])
