// The commands of runs. Each checks its guard before it changes anything, so that a refused one leaves no trace.

import { ServerError, sessionNotFound } from '../../../src/domain/errors.ts'
import { isFinished, type RunRecord } from '../../../src/domain/run.ts'
import type { SessionRecord } from '../../../src/domain/session.ts'
import type {
  AcceptRun,
  AppendEntries,
  ClaimRun,
  FinishRun,
  ReleaseRun,
  RequestCancel,
  RunStart,
  StartRun,
} from '../../../src/store/ports/runs.ts'
import { refuseFiles } from '../../../src/store/sendable-files.ts'
import { refuseWaits, waitNotFound, withTakenResults } from '../../../src/store/wait-change.ts'
import { attachFiles } from './apply-file.ts'
import { addAudit, consume, continueWaiting, interruptWaits, voidUnused, waitOf } from './apply-wait.ts'
import {
  addSession,
  append,
  type Done,
  findRun,
  findSession,
  insertMessages,
  isShown,
  type MemorySession,
  type MemoryState,
  nameOf,
  openRunsOf,
  reserve,
  supersede,
  touch,
} from './memory-state.ts'

export function acceptRun(state: MemoryState, command: AcceptRun): Done {
  const earlier = findByKey(state, command)
  if (earlier !== null) return repeated(state, command, earlier, findSession(state, earlier.sessionId))

  const known = state.sessions.get(command.session.id) ?? findByAlias(state, command.session)
  if (known !== undefined && (known.record.owner !== command.run.owner || known.record.status === 'terminated')) {
    throw sessionNotFound(command.session.id)
  }
  const same = known?.runs.find((run) => run.wireId === command.run.wireId)
  if (known !== undefined && same !== undefined) return repeated(state, command, same, known)

  const { files = [] } = command
  const findFile = (id: string) => state.files.get(id) ?? null
  refuseFiles(files, findFile, command.run.owner, known?.record.id ?? null)
  const [answer] = command.answers ?? []
  if (known === undefined) {
    refuseBeyond(state, command.maxSessions)
    if (answer !== undefined) throw waitNotFound(answer)
  }
  const continued = known === undefined ? {} : continueWaiting(state, known, command)
  if (known !== undefined && 'taker' in continued) {
    return { ...existing(continued.taker, known), answered: continued.answered }
  }
  const goesOn = 'completed' in continued
  if (known !== undefined && !goesOn) refuseBusy(known, command)

  const session = known ?? addSession(state, command.session)
  const run: RunRecord = {
    ...command.run,
    sessionId: session.record.id,
    status: 'queued',
    startedAt: null,
    fence: 0,
    leaseOwner: null,
    firstSeq: null,
    lastSeq: null,
  }
  const busy = !goesOn && openRunsOf(session).length > 0
  state.runs.set(run.id, run)
  session.runs.push(run)
  if (command.idempotency !== undefined) {
    const { key, digest, expiresAt } = command.idempotency
    state.idempotency.set(nameOf(run.owner, key), { digest, expiresAt, runId: run.id })
  }
  if (command.metadata !== undefined) {
    session.record.metadata = { ...session.record.metadata, ...command.metadata }
  }
  attachFiles(state, files, session.record.id)
  touch(session, run.createdAt)
  const acceptedAt = append(session, run, command.acceptEntries)
  const start = withTakenResults(command.start, 'answered' in continued ? continued.answered : [])
  const startedAt = busy ? 0 : begin(session, run, command.leaseOwner, run.createdAt, start)
  return { ok: true, firstSeq: acceptedAt || startedAt, run, session: session.record, ...continued }
}

/** Nothing is written for it: what it would answer stays as it is. */
function repeated(state: MemoryState, { answers }: AcceptRun, run: RunRecord, session: MemorySession): Done {
  const found = existing(run, session)
  if (answers === undefined) return found
  return { ...found, answered: answers.map(({ waitId }) => ({ applied: false, wait: waitOf(state, session, waitId) })) }
}

function findByKey(state: MemoryState, { run, idempotency }: AcceptRun): RunRecord | null {
  if (idempotency === undefined) return null
  const used = state.idempotency.get(nameOf(run.owner, idempotency.key))
  if (used === undefined || used.expiresAt <= run.createdAt) return null
  if (used.digest !== idempotency.digest) {
    throw new ServerError(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another request body. Use a new key for a new request.',
    )
  }
  return findRun(state, used.runId).run
}

/** Two first requests under one name must not make two sessions. */
function findByAlias(state: MemoryState, { owner, alias }: SessionRecord): MemorySession | undefined {
  const id = alias === null ? undefined : state.aliases.get(nameOf(owner, alias))
  return id === undefined ? undefined : state.sessions.get(id)
}

const existing = (run: RunRecord, session: MemorySession): Done => ({
  ok: true,
  firstSeq: 0,
  existing: true,
  run,
  session: session.record,
})

function refuseBeyond(state: MemoryState, maxSessions: number | null): void {
  if (maxSessions === null) return
  const held = state.sessions.values().filter(({ record }) => record.status !== 'terminated')
  if (held.reduce((count) => count + 1, 0) >= maxSessions) {
    throw new ServerError('too_many_sessions', `The server holds ${maxSessions} sessions, its limit.`)
  }
}

function refuseBusy(session: MemorySession, { onBusy, maxQueued }: AcceptRun): void {
  const open = openRunsOf(session)
  if (open.length === 0) return
  if (onBusy === 'reject') throw new ServerError('run_in_progress', 'The session is busy with another run.')
  if (open.filter((run) => run.status === 'queued').length >= maxQueued) {
    throw new ServerError('queue_full', `${maxQueued} runs already wait in this session.`)
  }
}

/** Where the run branches off now: since it was asked for, others may have branched, or said the same. */
function branchPoint(session: MemorySession, { supersedeAfter, messages }: RunStart): string | undefined {
  const shown = [...session.messages.values()].filter(isShown)
  const isThere = (id: string) => shown.some((one) => one.id === id)
  const said = messages.findLast(({ role }) => role === 'user')?.id
  const brings = said !== undefined && !session.messages.has(said)
  if (said !== undefined && isThere(said)) return said
  if ((brings || said === undefined) && (supersedeAfter === undefined || isThere(supersedeAfter))) return supersedeAfter
  return brings ? undefined : shown.findLast(({ role }) => role === 'user')?.id
}

function begin(session: MemorySession, run: RunRecord, leaseOwner: string, now: number, start: RunStart): number {
  run.status = 'running'
  run.startedAt = now
  run.fence += 1
  run.leaseOwner = leaseOwner
  const point = branchPoint(session, start)
  if (point !== undefined) supersede(session, point, run.id)
  insertMessages(session, start.messages)
  if (start.state !== undefined) session.record.state = start.state
  touch(session, now)
  return append(session, run, start.entries)
}

export function startRun(state: MemoryState, command: StartRun): Done {
  const { run, session } = findRun(state, command.runId)
  const busy = openRunsOf(session).some((other) => other.status !== 'queued')
  if (run.status !== 'queued' || busy) {
    throw new ServerError('conflict', `Run ${run.id} cannot start: it is ${run.status}, or its session is busy.`)
  }
  const firstSeq = begin(session, run, command.leaseOwner, command.now, command.start)
  return { ok: true, firstSeq, run }
}

export function appendEntries(state: MemoryState, command: AppendEntries): Done {
  const { run, session } = findRun(state, command.runId)
  if (!owns(run, command.fence) || run.sessionId !== command.sessionId) throw fenced(run)
  if (command.consume !== undefined) consume(state, session, command.consume)
  const firstSeq = append(session, run, command.entries)
  insertMessages(session, command.messages ?? [])
  if (command.state !== undefined) session.record.state = command.state
  if (command.lastTool !== undefined) session.record.lastTool = command.lastTool
  if (command.activeAgent !== undefined) session.record.activeAgent = command.activeAgent
  addAudit(state, command.audit ?? [])
  return { ok: true, firstSeq }
}

export function finishRun(state: MemoryState, command: FinishRun): Done {
  const { run, session } = findRun(state, command.runId)
  // A queued or waiting run has no owner to write for it: whoever saw it last may end it.
  const idle = (run.status === 'queued' || run.status === 'waiting') && run.fence === command.fence
  const again = run.status === 'waiting' && command.status === 'waiting'
  if (again || !(idle || owns(run, command.fence))) throw fenced(run)
  if (command.status === 'waiting') refuseWaits(command, run, (id) => state.waits.get(id) ?? null)
  const firstSeq = append(session, run, command.entries)
  run.status = command.status
  run.finishedAt = command.now
  run.usage = command.usage
  run.error = command.error
  run.leaseOwner = null
  run.lastSeq = session.entries.findLast((entry) => entry.runId === run.id)?.seq ?? null
  insertMessages(session, command.messages)
  touch(session, command.now)
  if (command.status !== 'waiting') interruptWaits(state, run.id, command.now)
  else
    for (const wait of command.waits ?? [])
      state.waits.set(wait.id, { ...wait, runId: run.id, sessionId: run.sessionId })
  addAudit(state, [...(command.audit ?? []), ...voidUnused(state, command)])
  reserve(session)
  return { ok: true, firstSeq, run }
}

export function claimRun(state: MemoryState, command: ClaimRun): Done {
  const { run, session } = findRun(state, command.runId)
  if (run.status !== 'running' || run.fence !== command.fence) throw fenced(run)
  run.fence += 1
  run.leaseOwner = command.leaseOwner
  const firstSeq = append(session, run, command.entries)
  return { ok: true, firstSeq, run }
}

export function releaseRun(state: MemoryState, command: ReleaseRun): Done {
  const { run } = findRun(state, command.runId)
  if (!owns(run, command.fence)) throw fenced(run)
  run.leaseOwner = null
  return { ok: true, firstSeq: 0, run }
}

export function requestCancel(state: MemoryState, command: RequestCancel): Done {
  const { run, session } = findRun(state, command.runId)
  if (isFinished(run.status)) throw new ServerError('conflict', `Run ${run.id} has already ended as ${run.status}.`)
  run.cancelRequested = true
  const firstSeq = append(session, run, command.entries)
  // One that waits has no other end to come that would say where its entries end.
  if (run.status === 'waiting' && firstSeq > 0) run.lastSeq = session.nextSeq - 1
  return { ok: true, firstSeq, run }
}

const owns = (run: RunRecord, fence: number): boolean =>
  run.status === 'running' && run.leaseOwner !== null && run.fence === fence

const fenced = (run: RunRecord): ServerError =>
  new ServerError('run_fenced', `Run ${run.id} has ended or belongs to another process.`, {
    details: { run_id: run.id },
  })
