// The parts of docs/look-up/cli.md that are made from the commands: what `--help` says about each.

import type { Argument, Command, Option } from 'commander'
import { fillPage, markdownTable } from '../config/generate.ts'
import { settings } from '../config/settings/settings.ts'
import { exitCodes } from './exit-codes.ts'
import { commandAt } from './program.ts'

/** A flag that means the same in so many commands is explained once. */
const SHARED_BY = 4

/**
 * The page with new tables. The block `sessions list` has the description and the flags of this command, `ctl verbs` those of all commands
 * below `ctl` with headings, `shared` the flags that many commands have, `exit-codes` what the codes mean.
 */
export function fillCommands(page: string, program: Command): string {
  const shared = sharedFlags(program)
  return fillPage(page, (name) => {
    if (name === 'shared') return `${flagLines([...shared.values()]).join('\n')}\n`
    if (name === 'exit-codes') {
      const rows = Object.values(exitCodes).map(({ code, meaning }) => [String(code), meaning])
      return markdownTable(['code', 'meaning'], rows)
    }
    const known = new Set(shared.keys())
    const [parent = '', isList] = name.split(' verbs')
    const command = commandAt(program, parent.split(' '))
    return isList === undefined ? describe(command, known) : verbsOf(command, ['quarterdeck', parent], known).join('\n')
  })
}

const verbsOf = (parent: Command, words: readonly string[], shared: ReadonlySet<string>): string[] =>
  parent.commands.flatMap((verb) => {
    const path = [...words, verb.name()]
    if (verb.commands.length > 0) return verbsOf(verb, path, shared)
    const usage = [...path, ...verb.registeredArguments.map(argumentText)].join(' ')
    return [`### ${code(usage)}\n`, describe(verb, shared)]
  })

export function argumentText(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '...' : '')
  return argument.required ? `<${name}>` : `[${name}]`
}

function describe(command: Command, shared: ReadonlySet<string>): string {
  const options = command.options.filter(({ hidden }) => !hidden)
  const ofSettings = settingWords(options.filter(isSetting))
  const others = options.filter((option) => !isSetting(option))
  const own = others.filter((option) => !shared.has(wordsOf(option)))
  const also = others.filter((option) => !own.includes(option))
  return [
    `${command.description()}\n`,
    ...argumentLines(command),
    ...flagLines(own),
    ...(also.length + ofSettings.length === 0 ? [] : [`- also ${[...also.map(shortly), ...ofSettings].join(', ')}`]),
    '',
  ].join('\n')
}

const named = ({ flags }: Option): string => code(flags)

/** What it takes stands where it is explained. */
const shortly = ({ long, flags }: Option): string => code(long ?? flags)

/** Those that are settings are explained on another page. */
function settingWords(options: readonly Option[]): string[] {
  const link = '[the settings](settings.md#all-settings)'
  if (options.length > 10) return [`every flag of ${link}`]
  return options.length === 0 ? [] : [`from ${link} ${options.map(named).join(', ')}`]
}

const isSetting = (option: Option): boolean =>
  Object.values(settings).some(
    ({ flag, description }) => flag === option.flags && option.description.startsWith(description.replaceAll('`', '')),
  )

/** By what they say. */
function sharedFlags(program: Command): Map<string, Option> {
  const uses = new Map<string, Option[]>()
  const count = (command: Command): void => {
    for (const option of command.options) uses.set(wordsOf(option), [...(uses.get(wordsOf(option)) ?? []), option])
    command.commands.forEach(count)
  }
  count(program)
  return new Map(
    [...uses].flatMap(([words, [first, ...more]]) =>
      first !== undefined && !first.hidden && more.length + 1 >= SHARED_BY ? [[words, first]] : [],
    ),
  )
}

const wordsOf = ({ flags, description }: Option): string => `${flags} ${description}`

const flagLines = (options: readonly Option[]): string[] =>
  options.map(({ flags, description, defaultValue }) => {
    const words = defaultValue === undefined ? description : `${description} (default: ${String(defaultValue)})`
    return `- ${code(flags)}: ${words}`
  })

const argumentLines = (command: Command): string[] =>
  command.registeredArguments.flatMap((argument) =>
    argument.description === '' ? [] : [`- ${code(argumentText(argument))}: ${argument.description}`],
  )

const code = (text: string): string => `\`${text}\``
