// Answers to what runs wait for, the grants that come with them, and the audit trail.

import type { AuditRecord } from '../../../src/domain/audit.ts'
import { ServerError } from '../../../src/domain/errors.ts'
import type { Grant } from '../../../src/domain/grant.ts'
import type { RunRecord } from '../../../src/domain/run.ts'
import type { Wait } from '../../../src/domain/wait.ts'
import { EMPTY_CHAIN, nextEntry } from '../../../src/store/audit-chain.ts'
import type { AcceptRun, AppendEntries, FinishRun } from '../../../src/store/ports/runs.ts'
import type { Answered, AskAgain, RevokeGrant, SettleWaits } from '../../../src/store/ports/waits.ts'
import {
  appliedOf,
  applyAnswers,
  approvalPending,
  auditOf,
  consumeApprovals,
  grantsOf,
  interruptWait,
  passedOn,
  replaceWait,
  resultsOf,
  voidApproval,
  voidedRecord,
  waitNotFound,
} from '../../../src/store/wait-change.ts'
import { type Done, findRun, insertMessages, type MemorySession, type MemoryState, touch } from './memory-state.ts'

/** What the session's waits make of a run: it is the continuation of one that they complete, or there is no need for it. */
export type Continuation =
  | { completed?: RunRecord; answered?: readonly Answered[] }
  | { taker: RunRecord; answered: readonly Answered[] }

/** Throws where the session waits and the run must not be taken; changes nothing then. */
export function continueWaiting(state: MemoryState, session: MemorySession, command: AcceptRun): Continuation {
  const waitingRun = session.runs.find((run) => run.status === 'waiting')
  if (command.answers !== undefined && command.answers.length > 0) {
    return takeAnswers(state, session, command, waitingRun)
  }
  if (waitingRun === undefined) return {}
  const asks = pendingOf(state, waitingRun.id).some(({ wait }) => wait === 'approval')
  if (command.whenWaiting === 'refuse' || asks) throw approvalPending(waitingRun.id)
  interruptWaits(state, waitingRun.id, command.run.createdAt)
  return { completed: complete(waitingRun, command.run.createdAt) }
}

function takeAnswers(
  state: MemoryState,
  session: MemorySession,
  command: AcceptRun,
  waitingRun: RunRecord | undefined,
): Continuation {
  const { answers = [], run } = command
  const answered = applyAnswers(
    answers,
    (id) => waitOf(state, session, id),
    (wait) => (wait.runId === waitingRun?.id ? run.id : wait.runId),
  )
  const applied = appliedOf(answered)
  const [first] = applied
  if (first === undefined) return { taker: earlierTaker(state, answers, answered), answered }
  recordAnswers(state, applied, command)
  if (first.runId !== waitingRun?.id) {
    insertMessages(session, resultsOf(command.start.messages, applied, first.runId))
    touch(session, run.createdAt)
    return { taker: findRun(state, first.runId).run, answered }
  }
  for (const wait of pendingOf(state, waitingRun.id)) state.waits.set(wait.id, { ...wait, runId: run.id })
  return {
    completed: complete(waitingRun, run.createdAt),
    answered: passedOn(answered, waitingRun.id, run.id),
  }
}

/** A wait as this session may know it. */
export function waitOf(state: MemoryState, session: MemorySession, id: string): Wait | null {
  const wait = state.waits.get(id)
  return wait?.sessionId === session.record.id ? wait : null
}

function earlierTaker(
  state: MemoryState,
  answers: NonNullable<AcceptRun['answers']>,
  answered: readonly Answered[],
): RunRecord {
  const wait = answered.find((one) => one.wait !== null)?.wait
  if (wait != null) return findRun(state, wait.continuationRunId ?? wait.runId).run
  const [first] = answers
  throw first === undefined ? new Error('There is no answer.') : waitNotFound(first)
}

function recordAnswers(
  state: MemoryState,
  applied: readonly Wait[],
  extras: Pick<AcceptRun, 'grants' | 'answerAudit'>,
): void {
  for (const wait of applied) state.waits.set(wait.id, wait)
  const made = grantsOf(applied, extras.grants).filter(({ id }) => !state.grants.has(id))
  for (const grant of made) state.grants.set(grant.id, grant)
  addAudit(state, auditOf(applied, made, extras.answerAudit))
}

/** The run has ended on the wire already; now it has for good. */
function complete(run: RunRecord, at: number): RunRecord {
  run.status = 'completed'
  run.finishedAt = at
  return run
}

export const pendingOf = (state: MemoryState, runId: string): Wait[] =>
  [...state.waits.values()].filter((wait) => wait.runId === runId && wait.status === 'pending')

export function interruptWaits(state: MemoryState, runId: string, at: number): void {
  for (const wait of pendingOf(state, runId)) state.waits.set(wait.id, interruptWait(wait, at))
}

/** Approvals that were given to the run and that it has not used; what the trail says about them. */
export function voidUnused(state: MemoryState, command: FinishRun): AuditRecord[] {
  const unused = [...state.waits.values()].flatMap((wait) =>
    wait.wait === 'approval' && wait.continuationRunId === command.runId && wait.status === 'approved' ? [wait] : [],
  )
  for (const approval of unused) state.waits.set(approval.id, voidApproval(approval, command))
  return unused.map((approval) => voidedRecord(approval, command))
}

/** Throws `conflict`, and consumes none, unless all of them can be. */
export function consume(
  state: MemoryState,
  session: MemorySession,
  items: NonNullable<AppendEntries['consume']>,
): void {
  const used = consumeApprovals(items, (id) => waitOf(state, session, id))
  for (const approval of used) state.waits.set(approval.id, approval)
}

export function settleWaits(state: MemoryState, command: SettleWaits): Done {
  const runOf = (wait: Wait): RunRecord => findRun(state, wait.runId).run
  const answered = applyAnswers(
    command.answers,
    (id) => state.waits.get(id) ?? null,
    (wait) => (runOf(wait).status === 'waiting' ? null : wait.runId),
  )
  const applied = appliedOf(answered)
  recordAnswers(state, applied, command)
  const left = [...new Set(applied.map(runOf))].filter(
    (run) => run.status === 'waiting' && pendingOf(state, run.id).length === 0,
  )
  const [completed] = left.map((run) => complete(run, command.now))
  return { ok: true, firstSeq: 0, answered, ...(completed === undefined ? {} : { completed }) }
}

export function askAgain(state: MemoryState, command: AskAgain): Done {
  const old = state.waits.get(command.waitId) ?? null
  const replaced = replaceWait(old, command)
  if (replaced === null) return { ok: true, firstSeq: 0, answered: [{ applied: false, wait: old }] }
  for (const wait of [replaced.closed, replaced.asked]) state.waits.set(wait.id, wait)
  addAudit(state, command.audit)
  return { ok: true, firstSeq: 0, answered: [{ applied: true, wait: replaced.asked }] }
}

export function revokeGrant(state: MemoryState, command: RevokeGrant): Done {
  if (!state.grants.delete(command.grantId)) {
    throw new ServerError(
      'conflict',
      `There is no grant ${JSON.stringify(command.grantId)}; it has been revoked or has expired.`,
    )
  }
  addAudit(state, [command.audit])
  return { ok: true, firstSeq: 0 }
}

export function addAudit(state: MemoryState, records: readonly AuditRecord[]): void {
  for (const record of records) {
    const last = state.audit.at(-1)
    const end = last === undefined ? EMPTY_CHAIN : { n: last.n, head: last.hash }
    state.audit.push(nextEntry(end, JSON.stringify(record)))
  }
}

export const isGrantedAt = (grant: Grant, now: number): boolean => grant.expiresAt === null || grant.expiresAt > now
