import { Command } from 'commander'
import { createAuditCommand } from './commands/audit/audit.ts'
import { createChatCommand } from './commands/chat/chat.ts'
import { createConnectCommand } from './commands/connect/connect.ts'
import { createConsoleCommand } from './commands/console/console.ts'
import { createCtlCommand } from './commands/ctl/ctl.ts'
import { createDoctorCommand } from './commands/doctor/doctor.ts'
import { createHookCommand } from './commands/hook/hook.ts'
import { createInitCommand } from './commands/init/init.ts'
import { createMcpCommand } from './commands/mcp/mcp.ts'
import { createMigrateCommand } from './commands/migrate/migrate.ts'
import { createPasskeysCommand } from './commands/passkeys/passkeys.ts'
import { createPolicyCommand } from './commands/policy/policy.ts'
import { createSchemaCommand } from './commands/print-schema.ts'
import { createServeCommand } from './commands/serve/serve.ts'
import type { StartApp } from './commands/serve/start-app.ts'
import { createSessionsCommand } from './commands/sessions/sessions.ts'
import { createTestCommand } from './commands/test/test-command.ts'
import { createTokensCommand } from './commands/tokens/tokens.ts'
import { createValidateCommand } from './commands/validate.ts'
import type { Io, Settle } from './terminal/io.ts'
import { styleFor } from './terminal/style.ts'

/** The whole command line. A test compares it with `docs/cli.md`. */
export function createProgram(version: string, startApp: StartApp, io: Io, settle: Settle): Command {
  const program = new Command('quarterdeck')
    .description('Serves an AI agent that a YAML file describes, over AG-UI and HTTP, and stores every conversation.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText(
      'after',
      `
Examples:
  $ quarterdeck serve                   serve agent.yaml of this folder, or the built-in demo agent
  $ quarterdeck init helper             make a new project
  $ quarterdeck chat agent.yaml         talk to an agent here in the terminal

For more: quarterdeck <command> --help`,
    )
    // A command reads what stands behind its name: `connect` and `connect slack` both have a --user.
    .enablePositionalOptions()
    .showHelpAfterError('Add --help to see what you can write.')
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
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

  const commands = [
    createServeCommand(version, startApp, io, settle),
    createChatCommand(startApp, io, settle),
    createInitCommand(version, io, settle),
    createValidateCommand(version, io, settle),
    createTestCommand(version, io, settle),
    createDoctorCommand(io, settle),
    createSchemaCommand(io, settle),
    createSessionsCommand(io, settle),
    createAuditCommand(io, settle),
    createMigrateCommand(io, settle),
    createMcpCommand(io, settle),
    createTokensCommand(io, settle),
    createConsoleCommand(io, settle),
    createPasskeysCommand(io, settle),
    createPolicyCommand(io, settle),
    createCtlCommand(io, settle),
    createConnectCommand(io, settle),
    createHookCommand(io, settle),
  ]
  for (const command of commands) {
    inherit(command, program)
    program.addCommand(command)
  }
  return program
}

function inherit(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent)
  for (const child of command.commands) inherit(child, command)
}
