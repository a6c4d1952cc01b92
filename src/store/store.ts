import type { AuditEntry, AuditRecord } from '../domain/audit.ts'
import type { Entry, EntryKind } from '../domain/entry.ts'
import type { ServerError } from '../domain/errors.ts'
import type { TokenUsage } from '../domain/event.ts'
import type { FileRecord, UnsentFiles } from '../domain/file.ts'
import type { Grant } from '../domain/grant.ts'
import type { MessageMark, StoredMessage } from '../domain/message.ts'
import type { RunError, RunRecord, RunStatus, RunSummary } from '../domain/run.ts'
import type { SessionRecord } from '../domain/session.ts'
import type { Approval, Wait, WaitAnswer } from '../domain/wait.ts'

/** How many messages of sub-agents and activities are read at once beside a page of messages. */
export const MOST_ASIDES = 500
/** As many as fit in what a reader is shown at once. An activity alone may have a million. */
export const MOST_ASIDE_CHARS = 4 * 1024 * 1024

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
  /** Sessions that are not deleted, newest activity first, after the cursor. They come without their state. */
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
  /** The newest `limit` runs of a session that were taken before `before` (a run's id), newest first. */
  latestRuns(sessionId: string, limit: number, before?: string): Promise<RunSummary[]>

  /**
   * The newest `limit` messages before `before` (a message id), oldest first. Superseded ones and those of sub-agents are left out.
   * With `maxChars` no older one is added once there are that many characters: at least one message, and never all of a long
   * history at once. With `asides` also what stands between and behind them: messages of sub-agents and activities, the newest
   * 500 and none older once there are 4 MiB of them; they count neither as messages nor as characters.
   */
  messages(
    sessionId: string,
    limit: number,
    before?: string,
    maxChars?: number,
    asides?: boolean,
  ): Promise<StoredMessage[]>
  /** The newest `limit` messages of one sub-agent, oldest first; superseded ones are left out. */
  laneMessages(sessionId: string, lane: string, limit: number): Promise<StoredMessage[]>
  /** Those of the ids that the session has, superseded or not. */
  knownMessages(sessionId: string, ids: readonly string[]): Promise<StoredMessage[]>
  /** The same without what they say, oldest first: a client can name a long history in a short request. */
  messageMarks(sessionId: string, ids: readonly string[]): Promise<MessageMark[]>
  /** Whether a user message follows this one in the session's own conversation; superseded ones do not count. */
  userSpokeAfter(sessionId: string, messageId: string): Promise<boolean>
  /** Every message, superseded or not, sub-agents' too, oldest first. */
  allMessages(sessionId: string): Promise<StoredMessage[]>

  wait(id: string): Promise<Wait | null>
  /** Newest first, after the cursor. */
  waits(query: WaitQuery): Promise<Wait[]>
  /** Pending ones whose time was up at `now`, oldest first. */
  expiredWaits(now: number, limit: number): Promise<Wait[]>
  grant(id: string): Promise<Grant | null>
  /** Those that have not expired at `now`, oldest first: of one agent where it is named, and of one session and all sessions where that is named. */
  grants(query: { now: number; agent?: string; sessionId?: string }): Promise<Grant[]>
  file(id: string): Promise<FileRecord | null>
  /** In the order in which they came. */
  filesOf(sessionId: string): Promise<FileRecord[]>
  unsentFiles(owner: string): Promise<UnsentFiles>
  /** Those of the hashes that a file has. */
  knownHashes(hashes: readonly string[]): Promise<string[]>

  /** The audit trail after entry `n`, in order. */
  audit(n: number, limit: number): Promise<AuditEntry[]>

  /** Proves that the store can read and write; throws `storage_failed` otherwise. */
  check(): Promise<void>
  /** Nothing happens just now: lets go of what is held for speed alone. Whoever comes next brings it back. */
  rest(): void
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

export interface WaitQuery {
  wait?: Wait['wait']
  sessionId?: string
  runId?: string
  /** Those whose answer this run took: started with it, or was given it while it ran. */
  continuationRunId?: string
  owner?: string
  status?: Wait['status']
  limit: number
  /** Only those before this one in the list. */
  before?: { createdAt: number; id: string }
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
  | SettleWaits
  | AskAgain
  | RevokeGrant
  | AddAudit
  | AddFile
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
  /**
   * Files that come with the run's messages: they belong to the session from now on. One that is not there, belongs to another
   * session or is another owner's is refused (`file_not_found`), with the run. Where no run is taken none is taken along.
   */
  files?: readonly string[]
  /**
   * Answers to what the session waits for. Each is applied if its wait is pending and has not expired (an `expired` answer
   * needs no time to be up), and belongs to this session; the others do nothing. When none is applied no run is taken:
   * `existing` is the run that took the first of them (its continuation; without one, the run it belongs to).
   * When one is applied and the session's waiting run is the one it belonged to, that run is completed, its waits that are
   * still pending pass to this run, and this run starts at once, whatever is queued. When the run is not waiting but running
   * (it took an earlier answer), the answer is recorded for it, no run is taken and `existing` is that run; of the messages
   * that this one brings, the results of the client calls that are answered are written as that run's. A result for a
   * call whose answer is not applied is not written.
   * Where none is applied and the session has none of these waits, it is refused (`approval_not_found`, `tool_call_not_found`).
   */
  answers?: readonly WaitAnswer[]
  /** Made with the answer of that wait, if it is applied and approves. */
  grants?: readonly Grant[]
  /** Written for each answer that is applied, by wait id; and for each grant that is made, by its id. */
  answerAudit?: Readonly<Record<string, AuditRecord>>
  /**
   * What a run without answers finds when the session waits: refused with `approval_pending`; or, if it waits for client
   * calls alone, those are interrupted, the waiting run is completed and this one starts, whatever is queued.
   */
  whenWaiting: 'refuse' | 'abandon'
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
  /**
   * If the session has the last user message among them already, the run answers that anew, or, if that is superseded, the last one
   * that the session shows: what follows it is superseded.
   */
  messages: readonly StoredMessage[]
  /** The client's shared state; undefined leaves the stored one. */
  state?: unknown
  /**
   * Messages that follow this one are superseded by the run. If it is superseded itself when the run begins: none, or those that
   * follow the last user message where the run brings no other.
   */
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

/** Text in flight, or (with `sync`, `consume` or `audit`) a fact or a tool's result. Refused (`run_fenced`) when the run has another owner or has ended. */
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
  /** The agent that answers in this session from now on; null: the session's own again. */
  activeAgent?: string | null
  /**
   * Approvals of this session that are used up by what this writes, at `at`. Refused (`conflict`) unless each is approved and
   * has this digest: that of the edited arguments where the answer edited them.
   */
  consume?: readonly { waitId: string; digest: string; at: number }[]
  audit?: readonly AuditRecord[]
}

/**
 * Synced. The end of a run, of its events and of its lease, in one. A queued or waiting run may end too. Ending it otherwise
 * than as `waiting` interrupts the waits that are still pending on it. Approvals that it took and did not use are void, however
 * it ends: they are interrupted, and the audit trail says so. A run that was asked to stop does not become a waiting one
 * (`conflict`).
 */
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
  /** `waiting` only: what it waits for from now on. */
  waits?: readonly Wait[]
  /** `waiting` only: earlier waits that it still waits for. Refused (`conflict`) when one has been answered. */
  stillPending?: readonly string[]
  audit?: readonly AuditRecord[]
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

/**
 * Synced. Answers that start no run (see `AcceptRun.answers`); a waiting run that is left with nothing pending is completed.
 */
export interface SettleWaits {
  type: 'settle_waits'
  answers: readonly WaitAnswer[]
  /** Written for each answer that is applied, by wait id. */
  answerAudit?: Readonly<Record<string, AuditRecord>>
  now: number
}

/**
 * Synced. A question in the place of one that does not fit any more. The pending one is interrupted, and the same run waits for
 * the new one. Where it is not pending any more nothing is done; `answered` has the one wait and says which.
 */
export interface AskAgain {
  type: 'ask_again'
  waitId: string
  /** Its session and its run are the old one's. */
  approval: Approval
  /** Who or what closes the old one, and why. */
  by: string
  reason: string
  at: number
  audit: readonly AuditRecord[]
}

/** Synced. Refused (`conflict`) when there is one of that id, and (`session_not_found`) when it names a session that its owner has not. */
export interface AddFile {
  type: 'add_file'
  file: FileRecord
}

/** Synced. Refused (`conflict`) when there is no such grant. */
export interface RevokeGrant {
  type: 'revoke_grant'
  grantId: string
  audit: AuditRecord
}

/** Synced. For what changes nothing in the store itself. */
export interface AddAudit {
  type: 'add_audit'
  audit: readonly AuditRecord[]
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

/** Removes what was idle or terminated before `before` (unlisted: `unlistedBefore`) and has no open run; expired idempotency keys and grants; and files that came before `unsentBefore` and were never sent. */
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
  waits?: readonly Wait[]
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
      /** `accept_run` only: found by its idempotency key, its wire id or its answers; no run was taken. */
      existing?: boolean
      /** For each answer, in order: whether it was applied, and the wait as it is now (null: there is none, or not in this session). */
      answered?: readonly Answered[]
      /** The waiting run that the command completed: by an answer, or because its client calls were given up. */
      completed?: RunRecord
      /** `purge_sessions` only. */
      count?: number
    }
  | { ok: false; error: ServerError }

export interface Answered {
  applied: boolean
  wait: Wait | null
}

/** Which commands must reach the disk before they are acknowledged. */
export function needsSync(command: Command): boolean {
  switch (command.type) {
    case 'append':
      return command.sync || command.consume !== undefined || command.audit !== undefined
    case 'update_session':
    case 'purge_sessions':
    case 'compact_session':
    case 'renew_lease':
      return false
    default:
      return true
  }
}
