import { Command } from 'commander'
import { ServerError } from '../../../domain/errors.ts'
import type { Keychain } from '../../../operators/credentials/keychain.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io, Settle } from '../../terminal/io.ts'

/** The commands of the person who commands agents, at a terminal of this machine. Their parts are loaded when they run. */
export function createCtlCommand(io: Io, settle: Settle, keychain?: Keychain): Command {
  const command = new Command('ctl')
    .summary('command supervised agents from this terminal')
    .description(
      'For the operator at this machine. Decisions ask for the operator’s passphrase, which is typed here: agents run as the same user ' +
        'and could use a token that they find, but they do not know what you type.',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ quarterdeck ctl passphrase
  $ quarterdeck ctl credential set slack_bot_token`,
    )

  command
    .command('passphrase')
    .description('Sets the passphrase for decisions at this machine, or changes it. A change needs the old one.')
    .option('--data-dir <folder>', 'the data directory (default: .quarterdeck here, env: QUARTERDECK_DATA_DIR)')
    .option(
      '--passphrase-fd <number>',
      'read it from this file descriptor, one line each: the old one if there is one, the new one',
    )
    .action(async (options: { dataDir?: string; passphraseFd?: string }) => {
      const { setPassphrase } = await import('./set-passphrase.ts')
      await orFail(setPassphrase(options, io))
      settle(exitCodes.ok.code)
    })

  const credential = command
    .command('credential')
    .summary('keep the secrets of channels in the keychain')
    .description('Keeps the secrets of operator channels in the keychain of the operating system.')
  credential
    .command('set')
    .description('Asks for a credential and keeps it in the keychain, where the server looks before the environment.')
    .argument('<name>', 'slack_app_token, slack_bot_token or slack_team_id')
    .option('--value-fd <number>', 'read it from this file descriptor')
    .action(async (name: string, options: { valueFd?: string }) => {
      const { setCredential } = await import('./set-credential.ts')
      await orFail(setCredential(name, options, io, keychain))
      settle(exitCodes.ok.code)
    })
  return command
}

/** Every failure of these commands has the exit code 1 and one clear line, so that scripts have one thing to look at. */
async function orFail<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ServerError) throw new CliError(exitCodes.failed.code, error.message)
    throw error
  }
}
