// The commands of the settings, found and checked when the server starts. Later nothing is looked up any more: an agent that puts a
// program into a folder of the PATH must not change what an alias runs.

import { ServerError } from '../../domain/errors.ts'
import { splitCommandLine } from '../../domain/text/command-line.ts'
import { didYouMean } from '../../domain/text/did-you-mean.ts'
import { findProgram, type ProgramSearch } from './find-program.ts'

export interface RegistryCommand {
  alias: string
  argv: readonly string[]
  /** The absolute path of the program that `argv[0]` names. */
  program: string
}

/** By alias. */
export type Commands = ReadonlyMap<string, RegistryCommand>

interface ResolveOptions extends ProgramSearch {
  /** Words that mean something else where an alias can be written. */
  verbs: Iterable<string>
}

/** Throws `config_invalid` with every problem of every command. */
export function resolveCommands(
  config: Readonly<Record<string, string | readonly string[]>>,
  { verbs, ...search }: ResolveOptions,
): Commands {
  const reserved = new Set(verbs)
  const commands = new Map<string, RegistryCommand>()
  const problems: string[] = []
  for (const [alias, line] of Object.entries(config)) {
    const made = resolveOne(alias, line, reserved, search)
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

function resolveOne(
  alias: string,
  line: string | readonly string[],
  reserved: ReadonlySet<string>,
  search: ProgramSearch,
): RegistryCommand | string {
  if (reserved.has(alias)) return `${alias} is a word of quarterdeck itself. Choose another name.`
  const split = typeof line === 'string' ? splitCommandLine(line) : { ok: true as const, argv: [...line] }
  if (!split.ok) return `this line cannot run without a shell: ${split.problem}.`
  const [name = ''] = split.argv
  if (name === '') return 'this names no program.'
  const { program, problem } = findProgram(name, search)
  return program === null ? problem : { alias, argv: split.argv, program }
}
