// What can be asked about sessions, and the commands that make, change and remove them.

import type { StoredMessage } from '../../domain/message.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { Wait } from '../../domain/wait.ts'
import type { StoredEntry } from './entry.ts'

export interface SessionReads {
  get(id: string): Promise<SessionRecord | null>
  /** By the name that the owner's client gave it. A deleted session has lost its name. */
  byAlias(owner: string, alias: string): Promise<SessionRecord | null>
  /** Sessions that are not deleted, newest activity first. They come without their state. */
  list(query: SessionQuery): Promise<SessionRecord[]>
  /** How many sessions were active at or after `since`. */
  count(since: number): Promise<number>
  /** Ids of sessions that have been idle since before `before` and have finished runs that are not compacted yet. */
  toCompact(before: number, limit: number): Promise<string[]>
}

export interface SessionQuery {
  /** All owners when left out. */
  owner?: string
  /** Only sessions with this label; null: only sessions without one. */
  label?: string | null
  /** Includes sessions that are marked as unlisted. */
  unlisted?: boolean
  limit: number
  /** Where the last page ended: only sessions that come after this one in the list. */
  before?: { lastActivity: number; id: string }
}

/** Synced. Refused (`conflict`) when the owner has a session of that name. */
export interface CreateSession {
  type: 'create_session'
  session: SessionRecord
}

export interface UpdateSession {
  type: 'update_session'
  sessionId: string
  lastActivity?: number
  metadata?: Record<string, unknown>
  state?: unknown
}

/** Synced. Leaves a tombstone without content; refused (`conflict`) while a run is open. Deleting it again does nothing. */
export interface DeleteSession {
  type: 'delete_session'
  sessionId: string
  now: number
}

/**
 * Synced. Removes sessions that were idle or terminated before `before` (unlisted ones: `unlistedBefore`) and have no open run, expired
 * idempotency keys and grants, files that were uploaded before `unsentBefore` and never sent, and old items of the feed.
 */
export interface PurgeSessions {
  type: 'purge_sessions'
  /** Only sessions of this agent; all when left out. */
  agent?: string
  before: number | null
  unlistedBefore: number
  unsentBefore: number
  now: number
  limit: number
}

/** Replaces entries by seq: each new entry takes the place of the entries that its spans name. */
export interface CompactSession {
  type: 'compact_session'
  sessionId: string
  /** Refused (`conflict`) when the log has grown past it or a run is open. */
  head: number
  entries: readonly StoredEntry[]
}

/** Synced. A whole session as exported; refused (`conflict`) when it exists. */
export interface ImportSession {
  type: 'import_session'
  session: SessionRecord
  runs: readonly RunRecord[]
  messages: readonly StoredMessage[]
  entries: readonly StoredEntry[]
  waits?: readonly Wait[]
}
