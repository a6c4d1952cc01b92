import { Command } from 'commander'
import { ClientError } from '../../../client/client-error.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { failure } from '../../cli-error.ts'
import { type CommandContext, examples } from '../../command.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'
import { type CtlFlags, type CtlServer, runCtl } from '../ctl/ctl-server.ts'

export function createConsoleCommand({ io }: CommandContext): Command {
  return new Command('console')
    .summary('print a link that signs a browser in to the console')
    .description(
      'Asks the running server for a link to the console. It signs in one browser, within five minutes. Like ctl, it talks to the server ' +
        'through a socket that only your user can open, and needs the operator’s token and your passphrase. Once somebody has a passkey, ' +
        'a new device needs one too: then sign in at the console itself, or make a code on a device that is signed in.',
    )
    .option('--user <name>', 'who signs in with the link (default: the user of the token)')
    .option(
      '--data-dir <folder>',
      'the data directory of the server (default: the one that serve uses here, or the only one that runs)',
    )
    .option('--passphrase-fd <number>', 'read the passphrase from this file descriptor')
    .option('--json', 'the server’s answer as JSON')
    .addHelpText('after', examples('console', 'console --user ada'))
    .action(async (options: CtlFlags & { user?: string }) => {
      await runCtl(options, io, async ({ server, say }) => {
        const answer = await makeCode(server, options.user)
        const url = isRecord(answer) && typeof answer.url === 'string' ? answer.url : ''
        say(answer, terminalLine(url, 2_000))
      })
    })
}

async function makeCode(server: CtlServer, user: string | undefined): Promise<unknown> {
  try {
    return await server.post('/devices/codes', user === undefined ? {} : { user })
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== 'passkey_required') throw error
    const url = terminalLine(String(error.problem?.url ?? ''), 2_000)
    throw failure('A new device needs a passkey, and there is none at a terminal.', [
      `Open ${url} and sign in there with the operator’s token and your passkey.`,
      'Or make a code on a device that is signed in: Settings, Devices.',
      'If all passkeys are lost: quarterdeck passkeys --help',
    ])
  }
}
