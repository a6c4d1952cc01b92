// Decisions as answers that the store can apply.

import { isoTime } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import { type Approval, hasExpired } from '../../domain/records/record.ts'
import { decisionRecord } from '../../domain/supervision/approval-audit.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Caller, Decision } from '../../domain/supervision/decision.ts'
import { noStepUp, type ProofPurpose, type StepUp } from '../../domain/supervision/step-up.ts'
import type { Decided, SentDecisions } from '../../engine/gate.ts'
import type { SyncedWaits } from '../../engine/waits/synced-waits.ts'
import { callDigest, canonicalJson, sha256 } from '../../json/digest.ts'
import { jsonCheckOf } from '../../json/json-schema.ts'
import { channelOf, isSamePerson, type Operators, personOf, viaOf } from '../sessions/may-command.ts'
import type { AskAgain } from './ask-again.ts'
import { lookedAtOf } from './looked-at.ts'
import { newGrant } from './new-grant.ts'
import { refuseWithoutPermission, visibleApproval } from './permission.ts'

export interface DecideDeps {
  ids: Ids
  askAgain: AskAgain
  /** Left out: every name is a person of their own. */
  operators?: Operators
  /** Left out: nobody has a passkey. */
  stepUp?: StepUp
}

const everybody: Operators = { isAdmin: () => false, isKnown: () => true }

const never = new AbortController().signal

/** Throws `forbidden` (the approval stays pending) or `invalid_request`. */
export async function decide(
  { ids, askAgain, operators = everybody, stepUp = noStepUp }: DecideDeps,
  by: Caller,
  approval: Approval,
  decision: Decision,
  at: number,
): Promise<Decided> {
  refuseWithoutPermission(by, approval)
  refuseUnseen(by, decision)
  refuseForOwnAgent(decision)
  const reason = decision.reason ?? null
  const how = { ...viaOf(by), ...lookedAtOf(decision) }
  const answer = { waitId: approval.id, at, by: by.user, via: channelOf(by) }
  if (decision.decision === 'respond') {
    const response = responseOf(approval, decision.result)
    const proof = await requireProof(stepUp, by, approval, decision, at)
    const audit = decisionRecord(approval, by.user, 'answered', at)
    const details = { ...audit.details, ...how, ...proof, response_sha256: sha256(response) }
    const outcome = { type: 'responded' as const, response, reason }
    return { approval, answer: { ...answer, outcome }, grant: null, audit: { ...audit, details } }
  }
  const { remember } = decision
  if (approval.kind === 'question') refuseForQuestion(decision)
  if (decision.decision === 'reject') {
    const args = JSON.parse(approval.editedArguments ?? approval.arguments)
    const grant =
      remember === undefined
        ? null
        : newGrant({ id: ids.uuid(), approval, arguments: args, remember, effect: 'refuse', by, now: at })
    const audit = decisionRecord(approval, by.user, 'rejected', at)
    const details = { ...audit.details, ...how, ...(grant === null ? {} : { grant: grant.id }) }
    return {
      approval,
      answer: { ...answer, outcome: { type: 'rejected', reason } },
      grant,
      audit: { ...audit, details },
    }
  }
  // Whoever comes too late is told so, whatever they say.
  const isOneOfSeveral = (approval.quorum ?? 1) > 1 && approval.status === 'pending' && !hasExpired(approval, at)
  if (isOneOfSeveral) refuseYes(operators, by, approval, decision)
  const checked = decision.arguments === undefined ? null : await checkEdited(askAgain, approval, decision.arguments)
  const checkedDigest = checked === null ? null : callDigest({ ...approval, arguments: checked })
  // Everybody says yes to the same arguments, so others are asked about as a question of their own.
  const isSame = isOneOfSeveral && checkedDigest === approval.digest
  if (isOneOfSeveral && checked !== null && !isSame) {
    throw await askAgain.askEdited(approval, checked, { by, at, signal: never })
  }
  const edited = isSame ? null : checked
  const editedDigest = isSame ? null : checkedDigest
  const editedArguments = edited === null ? null : JSON.stringify(edited)
  const args = edited ?? JSON.parse(approval.arguments)
  const grant =
    remember === undefined ? null : newGrant({ id: ids.uuid(), approval, arguments: args, remember, by, now: at })
  const proof = await requireProof(stepUp, by, approval, decision, at)
  const yes = isOneOfSeveral ? { yes: { by: personOf(operators, by.user), via: channelOf(by) } } : {}
  const audit = decisionRecord(approval, by.user, 'approved', at)
  const details = {
    ...audit.details,
    ...how,
    ...proof,
    ...(editedDigest === null ? {} : { edited_digest: editedDigest }),
    ...(grant === null ? {} : { grant: grant.id }),
  }
  return {
    approval,
    answer: { ...answer, outcome: { type: 'approved', reason, editedArguments, editedDigest, ...yes } },
    grant,
    audit: { ...audit, details },
  }
}

/** The last check, because it uses the proof up. Whoever comes too late is told so without one. */
async function requireProof(
  stepUp: StepUp,
  by: Caller,
  approval: Approval,
  decision: Decision,
  at: number,
): Promise<AuditRecord['details']> {
  if (approval.status !== 'pending' || hasExpired(approval, at)) return {}
  return proofFor(stepUp, by, approval, decision)
}

/**
 * A yes to something critical, and one that is remembered for good, needs a passkey once somebody has one. A no never does. Throws
 * `passkey_required`. Returns what the audit trail says about it.
 */
export async function proofFor(
  stepUp: StepUp,
  by: Caller,
  { id, digest, risk }: Pick<Approval, 'id' | 'digest' | 'risk'>,
  given: Decision,
): Promise<AuditRecord['details']> {
  const { decision, remember } = given
  if (decision === 'reject' || (risk !== 'critical' && remember?.scope !== 'always')) return {}
  return stepUp.require(by, proofPurpose(id, digest, { ...given, decision }))
}

/** What a proof for this decision is made for: for nothing that differs in what is decided. */
export function proofPurpose(
  approvalId: string,
  digest: string,
  given: Decision & { decision: 'approve' | 'respond' },
): ProofPurpose {
  const { decision, remember, arguments: edited, sentArguments = edited, content, force, result } = given
  const brought = {
    arguments: sentArguments,
    content,
    force,
    result,
    where: remember?.where,
    seconds: remember?.seconds,
  }
  const isPlain = Object.values(brought).every((value) => value === undefined)
  return {
    ...{ kind: 'decision', approvalId, digest, decision, remember: remember?.scope ?? null },
    ...(isPlain ? {} : { brings: sha256(canonicalJson(brought)) }),
  }
}

/** The console decides about what it showed, and only a digest says what that was. Throws `invalid_request`. */
export function refuseUnseen(by: Caller, { digest }: Decision): void {
  if (digest !== undefined || channelOf(by) !== 'console') return
  throw new ServerError('invalid_request', 'The console has to say what it showed.', {
    problems: [{ pointer: '/digest', detail: 'Send the digest of what you showed.' }],
  })
}

/** Throws `forbidden`, `conflict` or `invalid_request` for a yes that cannot count among several. */
function refuseYes(operators: Operators, by: Caller, approval: Approval, { remember }: Decision): void {
  const { id, quorum = 1 } = approval
  refuseUncounted(operators, by, approval)
  if (remember !== undefined) {
    throw new ServerError(
      'invalid_request',
      `${quorum} people have to say yes each time, so a yes cannot be remembered. Approve without \`remember\`.`,
      { details: { approval_id: id }, problems: [{ pointer: '/remember', detail: 'Leave it out.' }] },
    )
  }
}

/** Throws `forbidden` for somebody whose yes does not count among several, and `conflict` for somebody whose yes is counted already. */
export function refuseUncounted(operators: Operators, by: Caller, approval: Approval): void {
  const { id, quorum = 1 } = approval
  if (!operators.isKnown(by.user, by)) {
    throw new ServerError(
      'forbidden',
      `${quorum} people have to say yes, and only operators whom quarterdeck.yaml names count: operators[].name, logins or group. ${JSON.stringify(by.user)} is none of them.`,
      { details: { approval_id: id } },
    )
  }
  refuseSecondYes(operators, by, approval)
}

/** Throws `conflict` if this person is among those who have said yes. */
export function refuseSecondYes(operators: Operators | undefined, by: Caller, approval: Approval): void {
  const { id, quorum = 1, decisions = [] } = approval
  if (!decisions.some((one) => isSamePerson(operators ?? everybody, one.by, by.user))) return
  throw new ServerError(
    'conflict',
    `You have said yes already. ${decisions.length} of ${quorum} people have; somebody else has to.`,
    { details: { approval_id: id, yeses: decisions.length, needed: quorum } },
  )
}

/** As many characters as are kept of a tool's result by default. */
const MAX_RESPONSE = 50_000

/** The text that stands for the tool's result, or the answer to a question as JSON. Throws `invalid_request`. */
function responseOf({ id, tool, question }: Approval, result: unknown): string {
  const wrong = (message: string, details: readonly string[]) =>
    new ServerError('invalid_request', message, {
      details: { approval_id: id },
      problems: details.map((detail) => ({ pointer: '/result', detail })),
    })
  if (result === undefined) throw wrong('There is no answer.', ['Send `result` with `respond`.'])
  const checked = question === undefined ? null : jsonCheckOf(question.schema).check(result)
  if (checked?.ok === false) {
    throw wrong(`The answer does not fit what ${tool} asks for: ${checked.problems.join('; ')}.`, checked.problems)
  }
  const value = checked === null ? result : checked.value
  const text = question === undefined && typeof value === 'string' ? value : JSON.stringify(value)
  if (text.length <= MAX_RESPONSE) return text
  const most = MAX_RESPONSE.toLocaleString('en')
  throw wrong('The answer is too long.', [
    `It has ${text.length.toLocaleString('en')} characters; at most ${most} are kept.`,
  ])
}

function refuseForOwnAgent({ force, content }: Decision): void {
  if (force === undefined && content === undefined) return
  const pointer = force === undefined ? '/content' : '/force'
  throw new ServerError('invalid_request', 'Only a change by an agent elsewhere can be edited as a file or forced.', {
    problems: [{ pointer, detail: 'Leave it out.' }],
  })
}

function refuseForQuestion({ decision, remember }: Decision): void {
  if (decision === 'approve') {
    throw new ServerError(
      'invalid_request',
      'This is a question of a tool, so there is nothing to approve. Answer with `"decision": "respond"` and `result`, or reject it.',
    )
  }
  if (remember !== undefined) {
    throw new ServerError(
      'invalid_request',
      'The answer to a question cannot be remembered. Answer without `remember`.',
    )
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
    if (approval.supervised !== undefined) {
      throw new ServerError(
        'session_supervised',
        `An agent elsewhere asked this, so no run continues with the answer. Answer it with POST /approvals/${approval.id}.`,
      )
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
