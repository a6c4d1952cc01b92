// Completion scripts for shells, made of the same commands as the help. They hold all words, so that a Tab starts no process.

import { Argument, Command } from 'commander'
import { type CommandContext, examples } from '../../command.ts'

/** `loadProgram` gives the whole command line: a command is otherwise loaded alone. */
export const createCompletionCommand = ({ io }: CommandContext, loadProgram: () => Promise<Command>): Command =>
  new Command('completion')
    .summary('print a script that completes commands and flags in your shell')
    .description(
      'Prints a script for bash, zsh or fish. With it, Tab completes the commands, verbs and flags of quarterdeck.',
    )
    .addArgument(new Argument('<shell>', 'for which shell').choices(shells))
    .addHelpText(
      'after',
      examples(
        'completion bash > ~/.local/share/bash-completion/completions/quarterdeck',
        'completion zsh >> ~/.zshrc',
        'completion fish > ~/.config/fish/completions/quarterdeck.fish',
      ),
    )
    .action(async (shell: Shell) => void io.stdout.write(scripts[shell](placesIn(await loadProgram(), ''))))

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

interface Place {
  /** The words before: `ctl approve`. Empty at the top. */
  path: string
  commands: { name: string; text: string }[]
  /** Values of arguments that have only a few. */
  values: string[]
  flags: { long: string; takesValue: boolean; text: string }[]
}

const scripts: Record<Shell, (places: readonly Place[]) => string> = {
  bash: bashScript,
  // Zsh runs completions of bash once it is told to.
  zsh: (places) =>
    `(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }\nautoload -Uz bashcompinit && bashcompinit\n${bashScript(places)}`,
  fish: fishScript,
}

function placesIn(command: Command, path: string): Place[] {
  const commands = command.commands.map((child) => ({
    name: child.name(),
    text: child.summary() || child.description(),
  }))
  const flags = command.options.flatMap(({ long, hidden, flags: written, description }) =>
    long && !hidden ? [{ long, takesValue: /[<[]/.test(written), text: description }] : [],
  )
  const values = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
  const help = { long: '--help', takesValue: false, text: 'print this help' }
  const below = command.commands.flatMap((child) => placesIn(child, `${path} ${child.name()}`.trim()))
  return [{ path, commands, values, flags: [...flags, help] }, ...below]
}

/** Words of ours have neither quotes nor blanks. */
const wordsOf = ({ commands, values, flags }: Place): string =>
  [...commands.map(({ name }) => name), ...values, ...flags.map(({ long }) => long)].join(' ')

const valueFlags = (places: readonly Place[]): string[] => [
  ...new Set(places.flatMap(({ flags }) => flags.filter(({ takesValue }) => takesValue).map(({ long }) => long))),
]

/** What is not a word of ours, such as the value of a flag, is a file. */
function bashScript(places: readonly Place[]): string {
  const below = places.filter(({ path }) => path !== '')
  return `_quarterdeck() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} place='' word words='' i
  COMPREPLY=()
  case $before in ${valueFlags(places).join('|')}) return ;; esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="$place \${COMP_WORDS[i]}"
    case \${word# } in
      ${below.map(({ path }) => `'${path}'`).join('|')}) place=\${word# } ;;
    esac
  done
  case $place in
${places.map((place) => `    '${place.path}') words='${wordsOf(place)}' ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _quarterdeck quarterdeck
`
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
const firstSentence = (text: string): string => text.replace(/[.:;(] ?.*$/s, '').trim()

function fishScript(places: readonly Place[]): string {
  const below = places.filter(({ path }) => path !== '')
  const lines = places.flatMap(({ path, commands, values, flags }) => {
    const at = `complete -c quarterdeck -n ${quoted(`test (__quarterdeck_place) = "${path}"`)}`
    return [
      ...commands.map(({ name, text }) => `${at} -f -a ${name} -d ${quoted(firstSentence(text))}`),
      ...values.map((value) => `${at} -f -a ${value}`),
      ...flags.map(({ long, takesValue, text }) => {
        const value = takesValue ? ' -r' : ''
        return `${at} -l ${long.slice(2)}${value} -d ${quoted(firstSentence(text))}`
      }),
    ]
  })
  return `function __quarterdeck_place
  set -l place ''
  for word in (commandline -opc)[2..-1]
    set -l longer (string trim -- "$place $word")
    if contains -- $longer ${below.map(({ path }) => quoted(path)).join(' ')}
      set place $longer
    end
  end
  echo "$place"
end
${lines.join('\n')}
`
}
