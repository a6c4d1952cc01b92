// How a wait changes: what an answer, the end of a run or a new question makes of it. Pure functions of single waits.

import type { AuditRecord } from '../../domain/audit.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Grant } from '../../domain/grant.ts'
import type { StoredMessage } from '../../domain/message.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { Approval, Wait, WaitAnswer } from '../../domain/wait.ts'
import type { AppendEntries, FinishRun, RunStart } from '../ports/runs.ts'
import type { Answered, AskAgain } from '../ports/waits.ts'

/** What becomes of the answers, each after those before it. `waits` are those that may be answered; `takenBy` says which run goes on with an answer. */
export function applyAnswers(
  answers: readonly WaitAnswer[],
  waits: ReadonlyMap<string, Wait>,
  takenBy: (wait: Wait) => string | null,
): Answered[] {
  const changed = new Map<string, Wait>()
  return answers.map((answer) => {
    const wait = changed.get(answer.waitId) ?? waits.get(answer.waitId) ?? null
    const next = wait === null ? null : answerWait(wait, answer, takenBy(wait))
    if (next === null) return { applied: false, wait }
    changed.set(next.id, next)
    return { applied: true, wait: next }
  })
}

/** The answers after what was still pending on one run passed to another. */
export const passedOn = (answered: readonly Answered[], fromRunId: string, toRunId: string): Answered[] =>
  answered.map(({ applied, wait }) =>
    wait?.status === 'pending' && wait.runId === fromRunId
      ? { applied, wait: { ...wait, runId: toRunId } }
      : { applied, wait },
  )

/** The waits that were answered, as they are now. */
export const appliedOf = (answered: readonly Answered[]): Wait[] =>
  answered.flatMap(({ applied, wait }) => (applied && wait !== null ? [wait] : []))

/** The wait as the answer leaves it; null when it is too late, or no answer to a wait of this kind. */
export function answerWait(wait: Wait, answer: WaitAnswer, takenBy: string | null): Wait | null {
  const { outcome, at } = answer
  if (wait.status !== 'pending') return null
  if (outcome.type !== 'expired' && wait.expiresAt !== null && at >= wait.expiresAt) return null
  if (wait.wait === 'client_call') {
    if (outcome.type === 'answered') return { ...wait, status: 'answered', answeredAt: at, continuationRunId: takenBy }
    return outcome.type === 'expired' ? { ...wait, status: 'expired', continuationRunId: takenBy } : null
  }
  const decided = { ...wait, decidedAt: at, decidedBy: answer.by, continuationRunId: takenBy }
  switch (outcome.type) {
    case 'approved':
      return {
        ...decided,
        status: 'approved',
        reason: outcome.reason,
        // Asked again, it is about what an earlier answer has edited.
        editedArguments: outcome.editedArguments ?? wait.editedArguments,
        digest: outcome.editedDigest ?? wait.digest,
      }
    case 'rejected':
      return { ...decided, status: 'rejected', reason: outcome.reason }
    case 'expired':
      return { ...decided, status: 'expired' }
    default:
      return null
  }
}

/** What it belonged to ended before anybody answered. */
export function interruptWait(wait: Wait, at: number): Wait {
  return wait.wait === 'approval'
    ? { ...wait, status: 'interrupted', decidedAt: at }
    : { ...wait, status: 'interrupted' }
}

/** A yes that nobody can use any more: the run that took it is over, and its call has not begun. Who gave it stays. */
export function voidApproval(approval: Approval, { waits = [] }: Pick<FinishRun, 'waits'>): Approval {
  const next = waits.find(({ callId }) => callId === approval.callId)
  const why =
    next === undefined
      ? 'the run that was to make it ended first.'
      : `its tool or the rules have changed. It is asked again as ${next.id}.`
  return {
    ...approval,
    status: 'interrupted',
    reason: approval.reason ?? `It was approved, and its call did not run: ${why}`,
  }
}

/** What the trail says about a yes that came to nothing. */
export const voidedRecord = (approval: Approval, { runId, status, now }: FinishRun): AuditRecord => ({
  at: now,
  kind: 'approval_voided',
  by: approval.agent,
  session: approval.sessionId,
  run: runId,
  agent: approval.agent,
  tool: approval.tool,
  call: approval.callId,
  details: { approval: approval.id, digest: approval.digest, run_status: status },
})

/** The old question closed and the new one in its place; null when somebody has answered the old one, or it has ended. */
export function replaceWait(
  old: Wait | null,
  { approval, by, reason, at }: Pick<AskAgain, 'approval' | 'by' | 'reason' | 'at'>,
): { before: Approval; closed: Approval; asked: Approval } | null {
  if (old?.wait !== 'approval' || old.status !== 'pending') return null
  const { sessionId, owner, runId, callId, lane } = old
  return {
    before: old,
    closed: { ...old, status: 'interrupted', decidedAt: at, decidedBy: by, reason },
    asked: { ...approval, sessionId, owner, runId, callId, lane, status: 'pending' },
  }
}

/** The approvals before and after all of them are used up. Throws `conflict` unless each may be used, once and for this call. */
export function consumeApprovals(
  items: NonNullable<AppendEntries['consume']>,
  waits: ReadonlyMap<string, Wait>,
): [before: Approval, used: Approval][] {
  const used = new Set<string>()
  return items.map(({ waitId, digest, at }) => {
    const wait = waits.get(waitId) ?? null
    if (wait?.wait !== 'approval' || wait.status !== 'approved' || wait.digest !== digest || used.has(waitId)) {
      const found =
        wait === null ? 'there is none' : wait.status === 'approved' ? 'it is for another call' : wait.status
      throw new ServerError('conflict', `Approval ${waitId} does not allow this call: ${found}.`)
    }
    used.add(waitId)
    return [wait, { ...wait, status: 'consumed', consumedAt: at }]
  })
}

/** Throws `conflict` when a run that ends as waiting does not wait for what it says, or was asked to stop. */
export function refuseWaits(
  { runId, waits = [], stillPending = [] }: FinishRun,
  { cancelRequested }: Pick<RunRecord, 'cancelRequested'>,
  known: ReadonlyMap<string, Wait>,
): void {
  if (cancelRequested)
    throw new ServerError('conflict', `Run ${runId} was asked to stop, so it cannot wait for an answer.`)
  for (const id of stillPending) {
    const wait = known.get(id)
    if (wait?.status !== 'pending' || wait.runId !== runId) {
      throw new ServerError('conflict', `Run ${runId} no longer waits for ${id}: it has been answered.`)
    }
  }
  const taken = waits.find(({ id }, i) => known.has(id) || waits.findIndex((other) => other.id === id) < i)
  if (taken !== undefined) throw new ServerError('conflict', `There is a wait ${taken.id} already.`)
}

/**
 * What a run begins with: of results for the same call only the one that was taken, whoever else has sent one. A call that was
 * refused has a result where something new was said with the refusal.
 */
export function withTakenResults(start: RunStart, answered: readonly Answered[] = []): RunStart {
  if (answered.length === 0) return start
  const calls = new Set(answered.flatMap(({ wait }) => (wait === null ? [] : [wait.callId])))
  const taken = new Set(appliedOf(answered).map(({ callId }) => callId))
  const isTaken = ({ role, toolCallId }: StoredMessage): boolean =>
    role !== 'tool' || toolCallId === undefined || !calls.has(toolCallId) || taken.delete(toolCallId)
  return calls.size === 0 ? start : { ...start, messages: start.messages.filter(isTaken) }
}

/** Of the messages that an answer brings, the results of the client calls that it answered, as messages of the run that took it. */
export function resultsOf(
  messages: readonly StoredMessage[],
  answered: readonly Wait[],
  runId: string,
): StoredMessage[] {
  const calls = new Set(answered.filter(({ status }) => status === 'answered').map(({ callId }) => callId))
  return messages
    .filter(({ role, toolCallId }) => role === 'tool' && toolCallId !== undefined && calls.has(toolCallId))
    .map((message) => ({ ...message, runId }))
}

export const approvalPending = (runId: string): ServerError =>
  new ServerError(
    'approval_pending',
    'The session waits for an answer. Answer what it waits for, or cancel the run that waits, then send this again.',
    { details: { run_id: runId } },
  )

export const waitNotFound = ({ waitId, outcome }: WaitAnswer): ServerError =>
  outcome.type === 'answered'
    ? new ServerError('tool_call_not_found', `This session waits for no tool call ${JSON.stringify(waitId)}.`)
    : new ServerError('approval_not_found', `This session has no approval ${JSON.stringify(waitId)}.`)

/** The grants that come with approvals that were given. */
export const grantsOf = (applied: readonly Wait[], grants: readonly Grant[] = []): Grant[] =>
  grants.filter((grant) => applied.some(({ id, status }) => id === grant.approvalId && status === 'approved'))

/** What the trail says about waits that were answered and grants that were made. */
export function auditOf(
  applied: readonly Wait[],
  made: readonly Grant[],
  records: Readonly<Record<string, AuditRecord>> = {},
): AuditRecord[] {
  const byId = new Map(Object.entries(records))
  return [...applied, ...made].flatMap(({ id }) => byId.get(id) ?? [])
}
