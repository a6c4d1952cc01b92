import { statSync } from 'node:fs'
import { isAbsolute, parse } from 'node:path'
import { ServerError } from '../../domain/errors.ts'
import { isWithin } from '../../domain/is-within.ts'
import type { SupervisionSettings } from '../../domain/settings/supervision-settings.ts'
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
 * The real path of a folder in which an agent may work. Throws `invalid_request` with the reason if it must not: an agent writes
 * there, so nothing of ours and not the whole machine may be inside. Whether a setting allows the folder is another question.
 */
export function checkWorkspace(path: string, own: OwnFolders): string {
  const { folder, refuse, real } = openFolder(path, own)
  for (const [name, dir, mine] of ourFolders(own, real)) {
    if (isWithin(mine, folder) && mine !== folder) refuse(`it contains the ${name} folder of the server, ${dir}`)
  }
  return folder
}

/** Each folder below it is checked when it becomes a workspace, so folders of ours may be among them. */
const checkRoot = (path: string, own: OwnFolders): string => openFolder(path, own).folder

/** A folder that is not the whole machine, does not hold the home folder, and does not lie in a folder of ours. */
function openFolder(path: string, own: OwnFolders) {
  const refuse = (why: string, cause?: unknown): never => {
    throw new ServerError('invalid_request', `${path} cannot be a workspace: ${why}.`, { details: { path }, cause })
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
  for (const [name, dir, mine] of ourFolders(own, real)) {
    if (mine === folder) refuse(`it is the ${name} folder of the server`)
    if (isWithin(folder, mine)) refuse(`it lies within the ${name} folder of the server, ${dir}`)
  }
  return { folder, refuse, real }
}

const ourFolders = ({ configDir, dataDir, runtimeDir }: OwnFolders, real: (path: string) => string) =>
  (
    [
      ['config', configDir],
      ['data', dataDir],
      ['runtime', runtimeDir],
    ] as const
  ).flatMap(([name, dir]) => (dir === null ? [] : [[name, dir, real(dir)] as const]))

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

/** What the settings say about workspaces. */
export type WorkspaceRules = Pick<SupervisionSettings, 'defaultWorkspaceRoot' | 'workspaces'> & {
  slack: Pick<SupervisionSettings['slack'], 'channels'>
}

export interface AllowedWorkspace {
  /** Real path. */
  path: string
  id: string | null
  channelId: string | null
  label: string | null
}

/** Where agents may work, for everybody who asks: who makes a token, opens a session or starts an agent. */
export interface Workspaces {
  /**
   * The workspace with this path or id. Throws `forbidden` if the settings name workspaces and this is none of them, and
   * `invalid_request` if it can never be one.
   */
  find(asked: string): AllowedWorkspace
  /**
   * Throws `forbidden` for a channel that `slack.channels` does not have. With the real path of a workspace, also for a channel that
   * the settings give to other workspaces alone: who works in this one has no business there.
   */
  checkChannel(channelId: string, workspacePath?: string): void
}

/** Throws `config_invalid` if a folder of the settings cannot be used. Without such a setting agents may work in every fit folder. */
export function createWorkspaces(rules: WorkspaceRules, own: OwnFolders): Workspaces {
  const { defaultWorkspaceRoot: root, workspaces, slack } = rules
  for (const [i, { path }] of workspaces.entries()) atStart(`workspaces[${i}]`, () => checkWorkspace(path, own))
  if (root !== null) atStart('default_workspace_root', () => checkRoot(root, own))
  const isOpen = root === null && workspaces.length === 0
  return {
    find: (asked) =>
      isOpen
        ? { path: checkWorkspace(asked, own), id: null, channelId: null, label: null }
        : findWorkspace(asked, rules, own),
    checkChannel(channelId, workspacePath) {
      const details = { channel_id: channelId }
      if (!slack.channels.includes(channelId)) {
        throw new ServerError(
          'forbidden',
          `${JSON.stringify(channelId)} is not a channel of this server. Add it to slack.channels in quarterdeck.yaml.`,
          { details },
        )
      }
      const owners = workspaces.filter((one) => one.channelId === channelId)
      if (workspacePath === undefined || owners.length === 0) return
      if (owners.some(({ path }) => leadsTo(path, (folder) => isWithin(workspacePath, folder)))) return
      throw new ServerError(
        'forbidden',
        `The channel ${JSON.stringify(channelId)} belongs to another workspace. Leave channel_id out, or bind the token to the channel.`,
        { details },
      )
    },
  }
}

function atStart(key: string, check: () => unknown): void {
  try {
    check()
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    throw new ServerError('config_invalid', `${key} in quarterdeck.yaml: ${error.message}`, {
      details: error.details,
      cause: error,
    })
  }
}

/** A folder below `default_workspace_root` is allowed; the root itself is not, because it holds all the others. */
function findWorkspace(asked: string, { workspaces, defaultWorkspaceRoot: root }: WorkspaceRules, own: OwnFolders) {
  const named = workspaces.find(({ id }) => id !== null && id === asked)
  if (named === undefined && !isAbsolute(asked)) {
    throw new ServerError(
      'invalid_request',
      `${JSON.stringify(asked)} is not the id of a workspace. Write an id of workspaces in quarterdeck.yaml, or an absolute path.`,
      { details: { path: asked } },
    )
  }
  const path = checkWorkspace(named?.path ?? asked, own)
  const listed = named ?? workspaces.find((one) => leadsTo(one.path, (folder) => folder === path))
  if (listed !== undefined) return { ...listed, path }
  if (root !== null) {
    const realRoot = createRealPath()(root)
    if (path !== realRoot && isWithin(path, realRoot)) {
      // Whoever works in a part of a workspace reports where the whole does.
      const around = workspaces.find((one) => leadsTo(one.path, (folder) => isWithin(path, folder)))
      return { path, id: null, channelId: around?.channelId ?? null, label: null }
    }
  }
  throw new ServerError(
    'forbidden',
    `${path} is not a workspace of this server. Add it to workspaces in quarterdeck.yaml, or choose a folder below default_workspace_root.`,
    { details: { path } },
  )
}

/** Whether the folder that a listed path leads to is one that fits. */
function leadsTo(listed: string, fits: (folder: string) => boolean): boolean {
  try {
    return fits(createRealPath()(listed))
  } catch {
    // Where it leads is not clear, so it is not this one.
    return false
  }
}
