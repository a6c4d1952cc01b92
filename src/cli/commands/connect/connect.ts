import { Argument, Command, InvalidArgumentError } from 'commander'
import { spelled } from '../../../domain/settings/program-words.ts'
import { hostNames, hosts } from '../../../hosts/hosts.ts'
import { type CommandContext, examples } from '../../command.ts'
import type { Io } from '../../terminal/io.ts'
import { createConnectMcpCommand } from './connect-mcp.ts'
import { type ConnectFlags, connectTargets, runConnect } from './run-connect.ts'

const titles = new Intl.ListFormat('en', { type: 'disjunction' }).format(hostNames.map((name) => hosts[name].title))

export function createConnectCommand({ io, settle }: CommandContext): Command {
  return new Command('connect')
    .summary('put a coding agent under supervision, set up Slack, or sign in to an MCP server')
    .description(
      `Sets up ${titles}: the MCP server of Quarterdeck, a token for the agent, and hooks that ask ` +
        'before the agent acts. It changes the config of your user, never files in the workspace. It shows every change first. With ' +
        'print, it prints what to paste into the config of another MCP host. The server must be running; set ' +
        'QUARTERDECK_OPERATOR_TOKEN, or type the operator’s token when asked. connect slack is something else: it prints the Slack app ' +
        'through which agents reach you.',
    )
    .addHelpText(
      'after',
      examples(
        'connect claude',
        'connect claude --workspace ~/shop',
        'connect claude --remove',
        'connect print --http',
        'connect slack',
        'connect mcp crm',
      ),
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
    .action(async (host: (typeof connectTargets)[number], options: ConnectFlags) =>
      settle(await runConnect(host, options, io)),
    )
    .enablePositionalOptions()
    .addCommand(createConnectSlackCommand(io))
    .addCommand(createConnectMcpCommand(io))
}

// Prints what a person needs to connect Slack: the manifest of the app on standard output, the steps on standard error. It changes nothing.

interface SlackFlags {
  channel?: string
  user?: string
  json?: boolean
}

function createConnectSlackCommand(io: Io): Command {
  return new Command('slack')
    .summary('print the Slack app to create, and the steps')
    .description(
      'Prints an app manifest for Slack, and the five steps from there to the first card. It changes nothing and needs no running server.',
    )
    .addHelpText(
      'after',
      examples(
        'connect slack',
        'connect slack --channel C012AB3CD --user U012AB3CD',
        'connect slack --json > manifest.json',
      ),
    )
    .option('--channel <id>', 'the Slack channel that shows what waits, for the printed settings', idOf('C', 'G'))
    .option('--user <id>', 'your member id in Slack, for the printed settings', idOf('U', 'W'))
    .option('--json', 'print the manifest as JSON (default: YAML)')
    .action((options: SlackFlags) => printSlack(options, io))
}

/** Slack's ids begin with a letter that says what they are of, and are easily mixed up. */
const idOf =
  (...letters: string[]) =>
  (value: string): string => {
    if (new RegExp(`^[${letters.join('')}][A-Z0-9]{2,20}$`).test(value)) return value
    throw new InvalidArgumentError(`Such an id begins with ${letters.join(' or ')}, as ${letters[0]}012AB3CD does.`)
  }

async function printSlack({ channel, user, json }: SlackFlags, io: Io): Promise<void> {
  const [{ stringify }, { slackManifest }] = await Promise.all([
    import('yaml'),
    import('../../../operators/slack/app-manifest.ts'),
  ])
  const manifest = slackManifest()
  io.stdout.write(json ? `${JSON.stringify(manifest, null, 2)}\n` : stringify(manifest))
  io.stderr.write(spelled(stepsFor(channel ?? 'C012AB3CD', user ?? 'U012AB3CD'), io.program()))
}

const stepsFor = (channel: string, user: string): string => `
This is the manifest of your Slack app. From here it takes five minutes:

1. Create the app. Open https://api.slack.com/apps?new_app=1, choose “From a manifest” and your workspace, put this
   manifest in place of the example, and press Next and Create.

2. Make the app token. On the page Basic Information, under App-Level Tokens, press “Generate Token and Scopes”. Give it
   any name and the scope connections:write, press Generate, and copy the token that begins with xapp-. Then, on the
   machine of the server:

     quarterdeck ctl credential set slack_app_token

3. Install the app. On the page Install App, press the Install button and Allow. Copy the Bot User OAuth Token, which
   begins with xoxb-:

     quarterdeck ctl credential set slack_bot_token

   A server without a keychain reads SLACK_APP_TOKEN and SLACK_BOT_TOKEN from its environment.

4. Let the bot in. In Slack, open the channel where agents should ask you, and write:

     /invite @quarterdeck

   The id of the channel is at the bottom of its details (click its name). Your own id is in your profile, under the
   three dots: “Copy member ID”.

5. Add this to quarterdeck.yaml. If it has operators already, give yours the line slack:

     slack:
       channel_id: ${channel}
     operators:
       - name: local_user
         slack: ${user}

   Then check everything, and start the server again:

     quarterdeck doctor

Write “/quarterdeck help” in the channel to see what you can do there.
`
