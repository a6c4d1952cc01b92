import { resolve } from 'node:path'
import { createDraftFromHistory, type PolicyDraft } from '../../../supervision/workspace-policy/draft-policy.ts'
import { protectedByPath } from '../../../supervision/workspace-policy/judge-request.ts'
import { timeAgo } from '../../command.ts'
import { dataDirectory, withStoredData } from '../../data-directory.ts'
import { exitCodes } from '../../exit-codes.ts'
import { realOrSame } from '../../program-name.ts'
import type { Io } from '../../terminal/io.ts'
import { counted, terminalLine } from '../../terminal/terminal-text.ts'
import { readAllowlist } from './read-policy-argument.ts'
import { MAX_REQUESTS, NO_SETTINGS, type PastFlags, pastIn } from './try.ts'

const MAX_WIDTH = 300

/** The policy is all that stdout gets, so that it can be a file. What is said about it goes to stderr. */
export async function writeDraft(options: PastFlags, io: Io): Promise<number> {
  const since = timeAgo('--since', options.since, 'Write 24h or 7d, for example.', io.clock.now())
  const workspace = realOrSame(resolve(io.cwd, options.workspace ?? '.'))
  const allowlist = readAllowlist(options.config, io)
  const limits = { allowlist: allowlist ?? [], protectedBecause: protectedByPath }
  return await withStoredData(dataDirectory(options.dataDir, io), io, async (stored) => {
    const deps = { reads: pastIn(stored), limits, most: MAX_REQUESTS, pause: async () => {} }
    const { base, ...draft } = await createDraftFromHistory(deps)(workspace, since)
    if (!options.json) {
      if (allowlist === null) io.stderr.write(NO_SETTINGS)
      for (const line of explained(draft)) {
        const indent = line.startsWith('  ') ? '  ' : ''
        io.stderr.write(`${indent}${terminalLine(line, MAX_WIDTH)}\n`)
      }
    }
    io.stdout.write(options.json ? `${JSON.stringify({ workspace, base_sha256: base, ...draft })}\n` : draft.text)
    return exitCodes.ok.code
  })
}

const lineText = ({ what, why, allowed, refused, by }: PolicyDraft['lines'][number]): string =>
  `  ${what} — allowed ${counted(allowed, 'time')}, refused ${refused}${by.length === 0 ? '' : `, by ${by.join(', ')}`}. ${why}`

const explained = ({ lines, open, more, commands, replay }: Omit<PolicyDraft, 'base'>): string[] => [
  lines.length === 0 ? 'Nothing was allowed often enough for a line: the draft allows nothing.' : 'The draft allows:',
  ...lines.map(lineText),
  `Of ${counted(replay.requests, 'request')}${replay.cut ? ' (there were older ones)' : ''}, people were asked about ${replay.asked}. With this policy it would have been ${replay.left}.`,
  ...(open.length === 0 ? [] : ['', 'It leaves open:']),
  ...open.map(lineText),
  ...(more === 0 ? [] : [`  and ${more} more`]),
  ...(commands.length === 0 ? [] : ['', TO_SETTINGS, 'commands:', ...commands]),
  '',
  'It counts after an operator has accepted it: save it as .quarterdeck/policy.json in the workspace and approve it in the inbox, or draft it in the console.',
  '',
]

const TO_SETTINGS =
  'A policy covers only commands that quarterdeck.yaml lists. To have these covered, add them there, restart the server, and draft again:'
