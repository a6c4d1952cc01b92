import { Argument, Command } from 'commander'
import { exitCodes } from '../../exit-codes.ts'
import type { Io, Settle } from '../../terminal/io.ts'
import { completionScript, shells } from './completion-scripts.ts'

/** `loadProgram` gives the whole command line: a command is otherwise loaded alone. */
export const createCompletionCommand = (loadProgram: () => Promise<Command>, io: Io, settle: Settle): Command =>
  new Command('completion')
    .summary('print a script that completes commands and flags in your shell')
    .description(
      'Prints a script for bash, zsh or fish. With it, Tab completes the commands, verbs and flags of quarterdeck.',
    )
    .addArgument(new Argument('<shell>', 'for which shell').choices(shells))
    .addHelpText(
      'after',
      `
Examples:
  $ quarterdeck completion bash > ~/.local/share/bash-completion/completions/quarterdeck
  $ quarterdeck completion zsh >> ~/.zshrc
  $ quarterdeck completion fish > ~/.config/fish/completions/quarterdeck.fish`,
    )
    .action(async (shell: (typeof shells)[number]) => {
      io.stdout.write(completionScript(await loadProgram(), shell))
      settle(exitCodes.ok.code)
    })
