import { resolve } from 'node:path'
import { protectedByPath } from '../../../supervision/workspace-policy/judge-request.ts'
import { createDraftFromHistory, type ReplayedDraft } from '../../../supervision/workspace-policy/policy-drafts.ts'
import { timeAgo } from '../../command.ts'
import { dataDirectory, withStoredData } from '../../data-directory.ts'
import { exitCodes } from '../../exit-codes.ts'
import { realOrSame } from '../../program-name.ts'
import type { Io } from '../../terminal/io.ts'
import { counted, terminalLine } from '../../terminal/terminal-text.ts'
import { write, writeNewFile } from '../sessions/export.ts'
import { readAllowlist } from './read-policy-argument.ts'
import { pastIn } from './try.ts'

export interface DraftFlags {
  since: string
  workspace?: string
  output?: string
  dataDir?: string
  config?: string
  json?: boolean
}

const MAX_REQUESTS = 100_000
const MAX_WIDTH = 300

/** The policy is all that stdout and `--output` get, so that it can be a file. What is said about it goes to stderr. */
export async function writeDraft(options: DraftFlags, io: Io): Promise<number> {
  const since = timeAgo('--since', options.since, 'Write 24h or 7d, for example.', io.clock.now())
  const root = realOrSame(resolve(io.cwd, options.workspace ?? '.'))
  const allowlist = readAllowlist(options.config, io)
  return await withStoredData(dataDirectory(options.dataDir, io), io, async (stored) => {
    const supervised = { pin: (path: string) => stored.read((store) => store.supervised.pin(path)) }
    const draftPolicy = createDraftFromHistory({
      reads: { ...pastIn(stored), supervised },
      limits: { allowlist: allowlist ?? [], protectedBecause: protectedByPath },
      most: MAX_REQUESTS,
      pause: async () => {},
    })
    const draft = await draftPolicy(root, since)
    const { policy: _, ...shown } = draft
    const { text } = shown
    const { output } = options
    if (output !== undefined) await writeNewFile(resolve(io.cwd, output), output, io, (file) => write(file, text))
    if (options.json) io.stdout.write(`${JSON.stringify({ workspace: root, ...shown })}\n`)
    else {
      for (const line of explained(draft)) {
        const indent = line.startsWith('  ') ? '  ' : ''
        io.stderr.write(`${indent}${terminalLine(line, MAX_WIDTH)}\n`)
      }
      if (output === undefined) io.stdout.write(text)
    }
    return exitCodes.ok.code
  })
}

const decided = ({ allowed, refused, by }: Pick<ReplayedDraft['open'][number], 'allowed' | 'refused' | 'by'>): string =>
  `allowed ${counted(allowed, 'time')}, refused ${refused}${by.length === 0 ? '' : `, by ${by.join(', ')}`}`

function explained({ lines, open, more, commands, replay: { requests, asked, left, cut } }: ReplayedDraft): string[] {
  return [
    lines.length === 0 ? 'Nothing was allowed often enough for a line: the draft allows nothing.' : 'The draft allows:',
    ...lines.map((line) => {
      const others = line.examples.filter((one) => !line.rule.endsWith(`:${one}`))
      const example = others.length === 0 ? '' : `; e.g. ${others.join(', ')}`
      return `  ${line.rule}${line.kept ? ' (as before)' : ''} — ${decided(line)}${example}`
    }),
    `People would have been asked ${left} instead of ${counted(asked, 'time')}, of ${counted(requests, 'request')}${cut ? ' (there were more)' : ''}.`,
    ...(open.length === 0 ? [] : ['', 'It leaves open:']),
    ...open.map((one) => `  ${one.what} — ${decided(one)}. ${one.why}`),
    ...(more === 0 ? [] : [`  and ${more} more`]),
    ...(commands.length === 0 ? [] : ['', TO_SETTINGS, 'commands:', ...commands]),
    '',
    'It counts after an operator has accepted it: put it into .quarterdeck/policy.json of the workspace, or draft it in the console.',
    '',
  ]
}

const TO_SETTINGS =
  'A policy covers only commands of the server. To have these covered, add to quarterdeck.yaml, restart, and draft again:'
