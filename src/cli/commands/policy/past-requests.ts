// The requests of the past, from a store: approvals, and what a policy let through by itself. Each page is a read of its own, so that the
// log of a running server's database does not grow meanwhile.

import { risks } from '../../../domain/agent/tool-settings.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { isWithin } from '../../../domain/is-within.ts'
import type { Approval, ApprovalStatus } from '../../../domain/records/record.ts'
import type { AuditReads } from '../../../store/ports/audit.ts'
import type { WaitQuery } from '../../../store/ports/waits.ts'
import type { ReadOnlyStore } from '../../../store/store-reads.ts'
import type { PastRequest, PastRequests } from '../../../supervision/workspace-policy/replay-policy.ts'
import { requestOfCall } from '../../../supervision/workspace-policy/request-of-call.ts'
import { auditPages } from '../audit/verify.ts'

const PAGE = 200

export interface PastRequestsQuery {
  /** Epoch ms. */
  since: number
  /** Only of agents that work here. */
  workspace?: string
}

export async function* pastRequests(stored: Pick<ReadOnlyStore, 'read'>, query: PastRequestsQuery): PastRequests {
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
  let before: WaitQuery['before']
  for (;;) {
    const query: WaitQuery = { wait: 'approval', limit: PAGE, ...(before === undefined ? {} : { before }) }
    const page = await stored.read((store) => store.waits.list(query))
    for (const wait of page) {
      if (wait.createdAt < since) return
      // A question of a tool asks for no permission.
      if (wait.wait === 'approval' && wait.kind !== 'question') yield wait
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    before = { createdAt: last.createdAt, id: last.id }
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
  const request = requestOfCall(toolName, parsed(approval.arguments), riskLevel, root)
  if (request === null) return { ...base, filePath: null, command: null, isClear: false }
  return { ...base, ...request, filePath: relativeTo(root, request.filePath), isClear: true }
}

/** Hosts name files by absolute paths. Nobody can say any more where a link led then, so the path counts as written. */
function relativeTo(root: string | null, path: string | null): string | null {
  if (path === null || root === null || !path.startsWith('/') || !isWithin(path, root)) return path
  return path.slice(root.length).replace(/^\/+/, '')
}

async function* autoApprovedSince(stored: Pick<ReadOnlyStore, 'read'>, since: number): AsyncGenerator<PastRequest> {
  const trail: Pick<AuditReads, 'chains' | 'entries'> = {
    chains: () => stored.read((store) => store.audit.chains()),
    entries: (n, limit, chain) => stored.read((store) => store.audit.entries(n, limit, chain)),
  }
  for (const chain of await trail.chains()) {
    for await (const page of auditPages(trail, chain)) {
      for (const { text } of page) {
        // Most entries are about something else.
        const request = text.includes('"auto_approved"') ? requestOfRecord(parsed(text)) : null
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
