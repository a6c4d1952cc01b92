import { Argument, Command } from 'commander'
import { hostNames } from '../../../hosts/hosts.ts'
import { type CommandContext, examples } from '../../command.ts'
import { readHookOptions, USUAL_LIMIT_SECONDS } from './main.ts'
import { runHook } from './run-hook.ts'

/** For the help, and for programs that start the command line in their own process. The launcher starts `main.ts` directly. */
export function createHookCommand({ io, settle }: CommandContext): Command {
  return new Command('hook')
    .summary('ask Quarterdeck from a host’s hook')
    .description(
      'Hosts such as Claude Code run this before a tool runs, and when a session starts or ends; quarterdeck connect sets it up. It ' +
        'reads the host’s JSON from standard input, asks the server, and prints the answer in the host’s own words. If the server ' +
        'cannot be asked, the call is refused.',
    )
    .addHelpText('after', examples('hook claude PreToolUse --limit 3600 < question.json'))
    .addArgument(new Argument('<host>', 'the host that runs it').choices(hostNames))
    .argument('[event]', 'the event that the host runs it for, such as PreToolUse')
    .option('--folders <file>', 'only for agents in the folders that this file lists; others are left alone')
    .option('--limit <seconds>', 'answer within this time', String(USUAL_LIMIT_SECONDS))
    .action(async (host: string, event: string | undefined, { folders, limit }: Record<string, string>) => {
      const args = [host, ...(event === undefined ? [] : [event])]
      const options = readHookOptions([...args, '--limit', String(limit), ...(folders ? ['--folders', folders] : [])])
      const result = await runHook(options, { stdin: io.stdin, env: io.env, cwd: io.cwd, clock: io.clock })
      io.stderr.write(result.stderr)
      io.stdout.write(result.stdout)
      settle(result.exitCode)
    })
}
