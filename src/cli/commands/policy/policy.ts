import { Command } from 'commander'
import { type ExplainedLine, explainPolicy } from '../../../supervision/workspace-policy/explain-policy.ts'
import { protectedByPath } from '../../../supervision/workspace-policy/judge-request.ts'
import { type CheckFlags, type CommandContext, examples } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'
import { writeDraft } from './draft.ts'
import { readAllowlist, readPolicyArgument, tellProblems } from './read-policy-argument.ts'
import { type PastFlags, tryPolicy } from './try.ts'

const CONFIG = 'the settings file with the allowed commands (default: quarterdeck.yaml in this folder)'

export function createPolicyCommand({ io, settle }: CommandContext): Command {
  const command = new Command('policy')
    .summary('draft, explain and try the policy file of a workspace')
    .description(
      'A policy file (.quarterdeck/policy.json or .monocoque/settings.json in a workspace) says what a coding agent may do there without ' +
        'asking. It counts only after an operator has accepted it.',
    )
    .addHelpText(
      'after',
      examples(
        'policy check .quarterdeck/policy.json',
        'policy try .quarterdeck/policy.json --since 7d',
        'policy try draft.json --since 24h --json',
        'policy draft --workspace /srv/shop --since 7d > draft.json',
      ),
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
    .action(async (file: string, options: PastFlags) => settle(await tryPolicy(file, options, io)))

  command
    .command('draft')
    .description(
      'Prints a policy from what people allowed three times and never refused, and on stderr what speaks for each line.',
    )
    .option('--since <age>', 'how far to look back: 24h, 7d', '7d')
    .option('--workspace <folder>', 'the workspace (default: this folder)')
    .option('--config <file>', CONFIG)
    .option('--data-dir <folder>', 'the data directory (default: .quarterdeck here, env: QUARTERDECK_DATA_DIR)')
    .option('--json', 'all of it as one JSON object')
    .action(async (options: PastFlags) => settle(await writeDraft(options, io)))
  return command
}

function checkPolicy(file: string, { config, json }: CheckFlags, io: Io): number {
  const read = readPolicyArgument(file, io)
  const allowlist = readAllowlist(config, io)
  const lines =
    read.policy === null
      ? []
      : explainPolicy(read.policy, read.settings, { allowlist, protectedBecause: protectedByPath })
  const ok = read.policy !== null
  if (json) {
    io.stdout.write(`${JSON.stringify({ ok, lines, problems: read.problems })}\n`)
    return ok ? exitCodes.ok.code : exitCodes.failed.code
  }
  tellProblems(file, read, io)
  if (read.policy === null) return exitCodes.failed.code
  for (const line of lines) io.stdout.write(lineText(line, io))
  const always = 'Everything else needs an approval, and always: critical risk, protected paths, other commands.'
  io.stdout.write(`${lines.length === 0 ? 'The file says nothing, so every request needs an approval.' : always}\n`)
  return exitCodes.ok.code
}

const MAX_WIDTH = 1_000

function lineText({ line, path, means, note }: ExplainedLine, io: Io): string {
  const style = styleFor(io.stdout, io.env)
  const first = `${`line ${line}`.padEnd(9)}${style.dim(path)}  ${terminalLine(means, MAX_WIDTH)}\n`
  return note === null ? first : `${first}${' '.repeat(9)}${style.yellow('note:')} ${terminalLine(note, MAX_WIDTH)}\n`
}
