// One decision as an answer that the store can apply.

import { decisionRecord } from '../../domain/approval-audit.ts'
import { isoTime } from '../../domain/clock.ts'
import type { Caller, Decision } from '../../domain/decision.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Approval } from '../../domain/wait.ts'
import type { Decided } from '../../engine/gate.ts'
import { callDigest } from '../../json/digest.ts'
import { jsonCheckOf } from '../../json/json-schema.ts'
import type { BoundTool } from '../../tools/tool.ts'
import { newGrant } from './new-grant.ts'
import { refuseWithoutPermission } from './permission.ts'

interface DecideDeps {
  newId: () => string
  /** The tool as it is now; null when it is not available. */
  findTool: (approval: Approval) => Promise<BoundTool | null>
}

/** Throws `forbidden` (the approval stays pending) or `invalid_request`. */
export async function decide(
  deps: DecideDeps,
  by: Caller,
  approval: Approval,
  decision: Decision,
  at: number,
): Promise<Decided> {
  refuseWithoutPermission(by, approval)
  const reason = decision.reason ?? null
  const answer = { waitId: approval.id, at, by: by.user }
  if (decision.decision === 'reject') {
    const audit = decisionRecord(approval, by.user, 'rejected', at)
    return { approval, answer: { ...answer, outcome: { type: 'rejected', reason } }, grant: null, audit }
  }
  const edited = decision.arguments === undefined ? null : await checkEdited(deps, approval, decision.arguments)
  const editedDigest = edited === null ? null : callDigest({ ...approval, arguments: edited })
  const editedArguments = edited === null ? null : JSON.stringify(edited)
  const { remember } = decision
  const args = edited ?? JSON.parse(approval.arguments)
  const grant =
    remember === undefined ? null : newGrant({ id: deps.newId(), approval, arguments: args, remember, by, now: at })
  const audit = decisionRecord(approval, by.user, 'approved', at)
  const details = {
    ...audit.details,
    ...(editedDigest === null ? {} : { edited_digest: editedDigest }),
    ...(grant === null ? {} : { grant: grant.id }),
  }
  return {
    approval,
    answer: { ...answer, outcome: { type: 'approved', reason, editedArguments, editedDigest } },
    grant,
    audit: { ...audit, details },
  }
}

async function checkEdited(
  { findTool }: DecideDeps,
  approval: Approval,
  edited: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const tool = await findTool(approval)
  if (tool === null) {
    throw new ServerError(
      'invalid_request',
      `The tool ${approval.tool} is not available now, so its arguments cannot be edited.`,
    )
  }
  const checked = jsonCheckOf(tool.parameters).check(edited)
  if (checked.ok) return { ...Object(checked.value) }
  const message = `The edited arguments do not fit ${approval.tool}: ${checked.problems.join('; ')}.`
  throw new ServerError('invalid_request', message, {
    details: { approval_id: approval.id },
    problems: checked.problems.map((detail) => ({ pointer: '/arguments', detail })),
  })
}

/** For a decision that came too late: says who decided what and when. */
export function alreadyDecided(approval: Approval): ServerError {
  const { id, status, decidedBy, decidedAt, reason, expiresAt } = approval
  if (status === 'expired') {
    const when = expiresAt === null ? '' : ` at ${isoTime(expiresAt)}`
    return new ServerError('approval_expired', `Nobody answered in time: it expired${when} and counts as refused.`, {
      details: { approval_id: id },
    })
  }
  const isVoid = status === 'interrupted' && decidedBy !== null
  const decision = status === 'consumed' || isVoid ? 'approved' : status
  const who = decidedBy === null ? '' : ` by ${decidedBy}`
  const when = decidedAt === null ? '' : ` at ${isoTime(decidedAt)}`
  const voided = isVoid ? '; its run ended before the call began, so it did not run' : ''
  return new ServerError('approval_decided', `This was already ${decision}${who}${when}${voided}.`, {
    details: {
      approval_id: id,
      approval_status: status,
      decided_by: decidedBy,
      decided_at: decidedAt === null ? null : isoTime(decidedAt),
      reason,
    },
  })
}
