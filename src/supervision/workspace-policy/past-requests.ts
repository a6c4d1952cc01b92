// The requests of the past, from a store: approvals, and what a policy let through by itself, newest first.

import { type Risk, risks } from '../../domain/agent/tool-settings.ts'
import { isRecord } from '../../domain/is-record.ts'
import { isWithin } from '../../domain/is-within.ts'
import { jsonIn } from '../../domain/json-in.ts'
import { pageByPage } from '../../domain/page-by-page.ts'
import { present } from '../../domain/present.ts'
import type { AnyRecord, Approval, ApprovalStatus } from '../../domain/records/record.ts'
import type { AuditEntry } from '../../domain/supervision/audit.ts'
import type { Store } from '../../store/store.ts'
import { ask, type Judgement, judgeRequest, type PolicyLimits } from './judge-request.ts'
import { requestOfCall } from './request-of-call.ts'
import type { NamedRequest, WorkspacePolicy } from './workspace-policy.ts'

/** A request of the past, and what became of it. */
export interface PastRequest extends NamedRequest {
  /** Epoch ms. */
  at: number
  session: string | null
  /** False: its arguments do not say clearly which file it touches and which command it runs. */
  isClear: boolean
  /** What it was shown with, earned by what it does; null: nobody has looked at that. */
  earnedRisk: Risk | null
  /** Who decided; null: nobody. */
  by: string | null
  outcome: 'approved' | 'rejected' | 'expired' | 'interrupted' | 'pending' | 'auto_approved'
}

/** Each page is a read of its own, so that the log of a running server's database does not grow meanwhile. */
export interface PastReads {
  sessions: Pick<Store['sessions'], 'get'>
  waits: Pick<Store['waits'], 'list'>
  audit: Pick<Store['audit'], 'newest'>
}

const PAGE = 200
/** Entries are in the order of their commits. Their times come from clocks that differ and may have been set back. */
const SLACK_MS = 24 * 3_600_000

/** Since `since` (epoch ms), of all agents or of those that work in `workspace`. */
export async function* pastRequests(
  { sessions, waits, audit }: PastReads,
  { since, workspace }: { since: number; workspace: string | undefined },
): AsyncGenerator<PastRequest> {
  /** Null: an agent of our own. */
  const roots = new Map<string, string | null>()
  async function rootOf(session: string): Promise<string | null> {
    if (!roots.has(session)) roots.set(session, (await sessions.get(session))?.supervision?.workspaceRoot ?? null)
    return roots.get(session) ?? null
  }

  const asked = pageByPage<AnyRecord>(PAGE, (before) =>
    waits.list({ wait: 'approval', limit: PAGE, ...present({ before }) }),
  )
  for await (const one of asked) {
    if (one.createdAt < since) break
    // A question of a tool asks for no permission, and a policy file for another one.
    if (one.wait !== 'approval' || one.kind === 'question' || one.kind === 'policy') continue
    const root = await rootOf(one.sessionId)
    if (workspace === undefined || root === workspace) yield requestOfApproval(one, root)
  }

  const trail = pageByPage<AuditEntry>(PAGE, (last) => audit.newest(last?.place ?? last?.n ?? null, PAGE))
  for await (const { text } of trail) {
    const record = jsonIn(text)
    if (!isRecord(record) || typeof record.at !== 'number') continue
    if (record.at < since - SLACK_MS) break
    const one = record.at < since ? null : autoApproved(record, record.at)
    if (one === null) continue
    if (workspace === undefined || (one.session !== null && (await rootOf(one.session)) === workspace)) yield one
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
  const { createdAt: at, sessionId: session, tool: toolName, risk, riskWhy, kind, supervised } = approval
  // People see every command of a host as high. The policy judges what is left of the risk if it knows the command.
  const riskLevel = kind === 'permission' && risk === 'high' ? 'low' : risk
  const earnedRisk = riskWhy === undefined ? null : risk
  // What a person changed was not allowed as the agent asked it.
  const isEdited = approval.editedArguments !== null || supervised?.isEdited === true
  const decided = outcomes[approval.status]
  const outcome = isEdited && decided === 'approved' ? 'rejected' : decided
  const base = { at, session, toolName, riskLevel, earnedRisk, outcome, by: approval.decidedBy }
  const path = supervised?.change?.path
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

function autoApproved({ kind, session, tool, details }: Record<string, unknown>, at: number): PastRequest | null {
  if (kind !== 'auto_approved' || typeof tool !== 'string' || !isRecord(details)) return null
  const risk = risks.find((one) => one === details.risk)
  if (risk === undefined) return null
  const [filePath, command] = [textOrNull(details.file_path), textOrNull(details.command)]
  const named = { toolName: tool, filePath, command, riskLevel: risk, earnedRisk: risk, isClear: true }
  return { at, session: textOrNull(session), ...named, outcome: 'auto_approved', by: null }
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** What a policy would have said, by the names of paths alone: where they led then, nobody knows any more. */
export const judgePast = (policy: WorkspacePolicy, request: PastRequest, limits: PolicyLimits): Judgement =>
  request.isClear
    ? judgeRequest(policy, { ...request, guarded: null }, limits)
    : { ...ask('It is not clear which file the call touches or which command it runs.'), personOnly: true }
