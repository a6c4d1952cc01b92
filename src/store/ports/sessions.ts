// Reads of sessions, and the commands that create, change and remove them.

import type { AnyRecord } from '../../domain/records/record.ts'
import type { TokenUsage } from '../../domain/session/event.ts'
import type { FileRecord } from '../../domain/session/file.ts'
import type { Feedback, FeedbackValue, StoredMessage } from '../../domain/session/message.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type {
  SessionActivity,
  SessionKind,
  SessionOrder,
  SessionOverview,
} from '../../domain/session/session-overview.ts'
import type { ChannelNote } from '../../domain/supervision/delivery.ts'
import type { Grant } from '../../domain/supervision/grant.ts'
import type { Checkpoint, Instruction, PolicyPin, Proposal } from '../../domain/supervision/supervision.ts'
import type { NewEntry, StoredEntry } from './journal.ts'
import type { UsageRow } from './usage.ts'

export type SessionCommand = CreateSession | UpdateSession | DeleteSession | PurgeSessions | CompactSession
export type ImportCommand = ImportSession | ImportRecords

export interface SessionReads {
  get(id: string): Promise<SessionRecord | null>
  /** Finds a session by the name that the owner's client gave it. A deleted session has no name. */
  byAlias(owner: string, alias: string): Promise<SessionRecord | null>
  /** Sessions that are not deleted, in the order that is asked for, without their state. */
  list(query: SessionQuery): Promise<SessionRecord[]>
  /** How many sessions the list has in all; at most `MOST_COUNTED` are counted. */
  countFound(query: Omit<SessionQuery, 'order' | 'limit' | 'before'>): Promise<number>
  /** What lists show of these sessions beyond their records, in the order of the ids. Unknown and deleted sessions are left out. */
  overview(ids: readonly string[]): Promise<SessionOverview[]>
  /** How many sessions were active, or looked at, at or after `since`. */
  count(since: number): Promise<number>
  /** Ids of sessions that have been idle since before `before` and have finished runs that are not compacted yet. */
  toCompact(before: number, limit: number): Promise<string[]>
}

export interface SessionQuery {
  /** Absent: sessions of all owners. */
  owner?: string
  /** Only sessions with this label. Null: only sessions without a label. */
  label?: string | null
  /** Only sessions that belong to this agent. */
  agent?: string
  kind?: SessionKind
  activity?: SessionActivity
  /** Only sessions with an answer of which somebody thinks so. */
  feedback?: FeedbackValue
  /** Only sessions that were last active at or after this time, and at or before that time. Epoch ms. */
  since?: number
  until?: number
  /** Includes sessions that are marked as unlisted. */
  unlisted?: boolean
  /** Absent: newest first. */
  order?: SessionOrder
  limit: number
  /** The last session of the page before. Only sessions that come after it in the list. A list by tokens needs its tokens. */
  before?: { lastActivity: number; id: string; tokens?: number } | undefined
}

/** Synced. Refused (`conflict`) if the owner has a session with the same name. */
export interface CreateSession {
  type: 'create_session'
  session: SessionRecord
}

/** Synced if it has entries. */
export interface UpdateSession {
  type: 'update_session'
  sessionId: string
  lastRead?: number
  /** What a person names it. Null: it has its automatic title again. */
  title?: string | null
  /** Takes the place of what the same person said about the same answer. Refused (`message_not_found`) if the session has no such message. */
  feedback?: FeedbackChange
  /** Refused (`conflict`) unless it extends the newest one, and what it covers is still part of the conversation. */
  summary?: NewSummary
  /** Facts outside a run. */
  entries?: readonly NewEntry[]
  metadata?: Record<string, unknown>
  state?: unknown
}

export interface NewSummary {
  /** In the lane `SUMMARIES`. */
  message: StoredMessage
  /** Id of the last message that it covers. */
  upTo: string
  /** Id of the summary that it extends; null: it is the first. */
  after: string | null
  /** What the model took for it. It counts for this agent, and for no run. */
  usage: readonly TokenUsage[]
  agent: string
}

/** Null takes it back. */
export type FeedbackChange = Omit<Feedback, 'value'> & { value: FeedbackValue | null }

/** Synced. Leaves a tombstone without content. Refused (`conflict`) while a run is open. Deleting a session twice does nothing. */
export interface DeleteSession {
  type: 'delete_session'
  sessionId: string
  now: number
}

/**
 * Synced. Removes sessions without an open run that were idle or terminated before `before` (unlisted ones: `unlistedBefore`).
 * Also removes expired idempotency keys and grants, files that were uploaded before `unsentBefore` and never sent, and old
 * items of the feed and of the usage.
 */
export interface PurgeSessions {
  type: 'purge_sessions'
  /** Only sessions of this agent of ours: an agent elsewhere may call itself by the same name; absent: of all agents. */
  agent?: string | undefined
  /** Only sessions of agents elsewhere, whatever they call themselves. */
  elsewhere?: true
  before: number | null
  unlistedBefore: number
  unsentBefore: number
  now: number
  limit: number
}

/** Each new entry replaces the entries that its spans name. */
export interface CompactSession {
  type: 'compact_session'
  sessionId: string
  /** Seq of the last entry that was read. Refused (`conflict`) if the log has grown since, or a run is open. */
  head: number
  /** In order. */
  entries: readonly StoredEntry[]
  /** Other commands bring the rest of the log. Until the last of them, the session stays due. */
  isPart?: boolean
}

/** Synced. Adds a whole session from an export. Refused (`conflict`) if it exists, or a record of it does. */
export interface ImportSession {
  type: 'import_session'
  session: SessionRecord
  runs: readonly RunRecord[]
  messages: readonly StoredMessage[]
  entries: readonly StoredEntry[]
  waits?: readonly AnyRecord[]
  /** The bytes are kept already. */
  files?: readonly FileRecord[]
  proposals?: readonly Proposal[]
  instructions?: readonly Instruction[]
  checkpoints?: readonly Checkpoint[]
  notes?: readonly ChannelNote[]
  feedback?: readonly Feedback[]
}

/** Synced. Adds records from an export that belong to no session. Refused (`conflict`) as a whole if one of them exists, except pins. */
export interface ImportRecords {
  type: 'import_records'
  grants?: readonly Grant[]
  /** Tasks that wait for an agent. */
  instructions?: readonly Instruction[]
  /** Replace those of the same workspaces. */
  pins?: readonly PolicyPin[]
  usage?: readonly UsageRow[]
  /** Of places that are no channels. */
  notes?: readonly ChannelNote[]
}
