import { Command } from 'commander'
import { type CommandContext, examples } from '../../command.ts'
import { addSettingFlags, settingFlagsOf } from '../../setting-flags.ts'
import type { EvalFlags } from './eval.ts'
import type { Asked } from './reach-documents.ts'
import type { ClearFlags, IndexFlags, SearchFlags } from './verbs.ts'

/** The documents of agents. The verbs are loaded when they run. */
export function createKnowledgeCommand({ version, io, settle }: CommandContext): Command {
  const command = new Command('knowledge')
    .summary('the documents that agents search: read, look, try, measure')
    .description(
      'Works on the indexes of the documents that agents search (tools of the type knowledge). While a server runs, it asks the server, as ' +
        'quarterdeck ctl does, with the operator’s token in QUARTERDECK_OPERATOR_TOKEN; otherwise it reads and writes the index itself.',
    )
    .addHelpText(
      'after',
      examples(
        'knowledge index --dry-run',
        'knowledge search "How long is parental leave?"',
        'knowledge eval questions.yaml',
      ),
    )
  const verbs = () => import('./verbs.ts')
  type Verbs = Awaited<ReturnType<typeof verbs>>
  type Flags = Omit<Asked, 'files' | 'settings' | 'version'>

  const verb = (name: string, description: string): Command =>
    addSettingFlags(command.command(name).description(description), ['data_dir'])
      .option('--agent <name>', 'only the documents of this agent')
      .option('--tool <name>', 'only those of the tool with this name')
      .option('--config <file>', 'the settings file (default: quarterdeck.yaml here or beside the agent)')
      .option('--json', 'the result as JSON')
  const FILES = 'agent files or folders (default: agent.yaml in this folder)'
  const passphrase = ['--passphrase-fd <number>', 'read the passphrase from this open file descriptor'] as const
  const run = async (
    made: Command,
    files: string[],
    flags: Flags,
    work: (all: Verbs, asked: Asked) => Promise<number>,
  ): Promise<void> => settle(await work(await verbs(), { ...flags, files, settings: settingFlagsOf(made), version }))

  const index = verb('index', 'Reads new and changed files, and waits until all is in the index.')
    .argument('[files...]', FILES)
    .option('--dry-run', 'only say what would be read and embedded, and what that costs')
    .option('--all', 'all files with problems, not only the first 20')
    .action((files: string[], flags: Flags & IndexFlags) =>
      run(index, files, flags, (all, asked) => all.index(asked, flags, io)),
    )
  const status = verb('status', 'Shows what is in the indexes, and which files could not be read.')
    .argument('[files...]', FILES)
    .option('--all', 'all files with problems, not only the first 20')
    .action((files: string[], flags: Flags & IndexFlags) =>
      run(status, files, flags, (all, asked) => all.status(asked, flags, io)),
    )
  const search = verb('search', 'Searches as the agent does, and shows the scores.')
    .argument('<query>', 'what to look for')
    .argument('[files...]', FILES)
    .option('--passages <number>', 'how many', '10')
    .action((query: string, files: string[], flags: Flags & SearchFlags) =>
      run(search, files, flags, (all, asked) => all.search(query, asked, flags, io)),
    )
  const clear = verb('clear', 'Empties indexes. The next update reads and embeds all files again.')
    .argument('[files...]', FILES)
    .option('--yes', 'do not ask')
    .option(...passphrase)
    .action((files: string[], flags: Flags & ClearFlags) =>
      run(clear, files, flags, (all, asked) => all.clear(asked, flags, io)),
    )
  const evaluate = verb('eval', 'Measures the search with questions whose answers are known.')
    .argument('<questions>', 'a YAML file: a list of question, file and, if you like, heading, page, contains')
    .argument('[files...]', FILES)
    .option('--at-least <share>', 'the exit code is 1 if recall@5 is lower, such as 0.9')
    .option('--all', 'all questions that were missed, not only the first 20')
    .action((questions: string, files: string[], flags: Flags & EvalFlags) =>
      run(evaluate, files, flags, async (_, asked) =>
        (await import('./eval.ts')).evaluate(questions, asked, flags, io),
      ),
    )
  return command
}
