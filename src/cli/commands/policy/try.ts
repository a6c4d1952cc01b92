import { resolve } from 'node:path'
import { isoTime } from '../../../domain/clock.ts'
import { ulidOf } from '../../../domain/ids.ts'
import type { ReadOnlyStore } from '../../../store/store.ts'
import type { DraftDeps } from '../../../supervision/workspace-policy/draft-policy.ts'
import { protectedByPath } from '../../../supervision/workspace-policy/judge-request.ts'
import { judgePast, type PastRequest, pastRequests } from '../../../supervision/workspace-policy/past-requests.ts'
import { timeAgo } from '../../command.ts'
import { dataDirectory, withStoredData } from '../../data-directory.ts'
import { exitCodes } from '../../exit-codes.ts'
import { realOrSame } from '../../program-name.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import { counted, localMinute, localZone, terminalLine, textTable } from '../../terminal/terminal-text.ts'
import { readAllowlist, readPolicyArgument, tellProblems } from './read-policy-argument.ts'

/** Of a command that looks at the past. */
export interface PastFlags {
  since: string
  dataDir?: string
  workspace?: string
  config?: string
  json?: boolean
}

/** `refused`: no policy may let it through, so a person is asked whatever the file says. */
interface ReplayedRequest {
  request: PastRequest
  verdict: 'allowed' | 'asked' | 'refused'
  rule: string | null
  why: string
}

export const MAX_REQUESTS = 100_000
const MAX_NAMED = 10

export async function tryPolicy(file: string, options: PastFlags, io: Io): Promise<number> {
  const read = readPolicyArgument(file, io)
  if (read.policy === null) {
    tellProblems(file, read, io)
    return exitCodes.failed.code
  }
  const { policy } = read
  const since = timeAgo('--since', options.since, 'Write 24h or 7d, for example.', io.clock.now())
  const query = { since, workspace: workspaceOf(options.workspace, io) }
  const allowlist = readAllowlist(options.config, io)
  return await withStoredData(dataDirectory(options.dataDir, io), io, async (stored) => {
    const found: ReplayedRequest[] = []
    const limits = { allowlist: allowlist ?? [], protectedBecause: protectedByPath }
    for await (const request of pastRequests(pastIn(stored), query)) {
      const { autoApproved, personOnly, matchedRule: rule, why } = judgePast(policy, request, limits)
      found.push({ request, verdict: autoApproved ? 'allowed' : personOnly ? 'refused' : 'asked', rule, why })
      if (found.length === MAX_REQUESTS) break
    }
    found.sort((a, b) => a.request.at - b.request.at)
    if (options.json) for (const one of found) io.stdout.write(`${JSON.stringify(summary(one))}\n`)
    else report(found, since, io)
    if (found.length === MAX_REQUESTS) io.stderr.write(`Only ${MAX_REQUESTS} requests were looked at.\n`)
    if (allowlist === null && found.some(({ request }) => request.command !== null)) io.stderr.write(NO_SETTINGS)
    return exitCodes.ok.code
  })
}

export const NO_SETTINGS =
  'This folder has no quarterdeck.yaml, so no command counts as allowed. Name it: --config <file>\n'

export const pastIn = ({ read }: Pick<ReadOnlyStore, 'read'>): DraftDeps['reads'] => ({
  sessions: { get: (id) => read((store) => store.sessions.get(id)) },
  waits: { list: (query) => read((store) => store.waits.list(query)) },
  audit: { newest: (n, limit) => read((store) => store.audit.newest(n, limit)) },
  supervised: { pin: (root) => read((store) => store.supervised.pin(root)) },
})

/** Sessions keep the real path of their workspace. */
const workspaceOf = (folder: string | undefined, io: Io): string | undefined =>
  // A workspace that is gone still has a past.
  folder === undefined ? undefined : realOrSame(resolve(io.cwd, folder))

const summary = ({ request, verdict, rule, why }: ReplayedRequest) => ({
  at: isoTime(request.at),
  session_id: request.session,
  tool_name: request.toolName,
  file_path: request.filePath,
  command: request.command,
  risk_level: request.riskLevel,
  outcome: request.outcome,
  verdict,
  matched_rule: rule,
  why,
})

function report(found: readonly ReplayedRequest[], since: number, io: Io): void {
  const count = (verdict: ReplayedRequest['verdict']): number => found.filter((one) => one.verdict === verdict).length
  if (found.length > 0) io.stdout.write(`${table(found)}\n`)
  io.stdout.write(
    `${counted(found.length, 'request')} since ${localMinute(since)} (${localZone()}): ${count('allowed')} allowed, ` +
      `${count('asked')} asked, ${count('refused')} refused.\n`,
  )
  if (count('refused') > 0) io.stdout.write('Refused means that no policy may allow it: a person is always asked.\n')
  const surprising = found.filter(({ verdict, request }) => verdict === 'allowed' && request.outcome === 'rejected')
  if (surprising.length === 0) return
  const style = styleFor(io.stdout, io.env)
  io.stdout.write(`\n${style.yellow('Look at these:')} a person said no, and the policy would have let them pass.\n`)
  for (const { request, rule } of surprising.slice(-MAX_NAMED)) {
    const { at, session, toolName, filePath, command } = request
    const what = terminalLine([toolName, command ?? filePath ?? ''].join(' '), 100)
    io.stdout.write(
      `  ${localMinute(at)}  ${session === null ? '' : ulidOf(session)}  ${what}  (${terminalLine(rule ?? '', 80)})\n`,
    )
  }
  if (surprising.length > MAX_NAMED)
    io.stdout.write(`  ${surprising.length - MAX_NAMED} older ones are not shown. --json has all.\n`)
}

/** One line for all requests that the same rule or reason decides, most frequent first. */
function table(found: readonly ReplayedRequest[]): string {
  const groups = new Map<string, { one: ReplayedRequest; count: number }>()
  for (const one of found) {
    const key = JSON.stringify([one.verdict, one.request.toolName, one.rule ?? one.why])
    const group = groups.get(key) ?? { one, count: 0 }
    group.count += 1
    groups.set(key, group)
  }
  const sorted = [...groups.values()].sort((a, b) => b.count - a.count)
  return textTable(
    ['REQUESTS', 'VERDICT', 'TOOL', 'RULE OR REASON'],
    sorted
      .slice(0, MAX_ROWS)
      .map(({ one, count }) => [
        String(count),
        one.verdict,
        terminalLine(one.request.toolName, 40),
        terminalLine(one.rule ?? one.why, 120),
      ]),
  )
}

const MAX_ROWS = 200
