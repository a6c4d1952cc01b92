// What can be asked about runs, and the commands that take a run from its input to its end.

import type { AuditRecord } from '../../domain/audit.ts'
import type { TokenUsage } from '../../domain/event.ts'
import type { Grant } from '../../domain/grant.ts'
import type { StoredMessage } from '../../domain/message.ts'
import type { RunError, RunRecord, RunStatus, RunSummary } from '../../domain/run.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { Wait, WaitAnswer } from '../../domain/wait.ts'
import type { NewEntry } from './entry.ts'

export interface RunReads {
  get(id: string): Promise<RunRecord | null>
  /** The run of this session that the client called `wireId`. */
  byWireId(sessionId: string, wireId: string): Promise<RunRecord | null>
  /** The newest run of this owner that the client called `wireId`. */
  ofOwner(owner: string, wireId: string): Promise<RunRecord | null>
  /** The run that is running or waiting, then the queued ones in order. */
  open(sessionId: string): Promise<RunRecord[]>
  /** Running runs whose process has no live lease, and queued ones with nothing before them. */
  orphans(now: number, limit: number): Promise<RunRecord[]>
  /** All runs of a session, in the order in which they were taken. */
  list(sessionId: string): Promise<RunRecord[]>
  /** The newest `limit` runs of a session that were taken before `before` (a run's id), newest first. */
  latest(sessionId: string, limit: number, before?: string): Promise<RunSummary[]>
}

/**
 * Synced. Takes a run into a session, and creates the session if it is new. The run starts, is queued, or turns out to be
 * one that the session has already.
 */
export interface AcceptRun {
  type: 'accept_run'
  /** Used when the session does not exist yet; `id` names the session in any case. */
  session: SessionRecord
  /** The store decides `status`, `fence`, `firstSeq`, `lastSeq` and `leaseOwner`. */
  run: RunRecord
  leaseOwner: string
  onBusy: 'queue' | 'reject' | 'interrupt'
  maxQueued: number
  idempotency?: { key: string; digest: string; expiresAt: number }
  /** Merged key by key into the session's. */
  metadata?: Record<string, unknown>
  /**
   * Files that come with the run's messages: they belong to the session from now on. The run is refused (`file_not_found`)
   * when one does not exist, belongs to another session or has another owner. When no run is taken, no file is either.
   */
  files?: readonly string[]
  /**
   * Answers to what the session waits for. An answer is applied when its wait belongs to this session, is pending and has not
   * expired (an `expired` answer is applied at any time); otherwise it does nothing.
   *
   * - None is applied: no run is taken. `existing` is the run that took the first answer (its continuation; without one, the
   *   run that it belongs to). When the session has none of these waits, the command is refused (`approval_not_found`,
   *   `tool_call_not_found`).
   * - One is applied and its run is the session's waiting run: that run is completed, its pending waits pass to this run, and
   *   this run starts at once, before queued ones.
   * - One is applied and its run is running (it took an earlier answer): the answer is recorded for that run, no run is taken
   *   and `existing` is that run. The results of the answered client calls are written as messages of that run.
   *
   * A result for a call whose answer is not applied is not written.
   */
  answers?: readonly WaitAnswer[]
  /** Each is made with the answer of its wait, if that answer is applied and approves. */
  grants?: readonly Grant[]
  /** Written for each answer that is applied, by wait id, and for each grant that is made, by its id. */
  answerAudit?: Readonly<Record<string, AuditRecord>>
  /**
   * What happens to a run without answers when the session waits. `refuse`: it is refused with `approval_pending`. `abandon`:
   * the same if an approval is pending; if the session waits for client calls alone, those are interrupted, the waiting
   * run is completed and this one starts, before queued ones.
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
   * If the session already has the last user message among them, the run answers that message again and supersedes what follows
   * it. If that message is superseded, the run answers the last user message that is not.
   */
  messages: readonly StoredMessage[]
  /** The client's shared state; undefined keeps the stored one. */
  state?: unknown
  /**
   * The run supersedes the messages that follow this one. If this one is superseded itself when the run begins, the run supersedes
   * nothing, or, when it brings no other user message, what follows the last user message.
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

/**
 * Text in flight, or (with `sync`, `consume` or `audit`) a fact or a tool's result. Refused (`run_fenced`) when the fence is
 * not that of the run, or the run has ended.
 *
 * A lease that ran out does not fence its owner off: a claim does. The claim raises the fence in its own transaction, so a
 * stalled owner may write before it and never after it, and no two owners ever write side by side.
 */
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
   * Approvals of this session that this write uses up, at `at`. Refused (`conflict`) unless each is approved and has this digest:
   * the digest of the edited arguments where the answer edited them.
   */
  consume?: readonly { waitId: string; digest: string; at: number }[]
  audit?: readonly AuditRecord[]
}

/**
 * Synced. Ends a run, its events and its lease in one step. A queued or waiting run may end too. Any status but `waiting`
 * interrupts the waits that are still pending on it. Approvals that the run took and did not use become void, whatever the
 * status: they are interrupted, and the audit trail says so. A run that was asked to stop cannot begin to wait (`conflict`).
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

/**
 * Synced. Gives a running run whose owner is gone to a new owner, and raises its fence. The run's next seq lies after every
 * seq that a reader may have seen.
 */
export interface ClaimRun {
  type: 'claim_run'
  runId: string
  /** The fence that was seen; refused (`run_fenced`) when it has changed. */
  fence: number
  leaseOwner: string
  entries: readonly NewEntry[]
}

/** Synced. Gives up a running run and raises its fence. The run has no owner until a process claims it. */
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

/** Says that this process lives until `until` (wall clock). */
export interface RenewLease {
  type: 'renew_lease'
  leaseOwner: string
  until: number
  /** The caller can prove that all other owners are dead: their leases end now. */
  endOthers?: boolean
}
