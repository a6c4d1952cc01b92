import { resolve } from 'node:path'
import { risks } from '../../../domain/agent/tool-settings.ts'
import { isoTime } from '../../../domain/clock.ts'
import { ulidOf } from '../../../domain/ids.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { isWithin } from '../../../domain/is-within.ts'
import { jsonIn } from '../../../domain/json-in.ts'
import { present } from '../../../domain/present.ts'
import type { AnyRecord, Approval, ApprovalStatus } from '../../../domain/records/record.ts'
import type { ReadOnlyStore } from '../../../store/store.ts'
import {
  type PastRequest,
  type PastRequests,
  protectedByPath,
  type ReplayedRequest,
  replayPolicy,
} from '../../../supervision/workspace-policy/judge-request.ts'
import { requestOfCall } from '../../../supervision/workspace-policy/request-of-call.ts'
import { timeAgo } from '../../command.ts'
import { dataDirectory, pageByPage, withStoredData } from '../../data-directory.ts'
import { exitCodes } from '../../exit-codes.ts'
import { realOrSame } from '../../program-name.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import { counted, localMinute, localZone, terminalLine, textTable } from '../../terminal/terminal-text.ts'
import { auditIn, auditPages } from '../audit/verify.ts'
import { readAllowlist, readPolicyArgument, tellProblems } from './read-policy-argument.ts'

export interface TryFlags {
  since: string
  dataDir?: string
  workspace?: string
  config?: string
  json?: boolean
}

const MAX_REQUESTS = 100_000
const MAX_NAMED = 10

export async function tryPolicy(file: string, options: TryFlags, io: Io): Promise<number> {
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
  })
}

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

function report(found: readonly ReplayedRequest[], { since }: PastRequestsQuery, io: Io): void {
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

// The requests of the past, from a store: approvals, and what a policy let through by itself. Each page is a read of its own, so that the
// log of a running server's database does not grow meanwhile.

const PAGE = 200

interface PastRequestsQuery {
  /** Epoch ms. */
  since: number
  /** Only of agents that work here. */
  workspace: string | undefined
}

async function* pastRequests(stored: Pick<ReadOnlyStore, 'read'>, query: PastRequestsQuery): PastRequests {
  const roots = createRootReader(stored)
  const isWanted = async (session: string | null): Promise<boolean> =>
    query.workspace === undefined || (session !== null && (await roots(session)) === query.workspace)
  for await (const approval of approvalsSince(stored, query.since)) {
    if (approval.kind === 'policy' || !(await isWanted(approval.sessionId))) continue
    yield requestOfApproval(approval, await roots(approval.sessionId))
  }
  for await (const request of autoApprovedSince(stored, query.since)) {
    if (await isWanted(request.session)) yield request
  }
}

/** The workspace of a session; null for an agent of our own. */
function createRootReader(stored: Pick<ReadOnlyStore, 'read'>): (session: string) => Promise<string | null> {
  const known = new Map<string, string | null>()
  return async (session) => {
    const found = known.get(session)
    if (found !== undefined) return found
    const record = await stored.read((store) => store.sessions.get(session))
    const root = record?.supervision?.workspaceRoot ?? null
    known.set(session, root)
    return root
  }
}

/** Newest first. */
async function* approvalsSince(stored: Pick<ReadOnlyStore, 'read'>, since: number): AsyncGenerator<Approval> {
  const waits = pageByPage<AnyRecord>(PAGE, (before) =>
    stored.read((store) => store.waits.list({ wait: 'approval', limit: PAGE, ...present({ before }) })),
  )
  for await (const wait of waits) {
    if (wait.createdAt < since) return
    // A question of a tool asks for no permission.
    if (wait.wait === 'approval' && wait.kind !== 'question') yield wait
  }
}

const outcomes: Record<ApprovalStatus, PastRequest['outcome']> = {
  pending: 'pending',
  approved: 'approved',
  consumed: 'approved',
  rejected: 'rejected',
  // A person answered in the place of the tool, so the call did not run.
  answered: 'rejected',
  expired: 'expired',
  interrupted: 'interrupted',
}

function requestOfApproval(approval: Approval, root: string | null): PastRequest {
  const { createdAt: at, sessionId: session, tool: toolName, risk, kind } = approval
  // People see every command of a host as high. The policy judges what is left of the risk if it knows the command.
  const riskLevel = kind === 'permission' && risk === 'high' ? 'low' : risk
  const base = { at, session, toolName, riskLevel, outcome: outcomes[approval.status] }
  const path = approval.supervised?.change?.path
  if (path !== undefined) return { ...base, filePath: path, command: null, isClear: true }
  const request = requestOfCall(toolName, jsonIn(approval.arguments), riskLevel, root)
  if (request === null) return { ...base, filePath: null, command: null, isClear: false }
  return { ...base, ...request, filePath: relativeTo(root, request.filePath), isClear: true }
}

/** Hosts name files by absolute paths. Nobody can say any more where a link led then, so the path counts as written. */
function relativeTo(root: string | null, path: string | null): string | null {
  if (path === null || root === null || !path.startsWith('/') || !isWithin(path, root)) return path
  return path.slice(root.length).replace(/^\/+/, '')
}

async function* autoApprovedSince(stored: Pick<ReadOnlyStore, 'read'>, since: number): AsyncGenerator<PastRequest> {
  const trail = auditIn(stored)
  for (const chain of await trail.chains()) {
    for await (const page of auditPages(trail, chain)) {
      for (const { text } of page) {
        // Most entries are about something else.
        const request = text.includes('"auto_approved"') ? requestOfRecord(jsonIn(text)) : null
        if (request !== null && request.at >= since) yield request
      }
    }
  }
}

function requestOfRecord(record: unknown): PastRequest | null {
  if (!isRecord(record) || record.kind !== 'auto_approved' || !isRecord(record.details)) return null
  const { at, session, tool, details } = record
  const riskLevel = risks.find((risk) => risk === details.risk)
  if (typeof at !== 'number' || typeof tool !== 'string' || riskLevel === undefined) return null
  return {
    at,
    session: textOrNull(session),
    toolName: tool,
    filePath: textOrNull(details.file_path),
    command: textOrNull(details.command),
    riskLevel,
    isClear: true,
    outcome: 'auto_approved',
  }
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
