// A person's yes or no as an answer the store can apply: who may give it, and what it is bound to.

import { decisionRecord } from '../domain/approval-audit.ts'
import type { AuditRecord } from '../domain/audit.ts'
import { isoTime } from '../domain/clock.ts'
import type { Caller, Decision } from '../domain/decision.ts'
import { ServerError } from '../domain/errors.ts'
import type { Grant } from '../domain/grant.ts'
import type { Approval, WaitAnswer } from '../domain/wait.ts'
import { callDigest } from '../json/digest.ts'
import { jsonCheckOf } from '../json/json-schema.ts'
import type { BoundTool } from '../tools/tool.ts'
import type { Gate } from './gate.ts'

export interface Decided {
  answer: WaitAnswer
  grant: Grant | null
  /** Null: nothing that anybody decided. */
  audit: AuditRecord | null
}

export interface DecideDeps {
  gate: Gate
  newId: () => string
  /** The tool as it is now; null when it is not there. */
  findTool: (approval: Approval) => Promise<BoundTool | null>
}

/** Throws `forbidden` (the approval stays pending) or `invalid_request`. */
export async function decideOn(
  deps: DecideDeps,
  by: Caller,
  approval: Approval,
  decision: Decision,
  at: number,
): Promise<Decided> {
  refuseWithoutStanding(by, approval)
  const reason = decision.reason ?? null
  const answer = { waitId: approval.id, at, by: by.user }
  if (decision.decision === 'reject') {
    const outcome = { type: 'rejected', reason } as const
    return { answer: { ...answer, outcome }, grant: null, audit: decisionRecord(approval, by.user, 'rejected', at) }
  }
  const edited = decision.arguments === undefined ? null : await checkEdited(deps, approval, decision.arguments)
  const digest = edited === null ? null : callDigest({ ...approval, arguments: edited })
  const outcome = {
    type: 'approved',
    reason,
    editedArguments: edited === null ? null : JSON.stringify(edited),
    editedDigest: digest,
  } as const
  const grant =
    decision.remember === undefined
      ? null
      : deps.gate.grant({
          id: deps.newId(),
          approval,
          arguments: edited ?? JSON.parse(approval.arguments),
          remember: decision.remember,
          by,
          now: at,
        })
  const audit = decisionRecord(approval, by.user, 'approved', at)
  return {
    answer: { ...answer, outcome },
    grant,
    audit: {
      ...audit,
      details: {
        ...audit.details,
        ...(digest === null ? {} : { edited_digest: digest }),
        ...(grant === null ? {} : { grant: grant.id }),
      },
    },
  }
}

/** Throws `forbidden`. */
export function refuseWithoutStanding(by: Caller, approval: Approval): void {
  if (mayAnswer(by, approval)) return
  const isOwners = approval.answerableBy === 'owner'
  const who = isOwners ? "the session's owner or an operator" : 'an operator'
  const still = approval.status === 'pending' ? ' It is still pending.' : ''
  const mend = by.role === 'anyone' ? ` ${tokenToSend(isOwners)}` : ''
  throw new ServerError('forbidden', `Only ${who} may answer this.${still}${mend}`, {
    details: { approval_id: approval.id, answerable_by: approval.answerableBy },
  })
}

/** Talking may need none where deciding does, so whoever comes without one has to be told. */
const tokenToSend = (isOwners: boolean): string =>
  `Send the ${isOwners ? "user's" : "operator's"} token: "Authorization: Bearer <token>". The server's first start shows it, and ` +
  `\`quarterdeck tokens create --role ${isOwners ? 'user' : 'operator'}\` makes another.`

/** An answer that comes too late: it changes nothing, and whoever gives it is shown what went on. */
export const tooLate = (by: Caller, { id }: Approval, at: number): Decided => ({
  answer: { waitId: id, at, by: by.user, outcome: { type: 'rejected', reason: null } },
  grant: null,
  audit: null,
})

export const mayAnswer = (by: Caller, approval: Approval): boolean =>
  by.role === 'operator' || (by.role === 'user' && approval.answerableBy === 'owner' && approval.owner === by.user)

async function checkEdited(
  { findTool }: DecideDeps,
  approval: Approval,
  edited: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const tool = await findTool(approval)
  if (tool === null) {
    throw new ServerError(
      'invalid_request',
      `The tool ${approval.tool} is not there now, so its arguments cannot be edited.`,
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

/** For an answer that came too late: who decided what and when. */
export function alreadyDecided(approval: Approval): ServerError {
  const { status, decidedBy, decidedAt, reason } = approval
  if (status === 'expired') {
    const when = approval.expiresAt === null ? '' : ` at ${isoTime(approval.expiresAt)}`
    return new ServerError('approval_expired', `Nobody answered in time: it expired${when} and counts as refused.`, {
      details: { approval_id: approval.id },
    })
  }
  const isVoid = status === 'interrupted' && decidedBy !== null
  const said = status === 'consumed' || isVoid ? 'approved' : status
  const who = decidedBy === null ? '' : ` by ${decidedBy}`
  const when = decidedAt === null ? '' : ` at ${isoTime(decidedAt)}`
  return new ServerError(
    'approval_decided',
    `This was already ${said}${who}${when}${isVoid ? '; its run ended before the call began, so it did not run' : ''}.`,
    {
      details: {
        approval_id: approval.id,
        approval_status: status,
        decided_by: decidedBy,
        decided_at: decidedAt === null ? null : isoTime(decidedAt),
        reason,
      },
    },
  )
}
