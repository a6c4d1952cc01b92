// What this server loads or keeps on this machine. An agent elsewhere that could write there would become the server, so no policy lets it.

import { statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, parse, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { textsIn } from '../json/texts-in.ts'
import { createRealPath } from '../supervision/policy/real-path.ts'
import { loadedFiles } from '../tools/function/import-module.ts'
import type { Listening } from './open-server.ts'

type Loaded = Pick<Listening, 'agents' | 'settings' | 'own' | 'configFiles'>

/** Real paths. Call it when the tools are loaded: what their modules import counts too, at each start in watch mode. */
export function serverPaths({ agents, settings, own, configFiles }: Loaded): string[] {
  const modules = loadedFiles()
  const paths = [
    ...ownProgram,
    ...[own.dataDir, own.runtimeDir, ...(own.configDir === null ? [] : [own.configDir])],
    ...configFiles,
    ...modules,
    ...modules.flatMap(takenBefore),
    // It says what `#name` and a package's own name mean in an import.
    ...modules.flatMap(foldersOf).map((folder) => join(folder, 'package.json')),
    ...filesNamedIn(settings, null),
    ...agents.flatMap((agent) => [
      // A tool or the program of an MCP server may load anything in it. An agent without a file has no folder of its own.
      // A hosted agent loads nothing from it.
      ...(agent.source === undefined || agent.host !== null ? [] : [agent.directory]),
      ...filesNamedIn(agent, agent.directory),
    ]),
  ]
  return [...new Set([...new Set(paths)].flatMap(realPathOf))]
}

/** The program itself, if an agent works in its checkout. */
const ownProgram = ['bin', 'src', 'dist', 'package.json'].map((name) =>
  fileURLToPath(new URL(`../../${name}`, import.meta.url)),
)

function foldersOf(path: string): string[] {
  const folder = dirname(path)
  return folder === path ? [] : [folder, ...foldersOf(folder)]
}

/** In the order of Node's `require`. */
const ENDINGS = ['', '.js', '.json', '.node', '.ts', '.cts', '.mts']

/** What `require` without an ending would load instead of this file, if it existed. */
export function takenBefore(path: string): string[] {
  const { dir, name } = parse(path)
  const names = [join(dir, name), ...(name === 'index' ? [dir] : [])].flatMap((stem) =>
    ENDINGS.map((ending) => stem + ending),
  )
  return names.filter((one) => one !== path && !isFolder(one))
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Certificates, documents, scripts, the arguments of MCP servers: every text that is the name of a file. */
const filesNamedIn = (value: unknown, folder: string | null): string[] =>
  [...textsIn(value)]
    .flatMap((text) => (isAbsolute(text) ? text : folder === null ? [] : resolve(folder, text)))
    .filter(isFile)

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true
  } catch {
    // It is not the name of a file.
    return false
  }
}

/** The path itself counts as well: what is a link now may be replaced by a file. */
function realPathOf(path: string): string[] {
  try {
    const realPath = createRealPath()
    return [realPath(path), join(realPath(dirname(path)), basename(path))]
  } catch {
    return [path]
  }
}
