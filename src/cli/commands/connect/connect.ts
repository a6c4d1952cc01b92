import { Argument, Command } from 'commander'
import { hostNames, hosts } from '../../../hosts/hosts.ts'
import type { CommandContext } from '../../command.ts'
import { createConnectSlackCommand } from './connect-slack.ts'
import { type ConnectOptions, connectTargets, runConnect } from './run-connect.ts'

const titles = new Intl.ListFormat('en', { type: 'disjunction' }).format(hostNames.map((name) => hosts[name].title))

export function createConnectCommand({ io, settle }: CommandContext): Command {
  return new Command('connect')
    .summary('put a coding agent under supervision, or set up Slack')
    .description(
      `Sets up ${titles}: the MCP server of Quarterdeck, a token for the agent, and hooks that ask ` +
        'before the agent acts. It changes the config of your user, never files in the workspace. It shows every change first. With ' +
        'print, it prints what to paste into the config of another MCP host. The server must be running; set ' +
        'QUARTERDECK_OPERATOR_TOKEN, or type the operator’s token when asked. connect slack is something else: it prints the Slack app ' +
        'through which agents reach you.',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ quarterdeck connect claude
  $ quarterdeck connect claude --workspace ~/shop
  $ quarterdeck connect claude --remove
  $ quarterdeck connect print --http
  $ quarterdeck connect slack`,
    )
    .addArgument(new Argument('<host>', 'the host to set up, or print').choices(connectTargets))
    .option('--workspace <folder>', 'the folder that the agent works in (default: this folder)')
    .option('--all-folders', 'for all folders of this user; the agent’s token is still only for the workspace')
    .option('--owner <name>', 'the operator who answers the agent (default: you); only an admin names somebody else')
    .option('--url <address>', 'the server that supervises (default: the one that runs on this machine)')
    .option(
      '--http',
      'let the host talk to the server itself, not through quarterdeck mcp; its config then holds the token',
    )
    .option('--yes', 'write without asking')
    .option('--remove', 'take everything back, and revoke the token')
    .action(async (host: string, options: ConnectOptions) => settle(await runConnect(host, options, io)))
    .enablePositionalOptions()
    .addCommand(createConnectSlackCommand(io))
}
