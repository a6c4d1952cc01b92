import { fstatSync } from 'node:fs'
import { resolve } from 'node:path'
import { diskFiles } from '../../../config/source/config-files.ts'
import type { AgentDefinition } from '../../../domain/agent.ts'
import { agentPaths, type LoadedConfig } from '../../load-config.ts'
import type { Io } from '../../terminal/io.ts'
import type { WatchTargets } from './watch-files.ts'

/** The files of a configuration, files that would become part of it, and what is in the agents' folders. */
export function watchTargets(
  files: readonly string[],
  config: LoadedConfig,
  read: readonly string[],
  io: Io,
): WatchTargets {
  const named = agentPaths(files, io)
  // Without an agent file, the agent comes from the environment, and this folder may be any folder.
  const agents = named.length === 0 ? [] : config.agents
  const folders = [
    ...named.filter((path) => diskFiles.list(path) !== null).map((path) => resolve(io.cwd, path)),
    ...agents.map(({ directory }) => directory),
  ]
  const settings = [io.cwd, ...folders].flatMap((folder) =>
    ['quarterdeck.yaml', 'quarterdeck.yml'].map((name) => resolve(folder, name)),
  )
  const own = files.length === 0 ? ['agent.yaml', 'agent.yml'].map((name) => resolve(io.cwd, name)) : []
  // Our own output may go to a file beside the agent. If that counted as a change, each start would cause the next.
  const outputs = [io.stdout, io.stderr].flatMap(({ fd }) => (fd === undefined ? [] : fstatSync(fd)))
  return {
    folders: [...new Set(folders)],
    files: [...new Set([...read, ...own, ...settings, ...agents.flatMap(toolFiles)])],
    ignore: [config.dataDir],
    ignoreFile: ({ dev, ino }) => outputs.some((one) => one.dev === dev && one.ino === ino),
  }
}

const toolFiles = ({ tools }: AgentDefinition): string[] =>
  tools.flatMap((tool) => (tool.type === 'function' || tool.type === 'openapi' ? [tool.file] : []))
