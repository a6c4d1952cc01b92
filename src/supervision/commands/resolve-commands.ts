// The commands of the settings, found and checked when the server starts. Later nothing is looked up any more: an agent that puts a
// program into a folder of the PATH must not change what an alias runs.

import { accessSync, constants, readlinkSync, statSync } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { splitCommandLine } from '../../domain/command-line.ts'
import { didYouMean } from '../../domain/did-you-mean.ts'
import { ServerError } from '../../domain/errors.ts'
import { isWithin } from '../../domain/is-within.ts'
import { createRealPath } from '../policy/real-path.ts'

export interface RegistryCommand {
  alias: string
  /** As configured. */
  argv: readonly string[]
  /** The absolute path of the program that `argv[0]` names. */
  program: string
}

/** By alias. */
export type Commands = ReadonlyMap<string, RegistryCommand>

interface ResolveOptions {
  /** Folders that agents can write: the workspaces and `default_workspace_root`. */
  workspaces: readonly string[]
  /** Words that mean something else where an alias can be written. */
  verbs: Iterable<string>
  /** The PATH of this process. */
  searchPath: string
}

/** Throws `config_invalid` with every problem of every command. */
export function resolveCommands(
  config: Readonly<Record<string, string | readonly string[]>>,
  { workspaces, verbs, searchPath }: ResolveOptions,
): Commands {
  const reserved = new Set(verbs)
  const inWorkspace = createWorkspaceCheck(workspaces)
  const commands = new Map<string, RegistryCommand>()
  const problems: string[] = []
  for (const [alias, line] of Object.entries(config)) {
    const made = resolveOne(alias, line, { reserved, inWorkspace, searchPath })
    if (typeof made === 'string') problems.push(`commands.${alias}: ${made}`)
    else commands.set(alias, made)
  }
  if (problems.length > 0) {
    throw new ServerError('config_invalid', problems.join(' '), { details: { problems } })
  }
  return commands
}

/** Throws `command_not_found` with the aliases that exist. */
export function findCommand(commands: Commands, alias: string): RegistryCommand {
  const found = commands.get(alias)
  if (found !== undefined) return found
  const known = [...commands.keys()].toSorted()
  const near = didYouMean(alias, known)
  const hint =
    known.length === 0
      ? 'No commands are configured: add some under commands in quarterdeck.yaml.'
      : `${near === null ? '' : `Did you mean ${near}? `}There are: ${known.join(', ')}.`
  const shown = JSON.stringify(alias.slice(0, 100))
  throw new ServerError('command_not_found', `There is no command ${shown}. ${hint}`, { details: { known } })
}

/**
 * The PATH for a command: without relative entries, which mean a folder of the workspace it runs in, and without folders that an agent
 * can write.
 */
export function safeSearchPath(searchPath: string, workspaces: readonly string[]): string {
  const inWorkspace = createWorkspaceCheck(workspaces)
  return foldersOf(searchPath)
    .filter((folder) => !inWorkspace(realOrAsWritten(folder)))
    .join(delimiter)
}

interface Checks {
  reserved: ReadonlySet<string>
  inWorkspace: (path: string) => boolean
  searchPath: string
}

function resolveOne(
  alias: string,
  line: string | readonly string[],
  { reserved, inWorkspace, searchPath }: Checks,
): RegistryCommand | string {
  if (reserved.has(alias)) return `${alias} is a word of quarterdeck itself. Choose another name.`
  const split = typeof line === 'string' ? splitCommandLine(line) : { ok: true as const, argv: [...line] }
  if (!split.ok) return `this line cannot run without a shell: ${split.problem}.`
  const [name = ''] = split.argv
  if (name === '') return 'this names no program.'
  const isPath = /[/\\]/.test(name)
  if (isPath && !isAbsolute(name)) return `write the whole path of ${name}: what it means depends on the workspace.`
  const program = isPath ? (isProgram(name) ? name : null) : findProgram(name, searchPath)
  if (program === null)
    return `there is no program ${name}${isPath ? '' : ' in the PATH'}. Install it, or write its whole path.`
  if (hopsOf(program).some(inWorkspace)) {
    return `${name} is ${program}, which an agent can change because it leads into a workspace. Use a program from elsewhere.`
  }
  return { alias, argv: split.argv, program }
}

/** `place` must be real except for its last part: a link in a workspace is in the workspace, wherever it leads. */
function createWorkspaceCheck(workspaces: readonly string[]): (place: string) => boolean {
  const folders = workspaces.map(realOrAsWritten)
  return (place) => folders.some((folder) => isWithin(place, folder))
}

function realOrAsWritten(path: string): string {
  try {
    return createRealPath()(path)
  } catch {
    return resolve(path)
  }
}

/** As many links as Linux follows. */
const MAX_LINKS = 40

/** The program and everything that its links lead over, as places on the disk: whoever can change one of them changes what runs. */
function hopsOf(program: string): string[] {
  const hops: string[] = []
  let at = program
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    const place = join(realOrAsWritten(dirname(at)), basename(at))
    hops.push(place)
    const target = linkAt(place)
    if (target === null) break
    at = resolve(dirname(place), target)
  }
  return hops
}

function linkAt(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

function findProgram(name: string, searchPath: string): string | null {
  const names = process.platform === 'win32' ? [name, `${name}.exe`, `${name}.cmd`] : [name]
  for (const folder of foldersOf(searchPath)) {
    const found = names.map((one) => join(folder, one)).find(isProgram)
    if (found !== undefined) return found
  }
  return null
}

/** An empty entry means the current folder, and so does every relative one. */
const foldersOf = (searchPath: string): string[] => searchPath.split(delimiter).filter(isAbsolute)

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
