import { Command } from 'commander'
import { spelled } from '../domain/settings/program-words.ts'
import { type CommandContext, unknownCommand } from './command.ts'
import { styleFor } from './terminal/style.ts'

type Load = (context: CommandContext) => Promise<Command>

/**
 * The commands, under the headings of `--help`. A command is loaded when it is asked for: a server must not keep in memory, or wait for,
 * what only the others use.
 */
const GROUPS: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  'Everyday:': {
    serve: async (context) => (await import('./commands/serve/serve.ts')).createServeCommand(context),
    chat: async (context) => (await import('./commands/chat/chat.ts')).createChatCommand(context),
    init: async (context) => (await import('./commands/init/init.ts')).createInitCommand(context),
    validate: async (context) => (await import('./commands/validate.ts')).createValidateCommand(context),
    test: async (context) => (await import('./commands/test/test-command.ts')).createTestCommand(context),
    doctor: async (context) => (await import('./commands/doctor/doctor.ts')).createDoctorCommand(context),
    explain: async (context) => (await import('./commands/explain.ts')).createExplainCommand(context),
    knowledge: async (context) => (await import('./commands/knowledge/knowledge.ts')).createKnowledgeCommand(context),
    schedules: async (context) => (await import('./commands/schedules/schedules.ts')).createSchedulesCommand(context),
    tokens: async (context) => (await import('./commands/tokens/tokens.ts')).createTokensCommand(context),
    console: async (context) => (await import('./commands/console/console.ts')).createConsoleCommand(context),
    passkeys: async (context) => (await import('./commands/passkeys/passkeys.ts')).createPasskeysCommand(context),
  },
  'Data:': {
    sessions: async (context) => (await import('./commands/sessions/sessions.ts')).createSessionsCommand(context),
    audit: async (context) => (await import('./commands/audit/audit.ts')).createAuditCommand(context),
    backup: async (context) => (await import('./commands/backup/backup.ts')).createBackupCommand(context),
    restore: async (context) => (await import('./commands/backup/backup.ts')).createRestoreCommand(context),
    migrate: async (context) => (await import('./commands/migrate/migrate.ts')).createMigrateCommand(context),
  },
  'Supervising coding agents:': {
    connect: async (context) => (await import('./commands/connect/connect.ts')).createConnectCommand(context),
    ctl: async (context) => (await import('./commands/ctl/ctl.ts')).createCtlCommand(context),
    policy: async (context) => (await import('./commands/policy/policy.ts')).createPolicyCommand(context),
  },
  'For programs:': {
    mcp: async (context) => (await import('./commands/mcp/mcp.ts')).createMcpCommand(context),
    hook: async (context) => (await import('./commands/hook/hook.ts')).createHookCommand(context),
    completion: async (context) =>
      (await import('./commands/completion/completion.ts')).createCompletionCommand(context, () =>
        createProgram(context),
      ),
    schema: async (context) => (await import('./commands/print-schema.ts')).createSchemaCommand(context),
  },
}

const COMMANDS = Object.entries(GROUPS).flatMap(([group, commands]) =>
  Object.entries(commands).map(([name, load]) => ({ name, group, load })),
)

/**
 * The command line: the whole of it, or only the command with the name `asked`, if there is one. A test compares it with
 * `docs/look-up/cli.md`.
 */
export async function createProgram(context: CommandContext, asked = ''): Promise<Command> {
  const { version, io } = context
  const program = new Command('quarterdeck')
    .description('Serves an AI agent that a YAML file describes, over AG-UI and HTTP, and stores every conversation.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .commandsGroup('More:')
    .helpCommand('help [command...]', 'print the help of a command: help ctl approve')
    .addHelpText(
      'after',
      `
Examples:
  $ quarterdeck serve                   serve agent.yaml of this folder, or the built-in demo agent
  $ quarterdeck init ../helper          make a new project
  $ quarterdeck chat agent.yaml         talk to an agent here in the terminal

For more: quarterdeck <command> --help`,
    )
    // A command reads what stands behind its name: `connect` and `connect slack` both have a --user.
    .enablePositionalOptions()
    .showHelpAfterError('Add --help to see what you can write.')
    .configureOutput({
      writeOut: (text) => void io.stdout.write(spelled(text, io.program())),
      writeErr: (text) => void io.stderr.write(spelled(text, io.program())),
      outputError: (text, write) =>
        write(text.replace(/^error:/, `${styleFor(io.stderr, io.env).red('quarterdeck:')}`)),
      getOutHelpWidth: () => io.stdout.columns || 100,
      getErrHelpWidth: () => io.stderr.columns || 100,
      getOutHasColors: () => styleFor(io.stdout, io.env).bold('') !== '',
      getErrHasColors: () => styleFor(io.stderr, io.env).bold('') !== '',
    })
    .configureHelp({ styleTitle: (title) => `\x1b[1m${title}\x1b[22m` })
    // Without it, commander ends the process itself.
    .exitOverride()

  const one = COMMANDS.filter(({ name }) => name === asked)
  const chosen = one.length > 0 ? one : COMMANDS
  const commands = await Promise.all(chosen.map(async ({ group, load }) => (await load(context)).helpGroup(group)))
  for (const command of commands) {
    inherit(command, program)
    program.addCommand(command)
  }
  return program
}

function inherit(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent)
  if (command.commands.length > 0) command.helpCommand('help [command]', 'print the help of a command')
  // A wrong word is then told by `unknownCommand`; commander would only count the words.
  if (command.commands.length > 0 && command.registeredArguments.length === 0) command.allowExcessArguments()
  for (const child of command.commands) inherit(child, command)
}

/** The command that the words name, from the top: `ctl approve`. A wrong word ends the program as commander does it. */
export function commandAt(program: Command, words: readonly string[]): Command {
  let found = program
  for (const word of words) {
    found = found.commands.find((command) => command.name() === word) ?? unknownCommand(found, word)
  }
  return found
}
