import { Command } from 'commander'
import { dataDirectory, withStoredData } from '../../data-directory.ts'
import type { Io, Settle } from '../../terminal/io.ts'
import { checkPolicy } from './check.ts'
import { tryPolicy } from './try.ts'

interface CheckFlags {
  config?: string
  json?: boolean
}

interface TryFlags extends CheckFlags {
  since: string
  workspace?: string
  dataDir?: string
}

const CONFIG = 'the settings file with the allowed commands (default: quarterdeck.yaml in this folder)'

export function createPolicyCommand(io: Io, settle: Settle): Command {
  const command = new Command('policy-file')
    .summary('explain and try the policy file of a workspace')
    .description(
      'A policy file (.quarterdeck/policy.json or .monocoque/settings.json in a workspace) says what a coding agent may do there without ' +
        'asking. It counts only after an operator has accepted it.',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ quarterdeck policy-file check .quarterdeck/policy.json
  $ quarterdeck policy-file try .quarterdeck/policy.json --since 7d
  $ quarterdeck policy-file try draft.json --since 24h --json`,
    )

  command
    .command('check')
    .description(
      'Says line by line what a policy file allows and what it cannot allow. Ends with 1 if the file is broken.',
    )
    .argument('<file>', 'the policy file')
    .option('--config <file>', CONFIG)
    .option('--json', 'the result as one JSON object')
    .action((file: string, options: CheckFlags) => settle(checkPolicy(file, options, io)))

  command
    .command('try')
    .description(
      'Replays the requests of the past against a policy file and says which would have passed. Changes nothing. Works on a data directory, ' +
        'also while a server uses it. Ends with 1 if the file is broken.',
    )
    .argument('<file>', 'the policy file; it may lie anywhere')
    .option('--since <age>', 'how far to look back: 24h, 7d', '7d')
    .option('--workspace <folder>', 'only requests of agents in this workspace (default: all requests)')
    .option('--config <file>', CONFIG)
    .option('--data-dir <folder>', 'the data directory (default: .quarterdeck here, env: QUARTERDECK_DATA_DIR)')
    .option('--json', 'one JSON object per request')
    .action(async (file: string, { dataDir, ...options }: TryFlags) =>
      settle(
        await tryPolicy(file, options, io, (work) =>
          withStoredData(dataDirectory(dataDir, io), io, (stored) => work(stored)),
        ),
      ),
    )
  return command
}
