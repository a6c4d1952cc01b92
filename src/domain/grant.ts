import type { ArgumentConditions } from './approval-rule.ts'

/** A standing yes: this tool, with arguments like these, in this session or in all of the agent's. Listed and revocable. */
export interface Grant {
  id: string
  agent: string
  tool: string
  where: ArgumentConditions
  /** Null: every session of the agent. */
  sessionId: string | null
  grantedBy: string
  /** The approval it was given with. */
  approvalId: string
  /** Of the rules and the tool as they were then: a tool that has changed since is asked about again. */
  policyVersion: string
  createdAt: number
  /** Null: until it is revoked. */
  expiresAt: number | null
}
