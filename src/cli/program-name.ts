// How a person types this program where it runs. Texts of all layers call it `quarterdeck`; what is printed here calls it by this name.

import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join, sep } from 'node:path'

export interface ProgramFacts {
  /** The launcher, perhaps by a symbolic link. */
  script: string
  cwd: string
  env: Readonly<Record<string, string | undefined>>
  pid: number
  ppid: number
  hostname: string
  platform: NodeJS.Platform
  exists?: (path: string) => boolean
}

/** `quarterdeck`, `npx quarterdeck`, `node bin/quarterdeck.js` or, from outside a container, `docker exec -it … quarterdeck`. */
export function programName(facts: ProgramFacts): string {
  const { cwd, env } = facts
  const launcher = realOrSame(facts.script)
  const outside = fromOutside(facts)
  if (outside !== null) return `${outside} quarterdeck`
  const folders = (env.PATH ?? env.Path ?? '').split(delimiter).filter((folder) => !isNpmsFolder(folder))
  const name = folders.some((folder) => leadsTo(launcher, folder))
    ? 'quarterdeck'
    : isFoundByNpx(launcher, cwd)
      ? 'npx quarterdeck'
      : `node ${shellWord(launcher)}`
  // A person's other terminals may not have the variable, and then they would look for tokens and servers elsewhere.
  const configDir = env.QUARTERDECK_CONFIG_DIR
  return configDir && facts.platform !== 'win32' ? `QUARTERDECK_CONFIG_DIR=${shellWord(configDir)} ${name}` : name
}

/** The first process of a container prints where its engine is used, so a command has to go inside first. Null: it does not. */
function fromOutside({ pid, ppid, hostname, env, exists = existsSync }: ProgramFacts): string | null {
  if (pid !== 1 && ppid !== 1) return null
  if (env.KUBERNETES_SERVICE_HOST) return `kubectl exec -it ${hostname} --`
  if (exists('/run/.containerenv')) return `podman exec -it ${hostname}`
  return exists('/.dockerenv') ? `docker exec -it ${hostname}` : null
}

/** npm adds these folders to PATH for its children only. */
const isNpmsFolder = (folder: string): boolean =>
  folder === '' || folder.includes(join('node_modules', '.bin')) || folder.includes('node-gyp-bin')

function leadsTo(launcher: string, folder: string): boolean {
  const found = join(folder, 'quarterdeck')
  // On Windows npm writes a script that names the launcher.
  const command = `${found}.cmd`
  return (
    realOrSame(found) === launcher || (existsSync(command) && readFileSync(command, 'utf8').includes('quarterdeck.js'))
  )
}

/** The real path, or the path itself if nothing is there. */
export function realOrSame(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/**
 * npx takes the program of the package whose folder this is, as in a checkout. Otherwise it looks into `node_modules/.bin` of this folder
 * and of those above, and then into the registry, which it keeps a copy of.
 */
function isFoundByNpx(launcher: string, cwd: string): boolean {
  if (packageFolder(cwd) === dirname(dirname(launcher))) return true
  for (let folder = cwd; ; folder = dirname(folder)) {
    const bin = join(folder, 'node_modules', '.bin')
    if (existsSync(join(bin, 'quarterdeck'))) return leadsTo(launcher, bin)
    if (dirname(folder) === folder) return isNpxCopy(launcher)
  }
}

/** The nearest folder with a package, as npm sees it. */
function packageFolder(folder: string): string {
  const isOne = ['package.json', 'node_modules'].some((name) => existsSync(join(folder, name)))
  return isOne || dirname(folder) === folder ? folder : packageFolder(dirname(folder))
}

/** Whether `npx quarterdeck`, and not the name of a file or a version, has put the launcher where it is. */
function isNpxCopy(launcher: string): boolean {
  const [project = '', rest] = launcher.split(`${sep}node_modules${sep}`)
  if (rest === undefined || !project.includes(`${sep}_npx${sep}`)) return false
  try {
    const { _npx: npx } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
    return JSON.stringify(npx?.packages) === '["quarterdeck"]'
  } catch {
    return false
  }
}

/** A text in quotes, as one word of sh, bash, zsh and fish. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** A word that the shell of this system reads as this text. In quotes only where it needs them. */
export function shellWord(text: string, platform = process.platform): string {
  if (/^[\w@%+=:,./\\-]+$/.test(text)) return text
  return platform === 'win32' ? `"${text}"` : shellQuoted(text)
}
