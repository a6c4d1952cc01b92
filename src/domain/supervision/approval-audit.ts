// What the audit trail records about an approval: that it was asked, and how it was decided.

import { present } from '../present.ts'
import type { Approval } from '../records/record.ts'
import type { AuditRecord } from './audit.ts'

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
    ...present({ quorum: approval.quorum }),
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

/** The record of a decision, given the approval after it. A yes that is not enough is on record as one. */
export const countedRecord = (decision: AuditRecord, { status, quorum = 1, decisions = [] }: Approval): AuditRecord =>
  status === 'pending'
    ? { ...decision, details: { ...decision.details, decision: 'yes', yeses: decisions.length, needed: quorum } }
    : decision

/** Which call a record is about. */
export const aboutCall = ({
  sessionId,
  runId,
  agent,
  tool,
  callId,
}: Pick<Approval, 'sessionId' | 'runId' | 'agent' | 'tool' | 'callId'>) => ({
  session: sessionId,
  run: runId,
  agent,
  tool,
  call: callId,
})
