// Who may see an approval, and what a decision about it is refused for.

import { isoTime } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { type Approval, hasExpired, isHostApproval, isSupervisedApproval } from '../../domain/records/record.ts'
import type { Caller, Decision } from '../../domain/supervision/decision.ts'
import type { SyncedWaits } from '../../engine/waits/synced-waits.ts'
import { timeOf } from '../records/record-words.ts'
import { decidedText } from '../records/records.ts'
import { refuseRemember } from '../remember/grant-elsewhere.ts'
import { isSamePerson, type Operators, refuseForeignCommand, wayOf } from '../sessions/may-command.ts'
import type { AskedNow } from './decide.ts'
import { isPartly } from './shown-call.ts'

/** Throws `approval_not_found` for an approval that does not exist or that the caller may not see. */
export async function visibleApproval(waits: SyncedWaits, by: Caller, id: string): Promise<Approval> {
  const wait = await waits.get(id)
  if (wait?.wait === 'approval' && (by.role === 'operator' || wait.owner === by.user)) return wait
  throw new ServerError('approval_not_found', `There is no approval ${JSON.stringify(id)}.`)
}

/** Throws `forbidden`. */
export function refuseWithoutPermission(by: Caller, approval: Approval): void {
  if (mayDecide(by, approval)) return
  const isOwners = approval.answerableBy === 'owner'
  const who = isOwners ? "the session's owner or an operator" : 'an operator'
  const still = approval.status === 'pending' ? ' It is still pending.' : ''
  const isElsewhere = isSupervisedApproval(approval)
  const fix = by.role === 'anyone' ? tokenToSend(isOwners) : `${OPERATORS_WAY}${isElsewhere ? '' : OWNERS_WAY}`
  throw new ServerError('forbidden', `Only ${who} may answer this.${still} ${fix}`, {
    details: { approval_id: approval.id, answerable_by: approval.answerableBy },
  })
}

const mayDecide = (by: Caller, approval: Approval): boolean =>
  by.role === 'operator' || (by.role === 'user' && approval.answerableBy === 'owner' && approval.owner === by.user)

/** Talking may need no token where deciding does, so a caller without one is told how to get it. */
const tokenToSend = (isOwners: boolean): string =>
  `Send ${isOwners ? "a user's" : "an operator's"} token in the header "Authorization: Bearer <token>"; in a page, that is \`headers\` of ` +
  `HttpAgent or CopilotKitProvider. \`quarterdeck tokens create --role ${isOwners ? 'user' : 'operator'}\` prints one.`

/** For a caller whose token is a user's. */
const OPERATORS_WAY = 'An operator answers it in the console or with `quarterdeck ctl approve`.'
const OWNERS_WAY =
  ' To let the owner of a session answer what is not critical, write `approval: { by: owner }` in the agent file.'

/** Throws `forbidden`. */
export function refuseCaller(operators: Operators, by: Caller, { approval, at, elsewhere }: AskedNow): void {
  refuseWithoutPermission(by, approval)
  if (elsewhere !== null) refuseForeignCommand(operators, by, elsewhere.owner, at - approval.createdAt)
}

/** Whoever comes too late is told so, whatever they say. Throws `approval_decided` or `approval_expired`. */
export function refuseLate(approval: Approval, at: number): void {
  if (approval.status !== 'pending') throw alreadyDecided(approval)
  if (hasExpired(approval, at)) throw alreadyDecided({ ...approval, status: 'expired' })
}

/** The console decides about what it showed, and only a digest says what that was. Throws `invalid_request`. */
export function refuseUnseen(by: Caller, { digest }: Decision): void {
  if (digest !== undefined || wayOf(by) !== 'console') return
  throw new ServerError('invalid_request', 'The console has to say what it showed.', {
    problems: [{ pointer: '/digest', detail: 'Send the digest of what you showed.' }],
  })
}

/** Throws `forbidden`, `conflict` or `invalid_request` for a yes that cannot count among several. */
export function refuseYes(operators: Operators, by: Caller, approval: Approval, decision: Decision): void {
  const { id, quorum = 1 } = approval
  // An admin may decide without being one of those who count: a provider or a proxy says who is one.
  if (!operators.isKnown(by.user, by)) {
    throw new ServerError(
      'forbidden',
      `${quorum} people have to say yes, and only operators whom quarterdeck.yaml names count: operators[].name, logins or group. ${JSON.stringify(by.user)} is none of them.`,
      { details: { approval_id: id } },
    )
  }
  refuseSecondYes(operators, by, approval)
  if (decision.remember !== undefined) {
    throw new ServerError(
      'invalid_request',
      `${quorum} people have to say yes each time, so a yes cannot be remembered. Approve without \`remember\`.`,
      { details: { approval_id: id }, problems: [{ pointer: '/remember', detail: 'Leave it out.' }] },
    )
  }
}

/** Throws `conflict` if this person is among those who have said yes. */
export function refuseSecondYes(operators: Operators, by: Caller, approval: Approval): void {
  const { id, quorum = 1, decisions = [] } = approval
  if (!decisions.some((one) => isSamePerson(operators, one.by, by.user))) return
  throw new ServerError(
    'conflict',
    `You have said yes already. ${decisions.length} of ${quorum} people have; somebody else has to.`,
    { details: { approval_id: id, yeses: decisions.length, needed: quorum } },
  )
}

/** Throws `invalid_request` for what this kind of question cannot take. */
export function refuseUnfit(approval: Approval, given: Decision): void {
  const { decision, remember: wanted, arguments: edited, content, force } = given
  const refuse = (message: string, pointer?: string): never => {
    const problems = pointer === undefined ? [] : [{ pointer, detail: 'Leave it out.' }]
    throw new ServerError('invalid_request', message, { details: { approval_id: approval.id }, problems })
  }
  const isElsewhere = isHostApproval(approval)
  const isQuestion = approval.kind === 'question'
  if (content !== undefined && approval.kind !== 'diff') refuse('Only a change of a file takes `content`.', '/content')
  if (force === true && approval.kind !== 'diff') refuse('Only a change of a file takes `force`.', '/force')
  if (isElsewhere) refuseRemember(approval, given)
  if (decision === 'respond' && isElsewhere && !isQuestion) {
    refuse('A coding agent runs its tools itself, so nobody can answer in their place. Approve or reject.')
  }
  if (decision === 'approve' && isQuestion) {
    refuse(
      'This is a question of a tool, so there is nothing to approve. Answer with `"decision": "respond"` and `result`, or reject it.',
    )
  }
  if (wanted !== undefined && isQuestion) {
    refuse('The answer to a question cannot be remembered. Answer without `remember`.')
  }
  // What may be chosen of the changes of a hosted agent is in the arguments.
  if (decision !== 'approve' || edited === undefined || !isElsewhere || approval.kind === 'changes') return
  if (approval.supervised.run === true) {
    refuse(
      'The program of this agent takes a yes or a no, and no other arguments. Reject it with a reason: the agent hears it with its next prompt.',
    )
  }
  if (approval.kind !== 'permission') {
    refuse('Only the arguments of a tool call can be edited. To edit a change, send its whole new text as `content`.')
  }
  if (isPartly(approval)) {
    refuse('The arguments are too long to be kept here, so they cannot be edited. Approve or reject them as they are.')
  }
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
  const voided = isVoid ? '; its run ended before the call began, so it did not run' : ''
  return new ServerError('approval_decided', `This was already ${decision}${decidedText(approval)}${voided}.`, {
    details: {
      approval_id: id,
      approval_status: status,
      decided_by: decidedBy,
      decided_at: timeOf(decidedAt),
      reason,
    },
  })
}
