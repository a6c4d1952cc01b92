import type { Entry, EntryKind } from '../domain/entry.ts'
import type { ServerError } from '../domain/errors.ts'
import type { TokenUsage } from '../domain/event.ts'
import type { StoredMessage } from '../domain/message.ts'
import type { RunError, RunRecord, RunStatus } from '../domain/run.ts'
import type { SessionRecord } from '../domain/session.ts'

/**
 * Durable memory of sessions. Every implementation passes `store.contract.ts`.
 *
 * Writes are data: the store assigns the sequence numbers, checks each command's guard and fence, and refuses a command
 * alone without failing its neighbours. Commands of one call are applied in order, in one transaction.
 */
export interface Store {
  /**
   * Applies the commands. When it resolves they survive the death of the process; when `synced` resolves those of the
   * synced class survive a power cut as well. Throws only when nothing was applied (`storage_full`, `storage_failed`).
   */
  commit(commands: readonly Command[]): Promise<Committed>

  /**
   * Entries after `seq`, in order, at most `limit`; the last may be a compacted one that reaches back over `seq`. With
   * `maxChars` none is added once there are that many characters of data: a reader that lags must not hold more.
   */
  entries(sessionId: string, seq: number, limit: number, maxChars?: number): Promise<StoredEntry[]>
  /** Seq of the session's last entry, 0 when it has none. */
  head(sessionId: string): Promise<number>

  session(id: string): Promise<SessionRecord | null>
  /** By the name the owner's client gave it. Deleted sessions have lost their name. */
  sessionByAlias(owner: string, alias: string): Promise<SessionRecord | null>
  /** Sessions that are not deleted, newest activity first, after the cursor. */
  sessions(query: SessionQuery): Promise<SessionRecord[]>
  /** Sessions with activity at or after `since`. */
  countSessions(since: number): Promise<number>
  /** Idle since before `before`, with finished runs not compacted yet. */
  sessionsToCompact(before: number, limit: number): Promise<string[]>

  run(id: string): Promise<RunRecord | null>
  runByWireId(sessionId: string, wireId: string): Promise<RunRecord | null>
  /** The newest run of this owner that the client called `wireId`. */
  ownersRun(owner: string, wireId: string): Promise<RunRecord | null>
  /** The run that is running or waiting, and those queued behind it in order. */
  openRuns(sessionId: string): Promise<RunRecord[]>
  /** Running runs whose process has no live lease, and queued ones with nothing before them. */
  orphans(now: number, limit: number): Promise<RunRecord[]>

  /** All runs of a session, in the order they were taken. */
  runs(sessionId: string): Promise<RunRecord[]>

  /** The newest `limit` messages before `before` (a message id), oldest first. Superseded ones are left out. */
  messages(sessionId: string, limit: number, before?: string): Promise<StoredMessage[]>
  /** Those of the ids that the session has, superseded or not. */
  knownMessages(sessionId: string, ids: readonly string[]): Promise<StoredMessage[]>
  /** Every message, superseded or not, oldest first. */
  allMessages(sessionId: string): Promise<StoredMessage[]>

  /** Proves that the store can read and write; throws `storage_failed` otherwise. */
  check(): Promise<void>
  close(): Promise<void>
}

/** An entry as stored. `spans` is set on a compacted one: the seq and the length in UTF-16 units of each delta in it. */
export interface StoredEntry extends Entry {
  spans?: readonly (readonly [seq: number, length: number])[]
}

export interface NewEntry {
  kind: EntryKind
  data: string
}

export interface SessionQuery {
  /** Everybody's when left out. */
  owner?: string
  /** Only those with this label; null: only those with none. */
  label?: string | null
  /** Also those that are left out of lists. */
  unlisted?: boolean
  limit: number
  /** Only those before this one in the list. */
  before?: { lastActivity: number; id: string }
}

export type Command =
  | AcceptRun
  | StartRun
  | AppendEntries
  | FinishRun
  | ClaimRun
  | ReleaseRun
  | RequestCancel
  | CreateSession
  | UpdateSession
  | DeleteSession
  | PurgeSessions
  | CompactSession
  | ImportSession
  | RenewLease

/** Synced. Takes a run into a session, creating the session if it is new; runs it, queues it, or finds the one that is already there. */
export interface AcceptRun {
  type: 'accept_run'
  /** Used when the session does not exist yet; `id` names the session in any case. */
  session: SessionRecord
  /** `status`, `fence`, `firstSeq`, `lastSeq` and `leaseOwner` are the store's to decide. */
  run: RunRecord
  leaseOwner: string
  onBusy: 'queue' | 'reject' | 'interrupt'
  maxQueued: number
  idempotency?: { key: string; digest: string; expiresAt: number }
  /** Merged key by key into the session's. */
  metadata?: Record<string, unknown>
  /** Refuses a new session beyond this many that are not terminated. */
  maxSessions: number | null
  /** Written in any case. */
  acceptEntries: readonly NewEntry[]
  /** Written when the run starts at once. */
  start: RunStart
}

/** What is written when a run begins to execute. */
export interface RunStart {
  entries: readonly NewEntry[]
  messages: readonly StoredMessage[]
  /** The client's shared state; undefined leaves the stored one. */
  state?: unknown
  /** Messages that follow this one are superseded by the run. */
  supersedeAfter?: string
}

/** Synced. queued → running; refused (`conflict`) when it is not queued or the session is busy. */
export interface StartRun {
  type: 'start_run'
  runId: string
  leaseOwner: string
  now: number
  start: RunStart
}

/** Text in flight, or (with `sync`) a fact or a tool's result. Refused (`run_fenced`) when the run has another owner or has ended. */
export interface AppendEntries {
  type: 'append'
  sessionId: string
  runId: string
  fence: number
  sync: boolean
  entries: readonly NewEntry[]
  messages?: readonly StoredMessage[]
  /** Replaces the session's shared state. */
  state?: unknown
  lastTool?: string
}

/** Synced. The end of a run, of its events and of its lease, in one. A queued run may end too. */
export interface FinishRun {
  type: 'finish_run'
  runId: string
  fence: number
  status: Extract<RunStatus, 'waiting' | 'completed' | 'failed' | 'cancelled' | 'interrupted'>
  now: number
  entries: readonly NewEntry[]
  messages: readonly StoredMessage[]
  usage: TokenUsage[]
  error: RunError | null
}

/** Synced. A new owner for a running run whose owner is gone; the next seq lies behind every one that may have been sent. */
export interface ClaimRun {
  type: 'claim_run'
  runId: string
  /** The fence that was seen; refused (`run_fenced`) when it has changed. */
  fence: number
  leaseOwner: string
  entries: readonly NewEntry[]
}

/** Synced. Gives a running run back, for whoever recovers it. */
export interface ReleaseRun {
  type: 'release_run'
  runId: string
  fence: number
}

/** Synced. Refused (`conflict`) when the run has ended. */
export interface RequestCancel {
  type: 'request_cancel'
  runId: string
  entries: readonly NewEntry[]
}

/** Synced. Refused (`conflict`) when the owner has one of that name. */
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

/** Removes what was idle or terminated before `before` (unlisted: `unlistedBefore`) and has no open run, and expired idempotency keys. */
export interface PurgeSessions {
  type: 'purge_sessions'
  /** Only sessions of this agent; all when left out. */
  agent?: string
  before: number | null
  unlistedBefore: number
  now: number
  limit: number
}

/** Replaces entries by seq: each new entry takes the place of the ones its spans name. */
export interface CompactSession {
  type: 'compact_session'
  sessionId: string
  /** Refused (`conflict`) when the log has grown behind it or a run is open. */
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
}

/** Says that this process lives until `until` (wall clock). */
export interface RenewLease {
  type: 'renew_lease'
  leaseOwner: string
  until: number
}

export interface Committed {
  /** One per command, in order. */
  results: Result[]
  /** Resolves when all commands of the synced class in this call are on disk; already resolved when there was none. Never rejects: a disk that fails to sync ends the process. */
  synced: Promise<void>
}

export type Result =
  | {
      ok: true
      /** Seq of the first entry that was appended, 0 when none was; the others follow without a gap. */
      firstSeq: number
      run?: RunRecord
      session?: SessionRecord
      /** `accept_run` only: found by its idempotency key or its wire id; nothing was written. */
      existing?: boolean
      /** `purge_sessions` only. */
      count?: number
    }
  | { ok: false; error: ServerError }

/** Which commands must reach the disk before they are acknowledged. */
export function needsSync(command: Command): boolean {
  switch (command.type) {
    case 'append':
      return command.sync
    case 'update_session':
    case 'purge_sessions':
    case 'compact_session':
    case 'renew_lease':
      return false
    default:
      return true
  }
}
