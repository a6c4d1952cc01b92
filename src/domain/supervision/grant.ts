import type { ArgumentConditions } from '../agent/approval-rule.ts'

/** A standing yes or no to one tool with matching arguments, in one session or in all of the agent's. It can be revoked. */
export interface Grant {
  id: string
  agent: string
  tool: string
  /** `refuse`: a person refused such calls in advance; absent: they run without asking. */
  effect?: 'refuse'
  where: ArgumentConditions
  /** Null: all sessions of the agent. */
  sessionId: string | null
  grantedBy: string
  /** The approval that it was granted or refused with. */
  approvalId: string
  /** Version of the rules and the tool when it was granted. If the tool changes, its calls need approval again. */
  policyVersion: string
  createdAt: number
  /** Null: valid until revoked. */
  expiresAt: number | null
}
