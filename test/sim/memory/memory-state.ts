// The state of the memory store. It depends only on the commands that were applied, in order. Opening a disk applies them again
// (`memory-disk.ts`).

import type { AnyRecord } from '../../../src/domain/records/record.ts'
import type { FeedItem } from '../../../src/domain/session/feed.ts'
import type { FileRecord } from '../../../src/domain/session/file.ts'
import type { Feedback, StoredMessage } from '../../../src/domain/session/message.ts'
import { isFinished, type RunRecord } from '../../../src/domain/session/run.ts'
import type { SessionRecord } from '../../../src/domain/session/session.ts'
import type { AuditEntry } from '../../../src/domain/supervision/audit.ts'
import type { ChannelNote, QueuedDelivery } from '../../../src/domain/supervision/delivery.ts'
import type { Grant } from '../../../src/domain/supervision/grant.ts'
import type { Checkpoint, Instruction, PolicyPin, Proposal } from '../../../src/domain/supervision/supervision.ts'
import type { StoredEntry } from '../../../src/store/ports/journal.ts'
import type { InstructionQuery } from '../../../src/store/ports/supervised.ts'
import type { UsageRow } from '../../../src/store/ports/usage.ts'

// Ids and names come from clients. Maps, not objects: "__proto__" must be an ordinary key.
export interface MemoryState {
  sessions: Map<string, MemorySession>
  /** In the order in which they were accepted. */
  runs: Map<string, RunRecord>
  /** Session ids by `nameOf(owner, alias)`. */
  aliases: Map<string, string>
  /** By `nameOf(owner, key)`. */
  idempotency: Map<string, { digest: string; expiresAt: number; runId: string }>
  /** Until when each process is known to be alive. */
  leases: Map<string, number>
  /** Waits, grants and audit entries are in the order in which they were written. */
  waits: Map<string, AnyRecord>
  grants: Map<string, Grant>
  /** In the order of their upload. */
  files: Map<string, FileRecord>
  proposals: Map<string, Proposal & { sessionId: string }>
  /** In the order in which they were written. */
  instructions: Map<string, Instruction>
  checkpoints: Map<string, Checkpoint>
  /** By workspace. */
  pins: Map<string, PolicyPin>
  audit: AuditEntry[]
  /** Chains of other stores, by their ids. */
  importedAudit: Map<string, AuditEntry[]>
  usage: UsageRow[]
  /** How many batches of the disk the state includes. */
  batches: number
  /** Each item with the number of its batch. */
  feed: { item: FeedItem; batch: number }[]
  /** By the name of the channel. */
  outboxes: Map<string, { cursor: number; deliveries: QueuedDelivery[] }>
  /** What people think of answers. */
  feedback: (Feedback & { sessionId: string })[]
  /** What channels remember for themselves. */
  notes: ChannelNote[]
}

export interface MemorySession {
  record: SessionRecord
  entries: StoredEntry[]
  /** In the order in which they were inserted. */
  messages: Map<string, StoredMessage>
  /** In the order in which they were accepted. */
  runs: RunRecord[]
  nextSeq: number
  /** The next process that opens the disk uses no seq up to here. */
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
  proposals: new Map(),
  instructions: new Map(),
  checkpoints: new Map(),
  pins: new Map(),
  audit: [],
  importedAudit: new Map(),
  usage: [],
  batches: 0,
  feed: [],
  outboxes: new Map(),
  notes: [],
  feedback: [],
})

export const nameOf = (owner: string, name: string): string => JSON.stringify([owner, name])

/**
 * A new process opens the disk. It cannot know what the process before it sent, so the first write continues after all reserved
 * seqs.
 */
export function reopenState(state: MemoryState): void {
  for (const session of state.sessions.values()) session.nextSeq = Math.max(session.nextSeq, session.reservedTo + 1)
}

/** The run that is running or waiting, then the queued ones. A continuation comes before runs that were queued earlier. */
export function openRunsOf(session: MemorySession): RunRecord[] {
  const open = session.runs.filter((run) => !isFinished(run.status))
  const isQueued = (run: RunRecord): boolean => run.status === 'queued'
  return [...open.filter((run) => !isQueued(run)), ...open.filter(isQueued)]
}

export const headOf = (session: MemorySession): number => session.entries.at(-1)?.seq ?? 0

/**
 * Call it after every change to a session's log or to its running run. Only a running run has text in flight, which a power cut
 * may take after readers saw it. Without a running run, everything that readers saw is on disk.
 */
export function reserve(session: MemorySession): void {
  const last = session.nextSeq - 1
  if (!session.runs.some((run) => run.status === 'running')) session.reservedTo = last
  else if (last >= session.reservedTo) session.reservedTo = last + SEQ_BLOCK
}

/** As a query asks for them, oldest first. */
export function instructionsOf(state: MemoryState, query: InstructionQuery): Instruction[] {
  const { kind, sessionId, workspace, isWaiting = false, limit } = query
  return [...state.instructions.values()]
    .filter((one) => kind === undefined || one.kind === kind)
    .filter((one) => sessionId === undefined || one.sessionId === sessionId)
    .filter((one) => workspace === undefined || (one.owner === workspace.owner && one.workspaceRoot === workspace.root))
    .filter((one) => !isWaiting || (one.deliveredAt === null && (workspace === undefined || one.sessionId === null)))
    .slice(0, limit)
}

/** In the session's own conversation: not superseded, not a sub-agent's. */
export const isShown = (message: StoredMessage): boolean =>
  message.supersededBy === undefined && message.lane === undefined

export const isGrantedAt = (grant: Grant, now: number): boolean => grant.expiresAt === null || grant.expiresAt > now
