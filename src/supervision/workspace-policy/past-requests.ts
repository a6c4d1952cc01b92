// The requests of the past, from a store: approvals, and what a policy let through by itself, newest first.

import { risks } from '../../domain/agent/tool-settings.ts'
import { isRecord } from '../../domain/is-record.ts'
import { isWithin } from '../../domain/is-within.ts'
import { jsonIn } from '../../domain/json-in.ts'
import { present } from '../../domain/present.ts'
import type { Approval, ApprovalStatus } from '../../domain/records/record.ts'
import type { Store } from '../../store/store.ts'
import type { PastRequest } from './judge-request.ts'
import { requestOfCall } from './request-of-call.ts'

/** Each page is a read of its own, so that the log of a running server's database does not grow meanwhile. */
export interface PastReads {
  sessions: Pick<Store['sessions'], 'get'>
  waits: Pick<Store['waits'], 'list'>
  audit: Pick<Store['audit'], 'newest'>
}

interface PastQuery {
  /** Epoch ms. */
  since: number
  /** Only of agents that work here. */
  workspace: string | undefined
}

const PAGE = 200
const TRAIL_PAGE = 500
/** Entries are in the order of their commits. Their times come from clocks that differ and may have been set back. */
const SLACK_MS = 24 * 3_600_000

export async function* pastRequests(reads: PastReads, query: PastQuery): AsyncGenerator<PastRequest> {
  const roots = createRootReader(reads)
  const isWanted = async (session: string | null): Promise<boolean> =>
    query.workspace === undefined || (session !== null && (await roots(session)) === query.workspace)
  for await (const approval of approvalsSince(reads, query.since)) {
    if (approval.kind === 'policy' || !(await isWanted(approval.sessionId))) continue
    yield requestOfApproval(approval, await roots(approval.sessionId))
  }
  for await (const request of autoApprovedSince(reads, query.since)) {
    if (await isWanted(request.session)) yield request
  }
}

/** The workspace of a session; null for an agent of our own. */
function createRootReader({ sessions }: PastReads): (session: string) => Promise<string | null> {
  const known = new Map<string, string | null>()
  return async (session) => {
    const found = known.get(session)
    if (found !== undefined) return found
    const root = (await sessions.get(session))?.supervision?.workspaceRoot ?? null
    known.set(session, root)
    return root
  }
}

async function* approvalsSince({ waits }: PastReads, since: number): AsyncGenerator<Approval> {
  for (let before: Approval | undefined; ; ) {
    const page = await waits.list({ wait: 'approval', limit: PAGE, ...present({ before }) })
    for (const wait of page) {
      if (wait.wait !== 'approval') continue
      if (wait.createdAt < since) return
      // A question of a tool asks for no permission.
      if (wait.kind !== 'question') yield wait
      before = wait
    }
    if (page.length < PAGE) return
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

async function* autoApprovedSince({ audit }: PastReads, since: number): AsyncGenerator<PastRequest> {
  for (let place: number | null = null; ; ) {
    const page = await audit.newest(place, TRAIL_PAGE)
    for (const { text } of page) {
      // Most entries are about something else.
      const request = text.includes('"auto_approved"') ? requestOfRecord(jsonIn(text)) : null
      if (request !== null && request.at >= since) yield request
    }
    const last = page.at(-1)
    const record = last === undefined ? null : jsonIn(last.text)
    const isOld = isRecord(record) && typeof record.at === 'number' && record.at < since - SLACK_MS
    if (last === undefined || page.length < TRAIL_PAGE || isOld) return
    place = last.place ?? last.n
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
    earnedRisk: riskLevel,
    isClear: true,
    outcome: 'auto_approved',
    by: null,
  }
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
