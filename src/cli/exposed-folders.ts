// Folders that an MCP server is given and that hold what no tool should reach: an agent that reads them knows the secrets of its
// operator, and one that writes them can become its own operator.

import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { AgentDefinition } from '../domain/agent.ts'
import { isWithin } from '../domain/is-within.ts'
import type { McpServerSettings } from '../domain/tool-settings.ts'
import { createRealPath } from '../supervision/policy/real-path.ts'

export interface Secrets {
  dataDir: string
  configDir: string | null
  envFiles: readonly string[]
}

/** One warning for each folder that holds, or is, one of the secrets. Real paths are compared. */
export function exposedFolders(agents: readonly AgentDefinition[], secrets: Secrets): string[] {
  const held = [
    { what: 'the data directory', path: secrets.dataDir },
    ...(secrets.configDir === null ? [] : [{ what: 'the config folder with the tokens', path: secrets.configDir }]),
    // One that is not there yet can be written: it is read at the next start, and may set the operator's token.
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
                'Whoever can write there can become an operator: give it a folder of its own, e.g. ./notes.',
            ]
          }),
    ),
  )
  return [...new Set(warnings)]
}

/** Every folder that its arguments or its `cwd` name. */
function namedFolders({ connection }: McpServerSettings): { folder: string; from: string }[] {
  if (connection.kind !== 'stdio') return []
  const { args, directory } = connection
  const found = new Map<string, string>()
  if (connection.hasCwd) found.set(realPath(directory), 'cwd')
  for (const arg of args) {
    // `--root=.`, `/home/ada:/data` as containers are told, and `cd . && server` for a shell. Only the part that is a folder is repeated: the rest may be secret.
    for (const part of [arg, ...arg.split(/[=:,\s]/)]) {
      if (part === '') continue
      const path = resolve(directory, part.replace(/^file:\/\//, ''))
      if (isFolder(path) && !found.has(realPath(path))) found.set(realPath(path), `args: ${part}`)
    }
  }
  return [...found].map(([folder, from]) => ({ folder, from }))
}

/** Also of what is not there yet. */
function realPath(path: string): string {
  try {
    return createRealPath()(path)
  } catch {
    // Where the way cannot be followed it is taken as it is written.
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
