// How a person's decision becomes an answer that the store can apply. The steps are the same whoever waits for it: a run of ours
// (`answer-run.ts`) or an agent elsewhere (`answer-agent.ts`). Permission, lateness and fit, digest, edit, quorum, remember, proof, trail.

import type { Risk } from '../../domain/agent/tool-settings.ts'
import { hasCode, ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import { present } from '../../domain/present.ts'
import { type Approval, isHostApproval, isSupervisedApproval } from '../../domain/records/record.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import { decisionRecord } from '../../domain/supervision/approval-audit.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Caller, Decision } from '../../domain/supervision/decision.ts'
import type { Grant } from '../../domain/supervision/grant.ts'
import type { ProofPurpose, StepUp } from '../../domain/supervision/step-up.ts'
import type { Decided } from '../../engine/gate.ts'
import { canonicalJson, sha256 } from '../../json/digest.ts'
import { jsonCheckOf } from '../../json/json-schema.ts'
import { grantElsewhere } from '../remember/grant-elsewhere.ts'
import { escalatedTo, hasOwnRight, type Operators, viaOf, wayOf } from '../sessions/may-command.ts'
import type { AskAgain } from './ask-again.ts'
import type { Edit, EditCheck } from './check-edit.ts'
import { lookedAtOf } from './looked-at.ts'
import { newGrant } from './new-grant.ts'
import { refuseCaller, refuseLate, refuseUnfit, refuseUnseen, refuseYes } from './refuse-decision.ts'
import { isPartly } from './shown-call.ts'

export interface DecideDeps {
  ids: Ids
  askAgain: AskAgain
  operators: Operators
  stepUp: StepUp
}

/** An approval at the moment when somebody decides about it. */
export interface AskedNow {
  approval: Approval
  at: number
  /** Null: a run of ours waits, and the approval says who may answer. */
  elsewhere: ElsewhereNow | null
}

/** The session of an agent elsewhere as it is now. */
export interface ElsewhereNow {
  owner: string
  workspaceRoot: string
  /** What is remembered about agents of this host. */
  grants: readonly Grant[]
}

/** What a yes is given to, after what the person changed. */
export interface Edited {
  /** What becomes of the record by the edit alone. */
  patch: Partial<Approval>
  /** Arguments that the call of a run gets in place of the model's; null: none. */
  replaced: { arguments: Record<string, unknown>; digest: string } | null
  /** For the proof: the risk of what will run. */
  risk: Risk
}

/** An answer that can be committed. `patch` comes before it. */
export interface Prepared extends Decided {
  patch: Partial<Approval>
}

export interface Outcome {
  approval: Approval
  run: RunRecord | null
}

/** Whoever waits for approvals. It looks at them as they are now, and delivers what was decided. */
export interface Answerer {
  /** Throws `approval_changed`, or `tool_unavailable`, unless the decision is about the question as it is now. */
  refuseChanged(now: AskedNow, decision: Decision): Promise<void>
  /** Throws `invalid_request` for an edit that does not fit. Changes nothing. */
  edit(now: AskedNow, decision: Decision): Promise<Edited>
  /** Commits what `steps` make of the approval. Null: the answer came too late. */
  answer(approval: Approval, given: Given, steps: Steps): Promise<Outcome | null>
  /** What would come of an edit. `refuseLate` throws unless somebody may decide about it now. */
  check(approval: Approval, edit: Edit, refuseLate: (now: AskedNow) => Promise<void>): Promise<EditCheck>
  /** Ends an approval whose time is over. Leaves every other one alone. */
  expire(approval: Approval): Promise<void>
}

export interface Given {
  by: Caller
  decision: Decision
  correlationId: string | undefined
}

interface Steps {
  /** Throws unless this person may decide this way about the approval as it is now. */
  refuse(now: AskedNow): Promise<void>
  prepare(now: AskedNow): Promise<Prepared>
}

const never = new AbortController().signal

/** Throws what `Approvals.decide` throws. Null: somebody was faster. */
export async function decide(
  deps: DecideDeps,
  answerer: Answerer,
  approval: Approval,
  given: Given,
): Promise<Outcome | null> {
  const { by, decision } = given
  const steps: Steps = {
    async refuse(now) {
      refuseCaller(deps.operators, by, now)
      refuseUnseen(by, decision)
      refuseLate(await latest(deps.askAgain, now.approval), now.at)
      refuseUnfit(now.approval, decision)
      await answerer.refuseChanged(now, decision)
    },
    prepare: (now) => prepare(deps, answerer, by, now, decision),
  }
  try {
    return await answerer.answer(approval, given, steps)
  } catch (error) {
    // Whoever comes first after its time ends it.
    const isOver = hasCode(error, 'approval_expired')
    if (isOver && approval.status === 'pending') await answerer.expire(approval)
    throw error
  }
}

/** The steps of somebody who may decide, about something that is still to be decided. */
export async function prepare(
  deps: DecideDeps,
  answerer: Pick<Answerer, 'edit'>,
  by: Caller,
  now: AskedNow,
  decision: Decision,
): Promise<Prepared> {
  const { approval, at } = now
  const { reason = null } = decision
  const answer = { waitId: approval.id, at, by: by.user, via: wayOf(by) }
  const noted = trail(deps.operators, by, now, decision)
  if (decision.decision === 'reject') {
    const refused = JSON.parse(approval.editedArguments ?? approval.arguments)
    const grant = remember(deps, by, now, decision, refused)
    const outcome = { type: 'rejected' as const, reason }
    return { approval, patch: {}, answer: { ...answer, outcome }, grant, audit: noted('rejected', grantOf(grant)) }
  }
  if (decision.decision === 'respond') {
    const response = responseOf(approval, decision.result)
    const proof = await proofFor(deps.stepUp, by, approval, { ...decision, decision: 'respond' })
    const audit = noted('answered', { ...proof, response_sha256: sha256(response) })
    const outcome = { type: 'responded' as const, response, reason }
    return { approval, patch: {}, answer: { ...answer, outcome }, grant: null, audit }
  }
  const { patch, replaced, risk } = await answerer.edit(now, decision)
  const asked = { ...approval, ...patch }
  const { quorum = 1 } = asked
  if (quorum > 1) refuseYes(deps.operators, by, asked, decision)
  // Everybody says yes to the same arguments, so others are asked about as a question of their own.
  if (quorum > 1 && replaced !== null) {
    throw await deps.askAgain.askEdited(approval, replaced.arguments, { by, at, signal: never })
  }
  const grant = remember(deps, by, now, decision, replaced?.arguments ?? JSON.parse(approval.arguments))
  const proof = await proofFor(deps.stepUp, by, { ...approval, risk }, { ...decision, decision: 'approve' })
  const { force = false } = decision
  const forced = isSupervisedApproval(approval) ? { force } : {}
  const digest = replaced?.digest ?? asked.digest
  const edited = digest === approval.digest ? undefined : digest
  const changes = present({ edited_digest: edited, force: force || undefined })
  const audit = noted('approved', { ...proof, ...changes, ...grantOf(grant) })
  const outcome = {
    type: 'approved' as const,
    reason,
    editedArguments: replaced === null ? null : JSON.stringify(replaced.arguments),
    editedDigest: replaced?.digest ?? null,
    yes: { by: deps.operators.personOf(by.user), via: wayOf(by), ...forced },
  }
  return { approval, patch, answer: { ...answer, outcome }, grant, audit }
}

/** Throws `approval_changed` if a question of ours was asked again and the new one waits. */
export const latest = async (askAgain: Pick<AskAgain, 'latest'>, approval: Approval): Promise<Approval> =>
  isHostApproval(approval) ? approval : askAgain.latest(approval)

/** What the audit trail says of a decision. */
function trail(operators: Operators, by: Caller, { approval, at, elsewhere: place }: AskedNow, decision: Decision) {
  const isPart = isHostApproval(approval) && isPartly(approval) && approval.supervised.change === null
  return (word: string, more: AuditRecord['details'] = {}): AuditRecord => {
    const audit = decisionRecord(approval, by.user, word, at)
    const grouped = decision.groupSize === undefined ? {} : { group: true, group_size: decision.groupSize }
    const shown = present({ shown_in_part: (isPart && word === 'approved') || undefined })
    const elsewhere = place === null ? {} : { kind: approval.kind, ...escalatedTo(operators, by, place.owner) }
    return {
      ...audit,
      details: { ...audit.details, ...elsewhere, ...viaOf(by), ...shown, ...lookedAtOf(decision), ...grouped, ...more },
    }
  }
}

function remember(
  { ids, operators }: DecideDeps,
  by: Caller,
  { approval, at, elsewhere }: AskedNow,
  { decision, remember: wanted }: Decision,
  args: Record<string, unknown>,
): Grant | null {
  if (wanted === undefined) return null
  const effect = decision === 'reject' ? ('refuse' as const) : undefined
  const about = { id: ids.uuid(), approval, remember: wanted, effect, by, now: at }
  if (elsewhere === null || !isHostApproval(approval)) return newGrant({ ...about, arguments: args })
  const { owner } = elsewhere
  if (!hasOwnRight(operators, by, owner)) {
    const who = `You stand in for ${owner}, for what has waited this long.`
    throw new ServerError(
      'forbidden',
      `${who} Only ${owner} or an admin decides for later. Answer without \`remember\`.`,
    )
  }
  return grantElsewhere({ ...about, approval }, elsewhere)
}

const grantOf = (grant: Grant | null): AuditRecord['details'] => (grant === null ? {} : { grant: grant.id })

/**
 * The last check, because it uses the proof up. A yes to something critical, and one that is remembered for good, needs a passkey once
 * somebody has one. A no never does. Throws `passkey_required`. Returns what the audit trail says about it.
 */
async function proofFor(
  stepUp: StepUp,
  by: Caller,
  { id, digest, risk }: Pick<Approval, 'id' | 'digest' | 'risk'>,
  given: Decision & { decision: 'approve' | 'respond' },
): Promise<AuditRecord['details']> {
  const isForGood = given.remember?.scope === 'always' || given.remember?.scope === 'workspace'
  if (risk !== 'critical' && !isForGood) return {}
  return stepUp.require(by, proofPurpose(id, digest, given))
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
    match: remember?.match,
    seconds: remember?.seconds,
  }
  const isPlain = Object.values(brought).every((value) => value === undefined)
  return present({
    kind: 'decision' as const,
    approvalId,
    digest,
    decision,
    remember: remember?.scope ?? null,
    brings: isPlain ? undefined : sha256(canonicalJson(brought)),
  })
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
