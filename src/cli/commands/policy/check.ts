import { type ExplainedLine, explainPolicy } from '../../../supervision/workspace-policy/explain-policy.ts'
import { protectedByPath } from '../../../supervision/workspace-policy/judge-request.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'
import { problemLines, readAllowlist, readPolicyArgument } from './read-policy-argument.ts'

/** Says line by line what a policy file allows. */
export function checkPolicy(file: string, { config, json }: { config?: string; json?: boolean }, io: Io): number {
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
  for (const line of problemLines(file, read)) io.stderr.write(`${terminalLine(line, MAX_WIDTH)}\n`)
  if (read.policy === null) {
    io.stderr.write('\nA file with a problem allows nothing.\n')
    return exitCodes.failed.code
  }
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
