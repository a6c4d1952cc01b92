// The life of a run from its start to its end. (`accept-run.ts` accepts it into its session.)

import { ServerError } from '../../domain/errors.ts'
import { present } from '../../domain/present.ts'
import type { AnyRecord } from '../../domain/records/record.ts'
import { countsAsMessage, type MessageMark, type StoredMessage } from '../../domain/session/message.ts'
import { hasFailed, isFinished, type RunRecord, START } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import { titleOf } from '../../domain/session/session-overview.ts'
import type { NewEntry } from '../ports/journal.ts'
import type {
  AcceptRun,
  AppendEntries,
  ClaimRun,
  FinishRun,
  ReleaseRun,
  RenewLease,
  RequestCancel,
  RunCommand,
  RunStart,
  StartRun,
} from '../ports/runs.ts'
import { conflict, findRun, findSession, findWaits } from './find-rows.ts'
import { ask, type Change, type Decision, decided, done, type Rule, type RulesOf, type SessionPatch } from './rows.ts'
import { usageRows } from './usage-rows.ts'
import {
  brokenOffRecords,
  consumeApprovals,
  interruptWait,
  refuseWaits,
  voidApproval,
  voidedRecord,
} from './wait-change.ts'

/** Whether a process executes the run. */
export const isExecuted = ({ status, leaseOwner }: RunRecord): boolean => status === 'running' && leaseOwner !== null

export const isOwned = (run: RunRecord, fence: number): boolean => isExecuted(run) && run.fence === fence

export const fenced = (runId: string): ServerError =>
  new ServerError('run_fenced', `Run ${runId} has ended or belongs to another process.`, {
    details: { run_id: runId },
  })

/** The run, if it is running under this fence. Otherwise throws `run_fenced`. */
export function ownedRun(run: RunRecord | null, { runId, fence }: { runId: string; fence: number }): RunRecord {
  if (run === null || !isOwned(run, fence)) throw fenced(runId)
  return run
}

/** Adds the entries to the changes. Returns the first seq, 0 without entries. */
export function* appendTo(
  changes: Change[],
  { sessionId, id }: { sessionId: string; id: string | null },
  entries: readonly NewEntry[],
  inFlight = false,
): Rule<number> {
  if (entries.length === 0) return 0
  const firstSeq = yield* ask('nextSeq', sessionId)
  changes.push({ write: 'append_entries', sessionId, runId: id, firstSeq, entries, inFlight })
  return firstSeq
}

/** Adds the messages to the changes. Returns how many of them the session counts as new messages. */
export function* insertMessages(
  changes: Change[],
  sessionId: string,
  messages: readonly StoredMessage[],
): Rule<number> {
  if (messages.length === 0) return 0
  const ids = messages.map(({ id }) => id)
  changes.push({ write: 'insert_messages', sessionId, messages })
  return countNew(messages, yield* ask('messageMarks', sessionId, ids))
}

/** How many of the messages count, without those that the session already has. */
export function countNew(messages: readonly StoredMessage[], known: readonly MessageMark[]): number {
  const seen = new Set(known.map(({ id }) => id))
  let count = 0
  for (const message of messages) {
    if (!seen.has(message.id) && isShown(message) && countsAsMessage(message.role)) count += 1
    seen.add(message.id)
  }
  return count
}

/** In the session's own conversation: not superseded, not a sub-agent's. */
const isShown = ({ supersededBy, lane }: MessageMark): boolean => supersededBy === undefined && lane === undefined

/** A queued run as it is when it begins. */
export const running = (run: RunRecord, leaseOwner: string, startedAt: number, firstSeq: number | null): RunRecord => ({
  ...run,
  status: 'running',
  startedAt,
  firstSeq,
  fence: run.fence + 1,
  leaseOwner,
})

/**
 * The message after which the run branches off, null for none. This depends on the rows of this moment: since the request was
 * sent, other runs may have branched off, or brought the same message.
 */
function branchPoint({ supersedeAfter, messages }: RunStart, known: readonly MessageMark[]) {
  const isKnown = (id: string): boolean => known.some((mark) => mark.id === id)
  const isThere = (id: string): boolean => known.some((mark) => mark.id === id && isShown(mark))
  const said = messages.findLast(({ role }) => role === 'user')?.id
  if (said !== undefined && isThere(said)) return said
  const brings = said !== undefined && !isKnown(said)
  if (
    (brings || said === undefined) &&
    (supersedeAfter === undefined || supersedeAfter === START || isThere(supersedeAfter))
  ) {
    return supersedeAfter ?? null
  }
  return brings ? null : LAST_USER_MESSAGE
}

const LAST_USER_MESSAGE = Symbol('the last user message')

/** Adds what a run writes when it begins, apart from its own row and its entries. Returns the changed session. */
export function* begin(
  changes: Change[],
  session: SessionRecord,
  runId: string,
  now: number,
  start: RunStart,
): Rule<SessionRecord> {
  const { messages, supersedeAfter, state } = start
  const ids = [...messages.map(({ id }) => id), ...(supersedeAfter === undefined ? [] : [supersedeAfter])]
  const known = ids.length === 0 ? [] : yield* ask('messageMarks', session.id, ids)
  const found = branchPoint(start, known)
  const point = found === LAST_USER_MESSAGE ? yield* ask('lastUserMessage', session.id) : found
  let messagesAdded = countNew(messages, known)
  if (point !== null) {
    messagesAdded -= (yield* ask('rolesAfter', session.id, point)).filter(countsAsMessage).length
    changes.push({ write: 'supersede_messages', sessionId: session.id, after: point, byRun: runId })
  }
  if (messages.length > 0) changes.push({ write: 'insert_messages', sessionId: session.id, messages })
  // A new session has this time already, and writing it costs three indexes.
  const lastActivity = now > session.lastActivity ? now : undefined
  const failure = session.failure === undefined ? undefined : null
  const patch = present({ lastActivity, messagesAdded, state, failure, grows: true as const })
  changes.push({ write: 'update_session', id: session.id, patch })
  return patched(session, patch)
}

/** The session as the patch leaves it. */
export function patched(session: SessionRecord, patch: SessionPatch): SessionRecord {
  const { lastActivity = 0, messagesAdded = 0, grows: _grows, ...values } = patch
  const { title = session.title, failure = session.failure } = patch
  return {
    ...session,
    ...values,
    title: title ?? undefined,
    failure: failure ?? undefined,
    lastActivity: Math.max(session.lastActivity, lastActivity),
    messageCount: session.messageCount + messagesAdded,
  }
}

function* startRun({ runId, leaseOwner, now, start }: StartRun): Rule<Decision> {
  const run = yield* findRun(runId)
  const open = yield* ask('openRuns', run.sessionId)
  const isBusy = open.some(({ status }) => status !== 'queued')
  if (run.status !== 'queued' || isBusy) {
    throw conflict(`Run ${run.id} cannot start: it is ${run.status}${isBusy ? ' and its session is busy' : ''}.`)
  }
  const changes: Change[] = []
  const firstSeq = yield* appendTo(changes, run, start.entries)
  const record = running(run, leaseOwner, now, firstSeq === 0 ? null : firstSeq)
  changes.push({ write: 'update_run', before: run, run: record })
  const session = yield* begin(changes, yield* findSession(run.sessionId), run.id, now, start)
  return { result: { ok: true, firstSeq, run: record, session }, changes }
}

/** The command has nothing but text. Every chunk of a model is such a command, so a store may write it after `ownedRun` alone. */
export const isTextAlone = (command: AppendEntries): boolean =>
  !command.sync &&
  command.consume === undefined &&
  command.waits === undefined &&
  command.audit === undefined &&
  command.messages === undefined &&
  command.state === undefined &&
  command.lastTool === undefined &&
  command.activeAgent === undefined &&
  command.entries.length > 0

function* appendEntries(command: AppendEntries): Rule<Decision> {
  const { sessionId, runId, fence, entries, sync, messages = [], consume = [], audit = [] } = command
  if (!(yield* ask('isExecuted', sessionId, runId, fence))) throw fenced(runId)
  const ids = consume.map(({ waitId }) => waitId)
  const waits = yield* findWaits(ids, sessionId)
  const used = consumeApprovals(consume, waits)
  for (const grant of command.grants ?? []) if (!(yield* ask('hasGrant', grant))) throw grantGone(grant)
  const changes: Change[] = []
  const firstSeq = yield* appendTo(changes, { sessionId, id: runId }, entries, !sync)
  if (isTextAlone(command)) return { result: { ok: true, firstSeq }, changes }
  const messagesAdded = yield* insertMessages(changes, sessionId, messages)
  const { state, lastTool, activeAgent } = command
  const patch = present({ messagesAdded: messagesAdded || undefined, state, lastTool, activeAgent })
  if (Object.keys(patch).length > 0) changes.push({ write: 'update_session', id: sessionId, patch })
  for (const [before, wait] of used) changes.push({ write: 'update_wait', before, wait })
  for (const wait of command.waits ?? []) {
    changes.push({ write: 'insert_wait', wait: { ...wait, runId, sessionId } })
  }
  if (audit.length > 0) changes.push({ write: 'add_audit', records: audit })
  return { result: { ok: true, firstSeq }, changes }
}

export const grantGone = (grant: string): ServerError =>
  new ServerError('conflict', `Grant ${grant} does not allow this call any more.`, { details: { grant } })

/** The run, if the command may end it. Otherwise throws `run_fenced`. */
function* endingRun(command: FinishRun): Rule<RunRecord> {
  const run = yield* findRun(command.runId)
  if (isOwned(run, command.fence)) return run
  // A queued or waiting run has no owner. Whoever saw its last state may end it.
  const isIdle = run.status === 'queued' || (run.status === 'waiting' && command.status !== 'waiting')
  if (!isIdle || run.fence !== command.fence) throw fenced(run.id)
  return run
}

function* finishRun(command: FinishRun): Rule<Decision> {
  const { status, now, entries, messages, waits = [], stillPending = [], usage, error } = command
  const run = yield* endingRun(command)
  if (status === 'waiting') {
    const ids = [...stillPending, ...waits.map(({ id }) => id)]
    refuseWaits(command, run, yield* findWaits(ids))
  }
  const changes: Change[] = []
  const firstSeq = yield* appendTo(changes, run, entries)
  // A waiting run that ends without entries keeps its last seq: other runs may have written after it.
  const lastSeq = firstSeq > 0 ? firstSeq + entries.length - 1 : (run.lastSeq ?? (yield* ask('head', run.sessionId)))
  const ended: RunRecord = {
    ...run,
    status,
    finishedAt: now,
    firstSeq: run.firstSeq ?? (firstSeq === 0 ? null : firstSeq),
    lastSeq,
    usage,
    error,
    leaseOwner: null,
  }
  const messagesAdded = yield* insertMessages(changes, run.sessionId, messages)
  const failure = hasFailed(status) ? titleOf(error?.message ?? '') : null
  changes.push({ write: 'update_session', id: run.sessionId, patch: { lastActivity: now, messagesAdded, failure } })
  if (status === 'waiting') {
    for (const wait of waits) {
      changes.push({ write: 'insert_wait', wait: { ...wait, runId: run.id, sessionId: run.sessionId } })
    }
  }
  yield* endWaits(changes, command)
  changes.push({ write: 'update_run', before: run, run: ended })
  if (command.key !== undefined) {
    // A store replaces only a key that it was asked for.
    yield* ask('idempotencyKey', run.owner, command.key)
    const value = { digest: '', runId: run.id, expiresAt: NEVER }
    changes.push({ write: 'put_key', owner: run.owner, key: command.key, value })
  }
  // A run that waited ends a second time, with the same usage.
  const used = run.status === 'waiting' ? [] : usageRows(ended, now, command.model ?? UNKNOWN_MODEL)
  if (used.length > 0) changes.push({ write: 'add_usage', rows: used })
  return { result: { ok: true, firstSeq, run: ended }, changes }
}

/** Adds to the changes that what the run had asked is interrupted, and that what it was allowed and has not done is void. */
function* endWaits(changes: Change[], command: FinishRun): Rule<void> {
  const { runId, status, now, audit: given = [] } = command
  const pending = status === 'waiting' ? [] : yield* ask('pendingWaits', runId)
  interruptWaits(changes, pending, now)
  const unused = yield* ask('unusedApprovals', runId)
  for (const before of unused) changes.push({ write: 'update_wait', before, wait: voidApproval(before, command) })
  const records = [
    ...given,
    ...brokenOffRecords(pending, given, command),
    ...unused.map((approval) => voidedRecord(approval, command)),
  ]
  if (records.length > 0) changes.push({ write: 'add_audit', records })
}

/**
 * Adds to the changes that the session's runs stop: one that waits ends here, as on the wire it has ended already. Whoever executes
 * another one, or begins it, finds that it is to stop.
 */
export function* stopRuns(changes: Change[], sessionId: string, now: number): Rule<void> {
  for (const { id } of yield* ask('openRuns', sessionId)) {
    const before = yield* findRun(id)
    const run: RunRecord = { ...before, cancelRequested: true }
    if (before.status !== 'waiting') changes.push({ write: 'update_run', before, run })
    else {
      const { fence, usage } = before
      yield* endWaits(changes, {
        ...{
          type: 'finish_run',
          runId: id,
          fence,
          status: 'cancelled',
          now,
          entries: [],
          messages: [],
          usage,
          error: null,
        },
      })
      changes.push({
        write: 'update_run',
        before,
        run: { ...run, status: 'cancelled', finishedAt: now, leaseOwner: null },
      })
    }
  }
}

/** Whoever ends the run of another process does not know its agent. */
const UNKNOWN_MODEL = { provider: '', model: '' }

/** The end of the year 9999. */
const NEVER = 253_402_300_799_999

/** Adds to the changes that nobody can answer these waits any more. */
export function interruptWaits(changes: Change[], pending: readonly AnyRecord[], at: number): void {
  for (const before of pending) changes.push({ write: 'update_wait', before, wait: interruptWait(before, at) })
}

function* claimRun({ runId, fence, leaseOwner, entries }: ClaimRun): Rule<Decision> {
  const run = yield* findRun(runId)
  if (run.status !== 'running' || run.fence !== fence) throw fenced(run.id)
  const changes: Change[] = []
  const firstSeq = yield* appendTo(changes, run, entries)
  const record: RunRecord = { ...run, fence: fence + 1, leaseOwner }
  changes.push({ write: 'update_run', before: run, run: record })
  return { result: { ok: true, firstSeq, run: record }, changes }
}

function* releaseRun(command: ReleaseRun): Rule<Decision> {
  const before = ownedRun(yield* ask('run', command.runId), command)
  const run: RunRecord = { ...before, fence: before.fence + 1, leaseOwner: null }
  return done([{ write: 'update_run', before, run }])
}

function* requestCancel({ runId, entries }: RequestCancel): Rule<Decision> {
  const run = yield* findRun(runId)
  if (isFinished(run.status)) throw conflict(`Run ${run.id} has already ended as ${run.status}.`)
  const changes: Change[] = []
  const firstSeq = yield* appendTo(changes, run, entries)
  // Nothing else will move the end of a waiting run's entries.
  const lastSeq = run.status === 'waiting' && firstSeq > 0 ? firstSeq + entries.length - 1 : run.lastSeq
  const record: RunRecord = { ...run, cancelRequested: true, lastSeq }
  changes.push({ write: 'update_run', before: run, run: record })
  return { result: { ok: true, firstSeq, run: record }, changes }
}

function renewLease({ leaseOwner: owner, until, endOthers = false }: RenewLease): Rule<Decision> {
  const renewal: Change = { write: 'renew_lease', owner, until }
  return decided(endOthers ? [{ write: 'end_other_leases', owner }, renewal] : [renewal])
}

export const runRules: RulesOf<Exclude<RunCommand, AcceptRun>> = {
  start_run: startRun,
  append: appendEntries,
  finish_run: finishRun,
  claim_run: claimRun,
  release_run: releaseRun,
  request_cancel: requestCancel,
  renew_lease: renewLease,
}
