// What `connect` remembers about a folder: the server that supervises agents there, and the agent's token. It is stored beside the
// operator's tokens, outside of every workspace, so that neither a host's config nor a process list shows the token.

import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isWithin } from '../domain/is-within.ts'
import { createConfigFile } from '../http/auth/config-folder/config-file.ts'
import { readPrivateFile } from '../http/auth/config-folder/read-private-file.ts'
import { createServerAddress } from '../http/auth/config-folder/server-address.ts'
import { makeFolder } from '../store/make-folder.ts'
import { realOrSame } from './program-name.ts'

export interface AgentConnection {
  /** Real path. */
  workspace: string
  /** Of the server, without a path. */
  url: string
  /** Of a server on this machine, which may have another port after its next start. */
  dataDir?: string
  tokenId: string
  token: string
}

export type AgentConnections = ReturnType<typeof createAgentConnections>

/** The folders must exist. One connection for each host and workspace. Reading throws if other users could have changed the file. */
export function createAgentConnections(configDir: string, host: string) {
  const fileOf = (workspace: string) =>
    createConfigFile(`connection-${host}`, { configDir, dataDir: workspace, makeFolder })

  function read(workspace: string): AgentConnection | null {
    const file = fileOf(workspace)
    const refuse = (why: string, cause?: unknown) => new Error(`${file.path}: ${why}`, { cause })
    const text = file.read({ maxBytes: 10_000, refuse })
    return text === null ? null : parseConnection(text, refuse)
  }

  return {
    /** For exactly this folder. */
    read,
    /** For this folder, or for the nearest folder above it. */
    find(folder: string): AgentConnection | null {
      for (let at = realpathSync(folder); ; at = dirname(at)) {
        // A folder that holds our config folder, such as the home folder, is never a workspace. Nor is any folder above it.
        if (isWithin(realOrSame(configDir), at)) return null
        const found = read(at)
        if (found !== null || dirname(at) === at) return found
      }
    },
    /** Throws `config_invalid` or `storage_full`. */
    write({ workspace, url, dataDir, tokenId, token }: AgentConnection): void {
      const content = { workspace, url, data_dir: dataDir, token_id: tokenId, token }
      fileOf(workspace).write(`${JSON.stringify(content)}\n`)
    },
    remove: (workspace: string): void => fileOf(workspace).remove(),
  }
}

/** The file that lists the folders in which a host's hooks ask. The hooks' command line names it. */
export const connectedFoldersFile = (configDir: string, host: string): string => join(configDir, `folders-${host}.json`)

/** Null if there is no such file. Throws if it cannot be understood, or other users could have changed it. */
export function readConnectedFolders(path: string): string[] | null {
  const refuse = (why: string, cause?: unknown) => new Error(`${path}: ${why}`, { cause })
  const text = readPrivateFile(path, { maxBytes: 1_000_000, refuse })
  if (text === null) return null
  const folders: unknown = JSON.parse(text)
  if (Array.isArray(folders) && folders.every((one) => typeof one === 'string')) return folders
  throw refuse('it is not a list of folders; run quarterdeck connect again')
}

/** Where the server of a connection is now, as far as we know. */
export function currentUrl({ url, dataDir }: Pick<AgentConnection, 'url' | 'dataDir'>, configDir: string): string {
  if (dataDir === undefined) return url
  try {
    return createServerAddress({ configDir, dataDir, makeFolder }).read() ?? url
  } catch {
    // The data directory is gone.
    return url
  }
}

function parseConnection(text: string, refuse: (why: string) => Error): AgentConnection {
  const value: unknown = JSON.parse(text)
  const { workspace, url, data_dir: dataDir, token_id: tokenId, token } = Object(value) as Record<string, unknown>
  const isText = (part: unknown): part is string => typeof part === 'string' && part !== ''
  if (isText(workspace) && isText(url) && isText(tokenId) && isText(token)) {
    return { workspace, url, ...(isText(dataDir) ? { dataDir } : {}), tokenId, token }
  }
  throw refuse('it is not a connection; run quarterdeck connect again')
}
