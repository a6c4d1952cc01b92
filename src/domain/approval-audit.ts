// What the audit trail records about an approval: that it was asked, and how it was decided.

import type { AuditRecord } from './audit.ts'
import type { Approval } from './wait.ts'

export const askedRecord = (approval: Approval): AuditRecord => ({
  at: approval.createdAt,
  kind: 'approval_asked',
  by: approval.agent,
  ...aboutCall(approval),
  details: {
    approval: approval.id,
    risk: approval.risk,
    digest: approval.digest,
    policy: approval.policyVersion,
    answerable_by: approval.answerableBy,
  },
})

/** `by` is a user, or what ended it: `timeout`, `change`. */
export const decisionRecord = (approval: Approval, by: string, decision: string, at: number): AuditRecord => ({
  at,
  kind: 'decision',
  by,
  ...aboutCall(approval),
  details: { approval: approval.id, decision, digest: approval.digest, policy: approval.policyVersion },
})

const aboutCall = ({ sessionId, runId, agent, tool, callId }: Approval) => ({
  session: sessionId,
  run: runId,
  agent,
  tool,
  call: callId,
})
