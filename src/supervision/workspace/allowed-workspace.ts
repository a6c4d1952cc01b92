import { statSync } from 'node:fs'
import { isAbsolute, parse } from 'node:path'
import { ServerError } from '../../domain/errors.ts'
import { isWithin } from '../../domain/is-within.ts'
import { createRealPath } from '../policy/real-path.ts'

/** The folders of the server itself. Those that do not exist yet count as well. */
export interface OwnFolders {
  /** Null: there is none. */
  configDir: string | null
  dataDir: string
  runtimeDir: string
  /** The home folder of this user. Null: there is none. */
  home: string | null
}

/**
 * The real path of a folder in which an agent may work. Throws `config_invalid` with the reason if it must not: an agent writes there,
 * so nothing of ours and not the whole machine may be inside. Whether a setting allows the folder is another question.
 */
export function checkWorkspace(path: string, own: OwnFolders): string {
  const refuse = (why: string, cause?: unknown): never => {
    throw new ServerError('config_invalid', `${path} cannot be a workspace: ${why}.`, { details: { path }, cause })
  }
  if (path.includes('\0')) refuse('its name has a NUL character')
  if (!isAbsolute(path)) refuse('it is not an absolute path')
  const realPath = createRealPath()
  const real = (one: string): string => {
    try {
      return realPath(one)
    } catch (error) {
      return refuse(`it is not clear where ${one} leads`, error)
    }
  }
  const folder = real(path)
  if (!isFolder(folder)) refuse('there is no such folder')
  if (folder === parse(folder).root) refuse('it is the whole file system')
  if (own.home !== null && isWithin(real(own.home), folder)) {
    refuse(
      folder === real(own.home) ? 'it is the home folder. Choose a folder inside it' : 'it contains the home folder',
    )
  }
  const ours = [
    ['config', own.configDir],
    ['data', own.dataDir],
    ['runtime', own.runtimeDir],
  ] as const
  for (const [name, dir] of ours) {
    if (dir === null) continue
    const mine = real(dir)
    if (mine === folder) refuse(`it is the ${name} folder of the server`)
    if (isWithin(mine, folder)) refuse(`it contains the ${name} folder of the server, ${dir}`)
    if (isWithin(folder, mine)) refuse(`it lies within the ${name} folder of the server, ${dir}`)
  }
  return folder
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

interface WorkspaceRules {
  defaultWorkspaceRoot: string | null
  workspaces: readonly { path: string; id: string | null; channelId: string | null; label: string | null }[]
}

export interface AllowedWorkspace {
  /** Real path. */
  path: string
  id: string | null
  channelId: string | null
  label: string | null
}

/**
 * The workspace that the settings allow for a path or an id. Throws `forbidden` if they do not name it, and `config_invalid` if it can
 * never be one. A folder below `default_workspace_root` is allowed; the root itself is not, because it holds all the others.
 */
export function findWorkspace(asked: string, rules: WorkspaceRules, own: OwnFolders): AllowedWorkspace {
  const realPath = createRealPath()
  const named = rules.workspaces.find(({ id }) => id !== null && id === asked)
  const path = checkWorkspace(named?.path ?? asked, own)
  const listed = named ?? rules.workspaces.find((one) => isSame(one.path, path, realPath))
  if (listed !== undefined) return { ...listed, path }
  const { defaultWorkspaceRoot: root } = rules
  if (root !== null) {
    const realRoot = realPath(root)
    if (path !== realRoot && isWithin(path, realRoot)) return { path, id: null, channelId: null, label: null }
  }
  throw new ServerError(
    'forbidden',
    `${path} is not a workspace of this server. Add it to workspaces in quarterdeck.yaml, or choose a folder below default_workspace_root.`,
    { details: { path } },
  )
}

function isSame(listed: string, path: string, realPath: (one: string) => string): boolean {
  try {
    return realPath(listed) === path
  } catch {
    // Where it leads is not clear, so it is not this one.
    return false
  }
}
