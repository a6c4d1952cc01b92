import type { Approval } from '../../domain/records/record.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { Caller, Decision } from '../../domain/supervision/decision.ts'
import type { Grant } from '../../domain/supervision/grant.ts'
import type { WaitQuery } from '../../store/ports/waits.ts'
import type { Edit, EditCheck } from './check-edit.ts'

/** The approvals that people are asked for, and the grants that they gave. For doors and operators. */
export interface Approvals {
  /** Newest first. A user sees those of their own sessions, an operator sees all. */
  list(query: ApprovalQuery): Promise<Approval[]>
  /** Throws `approval_not_found`, also for a user who does not own its session. */
  get(by: Caller, id: string): Promise<Approval>
  /**
   * Decides from outside the conversation. The continuation runs by itself. Throws `approval_not_found`, `forbidden` (and leaves
   * it pending), `approval_expired`, `approval_decided` with who decided what and when, `approval_changed` with the approval that
   * replaced it, `tool_unavailable`, or `invalid_request` for edited arguments that the tool does not accept. `run` is null for what an
   * agent elsewhere asked: the agent waits for it, and no run of ours. It is also null for a yes that needs more of them: the approval
   * is still pending then, and `conflict` refuses the same person's second yes.
   */
  decide(
    by: Caller,
    id: string,
    decision: Decision,
    correlationId?: string,
  ): Promise<{ approval: Approval; run: RunRecord | null }>
  /**
   * Says what would come of an edit, and decides nothing. Throws `approval_not_found`, `forbidden`, and for an approval that nobody can
   * edit any more what `decide` throws.
   */
  check(by: Caller, id: string, edit: Edit): Promise<EditCheck>
  grants(query?: { agent?: string | undefined; sessionId?: string | undefined }): Promise<Grant[]>
  /** Throws `grant_not_found`, and `forbidden` for the agents of somebody else. */
  revokeGrant(by: Caller, id: string): Promise<void>
  /**
   * Compares pending approvals and grants with the tools as they are now: it asks again, or ends the grant, where something has
   * changed. Called after a start. It may have to wait for MCP servers, and never throws.
   */
  review(): Promise<void>
  close(): Promise<void>
}

interface ApprovalQuery extends Pick<WaitQuery, 'status' | 'sessionId' | 'limit' | 'before'> {
  by: Caller
}
