import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { secondsOf } from '../../../config/source/duration.ts'
import { isoTime } from '../../../domain/clock.ts'
import { ulidOf } from '../../../domain/ids.ts'
import type { ReadOnlyStore } from '../../../store/store-reads.ts'
import { protectedByPath } from '../../../supervision/workspace-policy/judge-request.ts'
import { type ReplayedRequest, replayPolicy } from '../../../supervision/workspace-policy/replay-policy.ts'
import { usageError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { localMinute, localZone } from '../../terminal/local-time.ts'
import { styleFor } from '../../terminal/style.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'
import { textTable } from '../../terminal/text-table.ts'
import { type PastRequestsQuery, pastRequests } from './past-requests.ts'
import { problemLines, readAllowlist, readPolicyArgument } from './read-policy-argument.ts'

interface TryOptions {
  since: string
  workspace?: string
  config?: string
  json?: boolean
}

type WithStored = (work: (stored: Pick<ReadOnlyStore, 'read'>) => Promise<number>) => Promise<number>

const MAX_REQUESTS = 100_000
const MAX_NAMED = 10

/** Replays the requests of the past against a policy file. */
export async function tryPolicy(file: string, options: TryOptions, io: Io, withStored: WithStored): Promise<number> {
  const read = readPolicyArgument(file, io)
  if (read.policy === null) {
    for (const line of problemLines(file, read)) io.stderr.write(`${terminalLine(line, 1_000)}\n`)
    io.stderr.write('\nA file with a problem allows nothing.\n')
    return exitCodes.failed.code
  }
  const { policy } = read
  const query = { since: sinceOf(options.since, io.clock.now()), ...workspaceOf(options.workspace, io) }
  const allowlist = readAllowlist(options.config, io)
  const replayed = async (stored: Pick<ReadOnlyStore, 'read'>): Promise<number> => {
    const found: ReplayedRequest[] = []
    const limits = { allowlist: allowlist ?? [], protectedBecause: protectedByPath }
    for await (const one of replayPolicy(policy, pastRequests(stored, query), limits)) {
      found.push(one)
      if (found.length === MAX_REQUESTS) break
    }
    found.sort((a, b) => a.request.at - b.request.at)
    if (options.json) for (const one of found) io.stdout.write(`${JSON.stringify(summary(one))}\n`)
    else report(found, query, io)
    if (found.length === MAX_REQUESTS) io.stderr.write(`Only ${MAX_REQUESTS} requests were looked at.\n`)
    if (allowlist === null && found.some(({ request }) => request.command !== null)) {
      io.stderr.write(
        'This folder has no quarterdeck.yaml, so no command counts as allowed. Name it: --config <file>\n',
      )
    }
    return exitCodes.ok.code
  }
  return withStored(replayed)
}

function sinceOf(age: string, now: number): number {
  const seconds = secondsOf(age)
  if (Number.isNaN(seconds) || seconds <= 0) {
    throw usageError(`--since ${JSON.stringify(age)} is not an age.`, ['Write 24h or 7d, for example.'])
  }
  return now - seconds * 1000
}

/** Sessions keep the real path of their workspace. */
function workspaceOf(folder: string | undefined, io: Io): Pick<PastRequestsQuery, 'workspace'> {
  if (folder === undefined) return {}
  const path = resolve(io.cwd, folder)
  try {
    return { workspace: realpathSync(path) }
  } catch {
    // A workspace that is gone still has a past.
    return { workspace: path }
  }
}

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

function report(found: readonly ReplayedRequest[], { since }: PastRequestsQuery, io: Io): void {
  const count = (verdict: ReplayedRequest['verdict']): number => found.filter((one) => one.verdict === verdict).length
  if (found.length > 0) io.stdout.write(`${table(found)}\n`)
  io.stdout.write(
    `${requests(found.length)} since ${localMinute(since)} (${localZone()}): ${count('allowed')} allowed, ` +
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

const requests = (count: number): string => (count === 1 ? '1 request' : `${count} requests`)
