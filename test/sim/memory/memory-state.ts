// What the memory store knows, and the steps that its commands share. A state is a function of the commands that were applied
// to it, in order: opening a disk applies them again (`memory-disk.ts`). So a command's own objects are never changed.

import type { AuditEntry } from '../../../src/domain/audit.ts'
import { runNotFound, ServerError, sessionNotFound } from '../../../src/domain/errors.ts'
import type { FileRecord } from '../../../src/domain/file.ts'
import type { Grant } from '../../../src/domain/grant.ts'
import { countsAsMessage, type StoredMessage } from '../../../src/domain/message.ts'
import { isFinished, type RunRecord } from '../../../src/domain/run.ts'
import type { SessionRecord } from '../../../src/domain/session.ts'
import type { Wait } from '../../../src/domain/wait.ts'
import type { Result } from '../../../src/store/ports/command.ts'
import type { NewEntry, StoredEntry } from '../../../src/store/ports/entry.ts'

export type Done = Extract<Result, { ok: true }>

// Ids and names come from clients. Maps, not objects: "__proto__" must be an ordinary key.
export interface MemoryState {
  sessions: Map<string, MemorySession>
  /** In the order in which they were accepted. */
  runs: Map<string, RunRecord>
  /** Session ids by `nameOf(owner, alias)`. */
  aliases: Map<string, string>
  /** By `nameOf(owner, key)`. */
  idempotency: Map<string, { digest: string; expiresAt: number; runId: string }>
  /** Until when a process is known to live. */
  leases: Map<string, number>
  /** In the order in which they were written, as grants and the trail are. */
  waits: Map<string, Wait>
  grants: Map<string, Grant>
  /** In the order in which they came. */
  files: Map<string, FileRecord>
  audit: AuditEntry[]
}

export interface MemorySession {
  record: SessionRecord
  entries: StoredEntry[]
  /** In the order in which they were inserted. */
  messages: Map<string, StoredMessage>
  /** In the order in which they were accepted. */
  runs: RunRecord[]
  nextSeq: number
  /** No seq up to here is given out by whoever opens the disk next. */
  reservedTo: number
  /** Runs that ended at or before this seq are compacted. */
  compactedTo: number
}

/** How many seqs a running session reserves ahead. */
export const SEQ_BLOCK = 1_000

export const createMemoryState = (): MemoryState => ({
  sessions: new Map(),
  runs: new Map(),
  aliases: new Map(),
  idempotency: new Map(),
  leases: new Map(),
  waits: new Map(),
  grants: new Map(),
  files: new Map(),
  audit: [],
})

export const nameOf = (owner: string, name: string): string => JSON.stringify([owner, name])

/**
 * A new process. It cannot know what the one before it sent, so whoever writes first, a claim or another, goes on behind all
 * that was reserved; and the one before it is dead, whatever its lease says.
 */
export function reopenState(state: MemoryState): void {
  for (const session of state.sessions.values()) session.nextSeq = Math.max(session.nextSeq, session.reservedTo + 1)
  state.leases.clear()
}

export function findSession(state: MemoryState, id: string): MemorySession {
  const session = state.sessions.get(id)
  if (session === undefined || session.record.status === 'terminated') throw sessionNotFound(id)
  return session
}

export function findRun(state: MemoryState, id: string): { run: RunRecord; session: MemorySession } {
  const run = state.runs.get(id)
  const session = run === undefined ? undefined : state.sessions.get(run.sessionId)
  if (run === undefined || session === undefined) throw runNotFound(id)
  return { run, session }
}

/** The one that is running or waiting, and those queued behind it: a continuation comes before what was queued earlier. */
export function openRunsOf(session: MemorySession): RunRecord[] {
  const open = session.runs.filter((run) => !isFinished(run.status))
  const isQueued = (run: RunRecord): boolean => run.status === 'queued'
  return [...open.filter((run) => !isQueued(run)), ...open.filter(isQueued)]
}

export const headOf = (session: MemorySession): number => session.entries.at(-1)?.seq ?? 0

export function addSession(state: MemoryState, record: SessionRecord): MemorySession {
  const taken = state.sessions.has(record.id)
  if (taken || (record.alias !== null && state.aliases.has(nameOf(record.owner, record.alias)))) {
    throw new ServerError('conflict', `There is a session ${JSON.stringify(taken ? record.id : record.alias)} already.`)
  }
  const session: MemorySession = {
    record: { ...record },
    entries: [],
    messages: new Map(),
    runs: [],
    nextSeq: 1,
    reservedTo: 0,
    compactedTo: 0,
  }
  state.sessions.set(record.id, session)
  if (record.alias !== null) state.aliases.set(nameOf(record.owner, record.alias), record.id)
  return session
}

/** Returns the first seq, 0 for none. */
export function append(session: MemorySession, run: RunRecord, entries: readonly NewEntry[]): number {
  const firstSeq = entries.length === 0 ? 0 : session.nextSeq
  for (const { kind, data } of entries) {
    if (kind === 'event') run.firstSeq ??= session.nextSeq
    session.entries.push({ seq: session.nextSeq, runId: run.id, kind, data })
    session.nextSeq += 1
  }
  reserve(session)
  return firstSeq
}

/**
 * Call after every change to a session's log or to which of its runs is running. Only a running run has text in flight,
 * which a power cut may take back after readers saw it; without one, everything that was sent is on disk.
 */
export function reserve(session: MemorySession): void {
  const last = session.nextSeq - 1
  if (!session.runs.some((run) => run.status === 'running')) session.reservedTo = last
  else if (last >= session.reservedTo) session.reservedTo = last + SEQ_BLOCK
}

/** A message is inserted once: a recovered run repeats what it is not sure of. */
export function insertMessages(session: MemorySession, messages: readonly StoredMessage[]): void {
  for (const message of messages) {
    const known = session.messages.get(message.id)
    if (known?.role === 'activity' && message.role === 'activity') {
      // Where it was first shown, as it is now.
      const { activity: _, ...rest } = known
      const { activity } = message
      session.messages.set(message.id, activity === undefined ? rest : { ...rest, activity })
    }
    if (known !== undefined) continue
    session.messages.set(message.id, message)
    if (isShown(message) && countsAsMessage(message.role)) session.record.messageCount += 1
  }
}

export function supersede(session: MemorySession, after: string, byRun: string): void {
  if (!session.messages.has(after)) return
  let follows = false
  for (const message of session.messages.values()) {
    if (follows && message.supersededBy === undefined) {
      session.messages.set(message.id, { ...message, supersededBy: byRun })
      if (isShown(message) && countsAsMessage(message.role)) session.record.messageCount -= 1
    }
    follows ||= message.id === after
  }
}

/** In the session's own conversation: not superseded, not a sub-agent's. */
export const isShown = (message: StoredMessage): boolean =>
  message.supersededBy === undefined && message.lane === undefined

/** The wall clock may step back; a session's activity does not. */
export function touch(session: MemorySession, at: number): void {
  session.record.lastActivity = Math.max(session.record.lastActivity, at)
}
