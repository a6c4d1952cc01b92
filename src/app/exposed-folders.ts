// Finds folders that an MCP server gets although they hold secrets. An agent that can read them knows the operator's secrets, and one
// that can write them can make itself an operator.

import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { AgentDefinition } from '../domain/agent/agent.ts'
import type { McpServerSettings } from '../domain/agent/tool-settings.ts'
import { isWithin } from '../domain/is-within.ts'
import { createRealPath } from '../supervision/policy/real-path.ts'

export interface Secrets {
  dataDir: string
  configDir: string | null
  envFiles: readonly string[]
}

/** One warning for each folder that is, or holds, one of the secrets. Compares real paths. */
export function exposedFolders(agents: readonly AgentDefinition[], secrets: Secrets): string[] {
  const held = [
    { what: 'the data directory', path: secrets.dataDir },
    ...(secrets.configDir === null ? [] : [{ what: 'the config folder with the tokens', path: secrets.configDir }]),
    // A missing `.env` counts too: a tool could create it, and at the next start it could set the operator's token.
    ...secrets.envFiles.map((path) => ({ what: existsSync(path) ? '.env' : 'the place where .env is read', path })),
  ].flatMap(({ what, path }) =>
    [...new Set([realPath(path), join(realPath(dirname(path)), basename(path))])].map((one) => ({ what, path: one })),
  )

  const warnings = agents.flatMap((agent) =>
    agent.tools.flatMap((tool) =>
      tool.type !== 'mcp'
        ? []
        : namedFolders(tool).flatMap(({ folder, from }) => {
            const found = new Set(held.filter(({ path }) => isWithin(path, folder)).map(({ what }) => what))
            if (found.size === 0) return []
            return [
              `The MCP server ${tool.name} of ${agent.name} gets ${folder} (${from}), which holds ${list([...found])}. ` +
                'Anyone who can write there can become an operator. Give the server a folder of its own, like ./notes.',
            ]
          }),
    ),
  )
  return [...new Set(warnings)]
}

/** All folders that the server's arguments or `cwd` name. */
function namedFolders({ connection }: McpServerSettings): { folder: string; from: string }[] {
  if (connection.kind !== 'stdio') return []
  const { args, directory } = connection
  const found = new Map<string, string>()
  if (connection.hasCwd) found.set(realPath(directory), 'cwd')
  for (const arg of args) {
    // Like `--root=.`, `/home/ada:/data` for a container, and `cd . && server` for a shell. The warning repeats only the folder: the rest may
    // be secret.
    for (const part of [arg, ...arg.split(/[=:,\s]/)]) {
      if (part === '') continue
      const path = resolve(directory, part.replace(/^file:\/\//, ''))
      if (isFolder(path) && !found.has(realPath(path))) found.set(realPath(path), `args: ${part}`)
    }
  }
  return [...found].map(([folder, from]) => ({ folder, from }))
}

/** Also for a path that does not exist yet. */
function realPath(path: string): string {
  try {
    return createRealPath()(path)
  } catch {
    // A path that cannot be followed is used as it is written.
    return resolve(path)
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

const list = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
