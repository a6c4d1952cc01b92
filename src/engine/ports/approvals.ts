import type { ArgumentConditions } from '../../domain/approval-rule.ts'
import type { Grant } from '../../domain/grant.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { Approval, ApprovalStatus } from '../../domain/wait.ts'

/** What waits for a person's decision, and the decisions that people made once and for all. */
export interface Approvals {
  /** Newest first. A user sees those of their own sessions, an operator sees all. */
  list(query: ApprovalQuery): Promise<Approval[]>
  /** Throws `approval_not_found`, also for a user who does not own its session. */
  get(by: Standing, id: string): Promise<Approval>
  /**
   * A person's yes or no from outside the conversation. The continuation runs by itself. Throws `approval_not_found`,
   * `forbidden` (and leaves it pending), `approval_expired`, `approval_decided` with who decided what and when,
   * `approval_changed` with the question that replaced it, `tool_unavailable`, or `invalid_request` for edited arguments that
   * the tool does not accept.
   */
  decide(
    by: Standing,
    id: string,
    decision: Decision,
    correlationId?: string,
  ): Promise<{ approval: Approval; run: RunRecord }>
  grants(query?: { agent?: string; sessionId?: string }): Promise<Grant[]>
  /** Throws `grant_not_found`. */
  revokeGrant(by: Standing, id: string): Promise<void>
  /**
   * Compares pending approvals and grants with the tools as they are now: what has changed is asked again, or ended. Called
   * after a start. It may have to wait for MCP servers, and never throws.
   */
  review(): Promise<void>
}

/** Who answers, and in which role. `anyone` has shown no token that names `user`: they may look and talk, not decide. */
export interface Standing {
  user: string
  role: 'anyone' | 'user' | 'operator'
}

export interface Decision {
  decision: 'approve' | 'reject'
  /** The digest of what was shown. If the question has another one, the decision is refused. */
  digest?: string
  reason?: string
  /** Replace the arguments that the model wrote. */
  arguments?: Record<string, unknown>
  /** A standing yes for similar calls. */
  remember?: {
    scope: 'session' | 'always'
    /** Which arguments count as similar; left out, all must be equal. */
    where?: ArgumentConditions
    /** Null: until it is revoked. Left out: 15 minutes in a session, without end otherwise. */
    seconds?: number | null
  }
}

export interface ApprovalQuery {
  by: Standing
  status?: ApprovalStatus
  sessionId?: string
  limit: number
  before?: { createdAt: number; id: string }
}
