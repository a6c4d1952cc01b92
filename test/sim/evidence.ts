// What the checkers are given: the history, and the log that is left, read from the disk and not through the engine.

import type { AgentDefinition } from '../../src/domain/agent/agent.ts'
import type { AnyRecord } from '../../src/domain/records/record.ts'
import type { Entry, Fact } from '../../src/domain/session/entry.ts'
import type { RunEvent } from '../../src/domain/session/event.ts'
import type { FeedItem } from '../../src/domain/session/feed.ts'
import type { StoredMessage } from '../../src/domain/session/message.ts'
import type { RunRecord } from '../../src/domain/session/run.ts'
import type { SessionStatus } from '../../src/domain/session/session.ts'
import type { AuditEntry } from '../../src/domain/supervision/audit.ts'
import type { Grant } from '../../src/domain/supervision/grant.ts'
import type { Supervision } from '../../src/domain/supervision/supervision.ts'
import type { StoredEntry } from '../../src/store/ports/journal.ts'
import { withoutCompaction } from './disk-history.ts'
import type { ElsewhereWorld } from './elsewhere/world.ts'
import type { Faults } from './faults.ts'
import type { Finding, History } from './history.ts'
import type { HostedWorld } from './hosted/world.ts'
import { type MemoryDisk, replay } from './memory/memory-disk.ts'

export interface Evidence {
  history: History
  faults: Faults
  definition: AgentDefinition
  /** What the trial's clients and their readers had not finished when it ended. */
  unfinished: readonly string[]
  sessions: ReadonlyMap<string, SessionEvidence>
  runs: ReadonlyMap<string, RunRecord>
  waits: ReadonlyMap<string, AnyRecord>
  grants: ReadonlyMap<string, Grant>
  audit: readonly AuditEntry[]
  feed: readonly FeedItem[]
  /** Every commit that is left, in order. */
  disk: MemoryDisk
  /** Null: nobody worked elsewhere in this trial. */
  elsewhere: ElsewhereWorld | null
  /** Null: the agent of this trial has a model. */
  hosted: HostedWorld | null
}

export interface SessionEvidence {
  id: string
  status: SessionStatus
  /** Of an agent elsewhere. */
  supervision: Supervision | null
  /** As it was written, before any compaction. */
  log: readonly ReadEntry[]
  /** As it is stored now. */
  stored: readonly (ReadEntry & StoredEntry)[]
  messages: readonly StoredMessage[]
  runs: readonly RunRecord[]
}

/** An entry with its text parsed, as what it is. */
export type ReadEntry = Entry & ({ kind: 'event'; event: RunEvent } | { kind: 'fact'; fact: Fact })

/** A judge of one promise. */
export interface Checker {
  name: string
  /** What is wrong, one sentence each; nothing when the promise was kept. */
  check(evidence: Evidence): string[]
}

export function readDisk(
  disk: MemoryDisk,
): Pick<Evidence, 'sessions' | 'runs' | 'waits' | 'grants' | 'audit' | 'feed' | 'disk'> {
  const now = replay(disk)
  const written = replay(withoutCompaction(disk))
  const sessions = new Map<string, SessionEvidence>()
  for (const [id, session] of now.sessions) {
    sessions.set(id, {
      id,
      status: session.record.status,
      supervision: session.record.supervision ?? null,
      log: (written.sessions.get(id)?.entries ?? []).map(parse),
      stored: session.entries.map(parse),
      messages: [...session.messages.values()],
      runs: session.runs,
    })
  }
  const { runs, waits, grants, audit } = now
  return { sessions, runs, waits, grants, audit, feed: now.feed.map(({ item }) => item), disk }
}

export const judge = (checkers: readonly Checker[], evidence: Evidence): Finding[] =>
  checkers.flatMap(({ name, check }) => check(evidence).map((message) => ({ checker: name, message })))

function parse<E extends Entry>(entry: E): E & ReadEntry {
  const { kind } = entry
  return kind === 'event'
    ? { ...entry, kind, event: JSON.parse(entry.data) }
    : { ...entry, kind, fact: JSON.parse(entry.data) }
}

/** A run's entries in a log. */
export const entriesOf = <E extends Entry>(log: readonly E[], runId: string): E[] =>
  log.filter((entry) => entry.runId === runId)

export const eventsIn = (log: readonly ReadEntry[]): RunEvent[] =>
  log.flatMap((entry) => (entry.kind === 'event' ? [entry.event] : []))
export const factsIn = (log: readonly ReadEntry[]): Fact[] =>
  log.flatMap((entry) => (entry.kind === 'fact' ? [entry.fact] : []))
