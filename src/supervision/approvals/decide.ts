// Decisions as answers that the store can apply.

import { decisionRecord } from '../../domain/approval-audit.ts'
import { isoTime } from '../../domain/clock.ts'
import type { Caller, Decision } from '../../domain/decision.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import { type Approval, hasExpired } from '../../domain/wait.ts'
import type { Decided, SentDecisions } from '../../engine/gate.ts'
import type { SyncedWaits } from '../../engine/waits/synced-waits.ts'
import { callDigest } from '../../json/digest.ts'
import { jsonCheckOf } from '../../json/json-schema.ts'
import type { AskAgain } from './ask-again.ts'
import { newGrant } from './new-grant.ts'
import { refuseWithoutPermission, visibleApproval } from './permission.ts'

interface DecideDeps {
  ids: Ids
  askAgain: AskAgain
}

const never = new AbortController().signal

/** Throws `forbidden` (the approval stays pending) or `invalid_request`. */
export async function decide(
  { ids, askAgain }: DecideDeps,
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
  const edited = decision.arguments === undefined ? null : await checkEdited(askAgain, approval, decision.arguments)
  const editedDigest = edited === null ? null : callDigest({ ...approval, arguments: edited })
  const editedArguments = edited === null ? null : JSON.stringify(edited)
  const { remember } = decision
  const args = edited ?? JSON.parse(approval.arguments)
  const grant =
    remember === undefined ? null : newGrant({ id: ids.uuid(), approval, arguments: args, remember, by, now: at })
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
  askAgain: AskAgain,
  approval: Approval,
  edited: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const tool = await askAgain.findTool(approval, never)
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

interface Asked {
  approval: Approval
  decision: Decision
}

/** The decisions of one request, as answers that the engine commits together. See `Gate.decide`. */
export async function decideAll(
  deps: DecideDeps & { syncedWaits: SyncedWaits },
  { by, sessionId, decisions, at }: SentDecisions,
): Promise<Decided[]> {
  const { askAgain, syncedWaits } = deps
  const asked: Asked[] = []
  for (const { waitId, ...decision } of decisions) {
    const approval = await visibleApproval(syncedWaits, by, waitId)
    if (approval.sessionId !== sessionId) {
      throw new ServerError('approval_not_found', `There is no approval ${JSON.stringify(waitId)} in this session.`)
    }
    // Only one of them would count, and the audit trail has to say which.
    if (asked.some((one) => one.approval.id === approval.id)) {
      throw new ServerError('invalid_request', `Approval ${approval.id} is answered twice here. Answer it once.`)
    }
    // A late caller decides nothing, so they need no permission: they are shown the run that went on.
    if (approval.status === 'pending') refuseWithoutPermission(by, approval)
    asked.push({ approval, decision })
  }
  await refuseChanged(askAgain, asked, at)
  const decided: Decided[] = []
  for (const { approval, decision } of asked) {
    // A client that repeats an answer is shown what came of it, also when the question was asked again under another id.
    const latest = await askAgain.latest(approval)
    const isLate = latest.status !== 'pending' || hasExpired(latest, at)
    decided.push(isLate ? tooLate(by, latest, at) : await decide(deps, by, latest, decision, at))
  }
  return decided
}

/** Asks all changed questions again before it throws for the first of them. */
async function refuseChanged(askAgain: AskAgain, asked: readonly Asked[], at: number): Promise<void> {
  const checks = await Promise.allSettled(
    asked
      .filter(({ approval }) => approval.status !== 'pending' || !hasExpired(approval, at))
      .map(({ approval, decision }) => askAgain.refuseChanged(approval, decision, at, never)),
  )
  for (const check of checks) if (check.status === 'rejected') throw check.reason
}

/** The store does not apply this answer, because its approval is no longer pending or has expired. */
const tooLate = (by: Caller, approval: Approval, at: number): Decided => ({
  approval,
  answer: { waitId: approval.id, at, by: by.user, outcome: { type: 'rejected', reason: null } },
  grant: null,
  audit: null,
})

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
