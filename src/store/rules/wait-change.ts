// How a wait changes when it is answered, when its run ends or when a new question replaces it. Pure functions.

import { ServerError } from '../../domain/errors.ts'
import { answeredRecord } from '../../domain/records/answered-record.ts'
import { type AnyRecord, type Approval, isSupervised, type WaitAnswer } from '../../domain/records/record.ts'
import { recordKinds } from '../../domain/records/record-kinds.ts'
import type { StoredMessage } from '../../domain/session/message.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import { countedRecord } from '../../domain/supervision/approval-audit.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Grant } from '../../domain/supervision/grant.ts'
import type { AppendEntries, FinishRun, RunStart } from '../ports/runs.ts'
import type { Answered, AskAgain } from '../ports/waits.ts'
import { conflict, taken } from './find-rows.ts'

/** Applies the answers in order. `waits` are the waits that may be answered. `takenBy` says which run continues with an answer. */
export function applyAnswers(
  answers: readonly WaitAnswer[],
  waits: ReadonlyMap<string, AnyRecord>,
  takenBy: (wait: AnyRecord) => string | null,
): Answered[] {
  const changed = new Map<string, AnyRecord>()
  return answers.map((answer) => {
    const wait = changed.get(answer.waitId) ?? waits.get(answer.waitId) ?? null
    // An agent elsewhere waits for it, so it changes only with that agent's session (`supervise.ts`).
    const next = wait === null || isSupervised(wait) ? null : answeredRecord(wait, answer, takenBy(wait))
    if (next === null) return { applied: false, wait }
    changed.set(next.id, next)
    return { applied: true, wait: next }
  })
}

/** The answers, after the waits that are still pending passed from one run to another. */
export const passedOn = (answered: readonly Answered[], fromRunId: string, toRunId: string): Answered[] =>
  answered.map(({ applied, wait }) =>
    wait?.status === 'pending' && wait.runId === fromRunId
      ? { applied, wait: { ...wait, runId: toRunId } }
      : { applied, wait },
  )

/** The waits of the applied answers, as they are now. A yes that is not enough leaves its approval pending. */
export const appliedOf = (answered: readonly Answered[]): AnyRecord[] =>
  answered.flatMap(({ applied, wait }) => (applied && wait !== null ? [wait] : []))

/** The waits that are answered for good. */
export const settledOf = (applied: readonly AnyRecord[]): AnyRecord[] =>
  applied.filter(({ status }) => status !== 'pending')

/** The run, or the session of an agent elsewhere, ended before anybody answered. */
export function interruptWait(wait: AnyRecord, at: number): AnyRecord {
  const status = recordKinds[wait.wait].unanswered
  return (wait.wait === 'client_call' ? { ...wait, status } : { ...wait, status, decidedAt: at }) as AnyRecord
}

/** An approval that can no longer be used, because its run ended before the call began. It still says who approved. */
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

/** The audit record of an approval that was never used. */
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

/**
 * The audit records of the calls that had asked a person when their run ended. The trail has the start of each call with side
 * effects, so it needs the end too. `given` are the records that the run itself brings.
 */
export function brokenOffRecords(
  pending: readonly AnyRecord[],
  given: readonly AuditRecord[],
  { runId, now }: FinishRun,
): AuditRecord[] {
  const ended = new Set(given.flatMap(({ kind, call }) => (kind === 'call_finished' ? [call] : [])))
  return pending.flatMap((wait) => {
    if (wait.wait !== 'approval' || wait.question === undefined || wait.question.held === true) return []
    if (wait.question.effect === 'read' || ended.has(wait.callId)) return []
    const { agent, sessionId, tool, callId, id } = wait
    const about = { session: sessionId, run: runId, agent, tool, call: callId }
    return [{ at: now, kind: 'call_finished', by: agent, ...about, details: { status: 'suspended', approval: id } }]
  })
}

/** The closed old question and the new one. Null if the old one was answered or has ended. */
export function replaceWait(
  old: AnyRecord | null,
  { approval, by, reason, at }: Pick<AskAgain, 'approval' | 'by' | 'reason' | 'at'>,
): { before: Approval; closed: Approval; asked: Approval } | null {
  if (old?.wait !== 'approval' || old.status !== 'pending' || isSupervised(old)) return null
  const { sessionId, owner, runId, callId, lane } = old
  return {
    before: old,
    closed: { ...old, status: 'interrupted', decidedAt: at, decidedBy: by, reason },
    asked: { ...approval, sessionId, owner, runId, callId, lane, status: 'pending' },
  }
}

/** The approvals before and after they are used up. Throws `conflict` unless each allows this call and is used only once. */
export function consumeApprovals(
  items: NonNullable<AppendEntries['consume']>,
  waits: ReadonlyMap<string, AnyRecord>,
): [before: Approval, used: Approval][] {
  const used = new Set<string>()
  return items.map(({ waitId, digest, at }) => {
    const wait = waits.get(waitId) ?? null
    if (wait?.wait !== 'approval' || wait.status !== 'approved' || wait.digest !== digest || used.has(waitId)) {
      const found =
        wait === null ? 'there is none' : wait.status === 'approved' ? 'it is for another call' : wait.status
      throw conflict(`Approval ${waitId} does not allow this call: ${found}.`)
    }
    used.add(waitId)
    return [wait, { ...wait, status: 'consumed', consumedAt: at }]
  })
}

/** Throws `conflict` if the run was asked to stop, if an earlier wait is no longer pending, or if a new one has a known id. */
export function refuseWaits(
  { runId, waits = [], stillPending = [] }: FinishRun,
  { cancelRequested }: Pick<RunRecord, 'cancelRequested'>,
  known: ReadonlyMap<string, AnyRecord>,
): void {
  if (cancelRequested) throw conflict(`Run ${runId} was asked to stop, so it cannot wait for an answer.`)
  for (const id of stillPending) {
    const wait = known.get(id)
    if (wait?.status !== 'pending' || wait.runId !== runId) {
      throw conflict(`Run ${runId} no longer waits for ${id}: it has been answered.`)
    }
  }
  const again = waits.find(({ id }, i) => known.has(id) || waits.findIndex((other) => other.id === id) < i)
  if (again !== undefined) throw taken('wait', again.id)
}

/**
 * The start without results that were not taken. Several people may send a result for one call; only the applied answer's
 * result stays. A rejected call has a result too if the rejection came with a text.
 */
export function withTakenResults(start: RunStart, answered: readonly Answered[] = []): RunStart {
  if (answered.length === 0) return start
  const calls = new Set(answered.flatMap(({ wait }) => (wait === null ? [] : [wait.callId])))
  const taken = new Set(appliedOf(answered).map(({ callId }) => callId))
  const isTaken = ({ role, toolCallId }: StoredMessage): boolean =>
    role !== 'tool' || toolCallId === undefined || !calls.has(toolCallId) || taken.delete(toolCallId)
  return calls.size === 0 ? start : { ...start, messages: start.messages.filter(isTaken) }
}

/** The results of the answered client calls, as messages of the run that took the answer. */
export function resultsOf(
  messages: readonly StoredMessage[],
  answered: readonly AnyRecord[],
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
    'The session waits for an answer. Answer it, or cancel the run that waits, then send this again.',
    { details: { run_id: runId } },
  )

export const waitNotFound = ({ waitId, outcome }: WaitAnswer): ServerError =>
  outcome.type === 'answered'
    ? new ServerError('tool_call_not_found', `This session does not wait for a tool call ${JSON.stringify(waitId)}.`)
    : new ServerError('approval_not_found', `This session has no approval ${JSON.stringify(waitId)}.`)

/** The grants whose approval was given, and the refusals whose approval was rejected. */
export const grantsOf = (applied: readonly AnyRecord[], grants: readonly Grant[] = []): Grant[] =>
  grants.filter(({ approvalId, effect }) => {
    const needed = effect === 'refuse' ? 'rejected' : 'approved'
    return applied.some(({ id, status }) => id === approvalId && status === needed)
  })

/** The audit records of the answered waits and the new grants. A yes that is not enough is on record as one. */
export function auditOf(
  applied: readonly AnyRecord[],
  made: readonly Grant[],
  records: Readonly<Record<string, AuditRecord>> = {},
): AuditRecord[] {
  const byId = new Map(Object.entries(records))
  const decided = applied.flatMap((wait) => {
    const record = byId.get(wait.id)
    if (record === undefined) return []
    return [wait.wait === 'approval' ? countedRecord(record, wait) : record]
  })
  return [...decided, ...made.flatMap(({ id }) => byId.get(id) ?? [])]
}
