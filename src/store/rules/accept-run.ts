// Accepts a run: a new one, the continuation of a waiting one, or one that is there already.

import { ServerError, sessionNotFound } from '../../domain/errors.ts'
import type { AnyRecord, WaitAnswer } from '../../domain/records/record.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import { refuseStopped, refuseSupervised, type SessionRecord } from '../../domain/session/session.ts'
import type { Done } from '../ports/command.ts'
import type { AcceptRun } from '../ports/runs.ts'
import type { Answered } from '../ports/waits.ts'
import { conflict, findRun, findSession, findWaits, refuseFiles } from './find-rows.ts'
import { ask, type Change, type Decision, type Rule } from './rows.ts'
import { appendTo, begin, insertMessages, interruptWaits, patched, running } from './run-rules.ts'
import {
  appliedOf,
  applyAnswers,
  approvalPending,
  passedOn,
  resultsOf,
  settledOf,
  waitNotFound,
  withTakenResults,
} from './wait-change.ts'
import { completeRun, leftPending, recordAnswers } from './wait-rules.ts'

export function* acceptRun(command: AcceptRun): Rule<Decision> {
  const { run, idempotency, files = [], answers = [] } = command
  const byKey = idempotency === undefined ? null : yield* findByKey(run.owner, idempotency, run.createdAt)
  if (byKey !== null) return yield* repeated(command, byKey)

  const known = yield* findKnown(command.session)
  if (known !== null && (known.owner !== run.owner || known.status === 'terminated')) {
    throw sessionNotFound(command.session.id)
  }
  refuseSupervised(known)
  const same = known === null ? null : yield* ask('runByWireId', known.id, run.wireId)
  if (same !== null) return yield* repeated(command, same)
  if (command.onlyRepeat) throw conflict('This request did not come before.')
  if (known === null) yield* refuseBeyond(command.maxSessions)
  if (files.length > 0) yield* refuseFiles(files, run.owner, known?.id ?? null)

  const open = known === null ? [] : yield* ask('openRuns', known.id)
  if (command.unchanged) refuseChanged(command, known, open)
  const waitingRunId = open.find(({ status }) => status === 'waiting')?.id ?? null
  const [answer] = answers
  if (answer !== undefined) {
    if (known === null) throw waitNotFound(answer)
    return yield* acceptAnswers(command, known, waitingRunId, answer)
  }
  refuseStopped(known)
  const changes: Change[] = []
  if (waitingRunId !== null) {
    const completed = yield* abandon(changes, command, waitingRunId)
    return yield* takeIn(changes, command, known, { completed })
  }
  refuseBusy(command, open)
  return open.length === 0 ? yield* takeIn(changes, command, known) : yield* enqueue(command, known)
}

function* findByKey(
  owner: string,
  { key, digest }: NonNullable<AcceptRun['idempotency']>,
  now: number,
): Rule<RunRecord | null> {
  const used = yield* ask('idempotencyKey', owner, key)
  if (used === null || used.expiresAt <= now) return null
  if (used.digest !== digest) {
    throw new ServerError(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another request body. Use a new key for a new request.',
    )
  }
  return yield* findRun(used.runId)
}

/** Finds the session by id or by name: two first requests with one name must not create two sessions. */
function* findKnown({ id, owner, alias }: SessionRecord): Rule<SessionRecord | null> {
  const session = yield* ask('session', id)
  return session ?? (alias === null ? null : yield* ask('sessionByAlias', owner, alias))
}

/** The same request came before. Nothing is written, and its answers are not applied again. */
function* repeated({ answers }: AcceptRun, run: RunRecord): Rule<Decision> {
  const session = yield* findSession(run.sessionId)
  if (answers === undefined) return { result: existing(run, session), changes: [] }
  const ids = answers.map(({ waitId }) => waitId)
  const waits = yield* findWaits(ids, run.sessionId)
  const answered = ids.map((id) => ({ applied: false, wait: waits.get(id) ?? null }))
  return { result: { ...existing(run, session), answered }, changes: [] }
}

const existing = (run: RunRecord, session: SessionRecord): Done => ({
  ok: true,
  firstSeq: 0,
  existing: true,
  run,
  session,
})

function* refuseBeyond(maxSessions: number | null): Rule<void> {
  if (maxSessions !== null && (yield* ask('sessionCount')) >= maxSessions) {
    throw new ServerError('too_many_sessions', `The server holds ${maxSessions} sessions, which is its limit.`)
  }
}

function refuseBusy({ onBusy, maxQueued }: AcceptRun, open: readonly Pick<RunRecord, 'status'>[]): void {
  if (open.length === 0) return
  if (onBusy === 'reject') throw new ServerError('run_in_progress', 'The session is busy with another run.')
  if (open.filter(({ status }) => status === 'queued').length >= maxQueued) {
    throw new ServerError('queue_full', `${maxQueued} runs already wait in this session.`)
  }
}

function refuseChanged(
  { session }: AcceptRun,
  known: SessionRecord | null,
  open: readonly Pick<RunRecord, 'status'>[],
): void {
  const isSame = known?.messageCount === session.messageCount && open.every(({ status }) => status === 'waiting')
  if (!isSame) throw conflict('The session has changed since it was read.')
}

/** Gives up what the session waits for. Throws if a person has to answer, or if the command says `refuse`. */
function* abandon(changes: Change[], { run, whenWaiting }: AcceptRun, waitingRunId: string): Rule<RunRecord> {
  const pending = yield* ask('pendingWaits', waitingRunId)
  if (whenWaiting === 'refuse' || pending.some(({ wait }) => wait === 'approval')) throw approvalPending(waitingRunId)
  interruptWaits(changes, pending, run.createdAt)
  return completeRun(changes, yield* findRun(waitingRunId), run.createdAt)
}

/** Completes the waiting run and continues with this one, or leaves the answers to the run that has or had them. */
function* acceptAnswers(
  command: AcceptRun,
  session: SessionRecord,
  waitingRunId: string | null,
  firstAnswer: WaitAnswer,
): Rule<Decision> {
  const { run, answers = [], start } = command
  const ids = answers.map(({ waitId }) => waitId)
  const waits = yield* findWaits(ids, session.id)
  const takenBy = (wait: AnyRecord): string => (wait.runId === waitingRunId ? run.id : wait.runId)
  const answered = applyAnswers(answers, waits, takenBy)
  const applied = appliedOf(answered)
  const [settled] = settledOf(applied)
  const takerId = (settled ?? applied[0])?.runId
  if (takerId === undefined) {
    const taker = yield* earlierTaker(answered, firstAnswer)
    return { result: { ...existing(taker, session), answered }, changes: [] }
  }
  const changes: Change[] = []
  yield* recordAnswers(changes, waits, applied, command)
  const taker = yield* findRun(takerId)
  // A yes that is not enough starts nothing: its run waits on.
  if (settled === undefined || takerId !== waitingRunId) {
    const results = resultsOf(start.messages, applied, takerId)
    const messagesAdded = yield* insertMessages(changes, session.id, results)
    const patch = { lastActivity: run.createdAt, messagesAdded }
    changes.push({ write: 'update_session', id: session.id, patch })
    return { result: { ...existing(taker, patched(session, patch)), answered }, changes }
  }
  for (const before of yield* leftPending(takerId, applied)) {
    changes.push({ write: 'update_wait', before, wait: { ...before, runId: run.id } })
  }
  const completed = completeRun(changes, taker, run.createdAt)
  return yield* takeIn(changes, command, session, { completed, answered: passedOn(answered, takerId, run.id) })
}

/** All answers came too late: finds the run that took the first of them. */
function* earlierTaker(answered: readonly Answered[], firstAnswer: WaitAnswer): Rule<RunRecord> {
  const wait = answered.find((one) => one.wait !== null)?.wait
  if (wait == null) throw waitNotFound(firstAnswer)
  return yield* findRun(wait.continuationRunId ?? wait.runId)
}

/** The run starts at once. */
function* takeIn(
  changes: Change[],
  command: AcceptRun,
  known: SessionRecord | null,
  continuation: Pick<Done, 'completed' | 'answered'> = {},
): Rule<Decision> {
  const { run, acceptEntries } = command
  const start = withTakenResults(command.start, continuation.answered)
  const { session, queued } = admit(changes, command, known)
  const entries = [...acceptEntries, ...start.entries]
  const firstSeq = yield* appendTo(changes, queued, entries)
  const startSeq = start.entries.length === 0 ? null : firstSeq + acceptEntries.length
  const record = running(queued, command.leaseOwner, run.createdAt, startSeq)
  changes.push({ write: 'insert_run', run: record })
  const begun = yield* begin(changes, session, run.id, run.createdAt, start)
  return {
    result: { ok: true, firstSeq, existing: false, run: record, session: begun, ...continuation },
    changes,
  }
}

/** The run waits for its turn. */
function* enqueue(command: AcceptRun, known: SessionRecord | null): Rule<Decision> {
  const changes: Change[] = []
  const { session, queued } = admit(changes, command, known)
  const firstSeq = yield* appendTo(changes, queued, command.acceptEntries)
  changes.push({ write: 'insert_run', run: queued })
  const patch = { lastActivity: queued.createdAt }
  changes.push({ write: 'update_session', id: session.id, patch })
  return { result: { ok: true, firstSeq, existing: false, run: queued, session: patched(session, patch) }, changes }
}

/** Adds what every accepted run brings: its session or metadata for it, its idempotency key, its files. */
function admit(
  changes: Change[],
  { run, session: given, metadata: added, idempotency, files = [] }: AcceptRun,
  known: SessionRecord | null,
): { session: SessionRecord; queued: RunRecord } {
  const before = known ?? given
  const session = added === undefined ? before : { ...before, metadata: { ...before.metadata, ...added } }
  if (known === null) changes.push({ write: 'insert_session', session })
  else if (added !== undefined) {
    changes.push({ write: 'update_session', id: session.id, patch: { metadata: session.metadata } })
  }
  if (idempotency !== undefined) {
    const { key, digest, expiresAt } = idempotency
    changes.push({ write: 'put_key', owner: run.owner, key, value: { digest, runId: run.id, expiresAt } })
  }
  if (files.length > 0) changes.push({ write: 'attach_files', ids: files, sessionId: session.id })
  const queued: RunRecord = {
    ...run,
    sessionId: session.id,
    status: 'queued',
    fence: 0,
    leaseOwner: null,
    firstSeq: null,
    lastSeq: null,
  }
  return { session, queued }
}
