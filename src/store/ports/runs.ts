// Reads of runs, and the commands that take a run from its input to its end.

import type { AnyRecord, Approval, WaitAnswer } from '../../domain/records/record.ts'
import type { TokenUsage } from '../../domain/session/event.ts'
import type { StoredMessage } from '../../domain/session/message.ts'
import type { RunError, RunRecord, RunStatus, RunSummary } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Grant } from '../../domain/supervision/grant.ts'
import type { NewEntry } from './journal.ts'

export type RunCommand =
  | AcceptRun
  | StartRun
  | AppendEntries
  | FinishRun
  | ClaimRun
  | ReleaseRun
  | RequestCancel
  | RenewLease

export interface RunReads {
  get(id: string): Promise<RunRecord | null>
  /** The run of this session that the client called `wireId`. */
  byWireId(sessionId: string, wireId: string): Promise<RunRecord | null>
  /** The newest run of this owner that the client called `wireId`. */
  ofOwner(owner: string, wireId: string): Promise<RunRecord | null>
  /** The run of this owner that ended last with this key (`FinishRun.key`). */
  byKey(owner: string, key: string): Promise<RunRecord | null>
  /** The run that is running or waiting, then the queued ones in order. */
  open(sessionId: string): Promise<RunRecord[]>
  /** Running runs whose owner has no live lease, and queued runs with no run before them. */
  orphans(now: number, limit: number): Promise<RunRecord[]>
  /** The running runs of this owner, in any order: what it has to know about them when it may have missed news. */
  owned(leaseOwner: string): Promise<OwnedRun[]>
  /** All runs of a session, in the order in which they were accepted. */
  list(sessionId: string): Promise<RunRecord[]>
  /** The newest `limit` runs of a session, newest first. With `before` (a run's id), only runs that were accepted before it. */
  latest(sessionId: string, limit: number, before?: string): Promise<RunSummary[]>
}

export type OwnedRun = Pick<RunRecord, 'id' | 'sessionId' | 'fence' | 'cancelRequested'>

/**
 * Synced. Accepts a run into a session, and creates the session if it is new. The run starts, is queued, or is found because
 * the session has it already.
 */
export interface AcceptRun {
  type: 'accept_run'
  /** `id` names the session. The other fields count only if the session does not exist yet. */
  session: SessionRecord
  /** The store decides `status`, `fence`, `firstSeq`, `lastSeq` and `leaseOwner`. */
  run: RunRecord
  leaseOwner: string
  onBusy: 'queue' | 'reject' | 'interrupt'
  maxQueued: number
  /** Refused (`conflict`) if the session has a new message since it was read, or another run is at work. */
  unchanged?: boolean | undefined
  /** Nothing new is taken: refused (`conflict`) unless the same request came before. */
  onlyRepeat?: true | undefined
  idempotency?: { key: string; digest: string; expiresAt: number } | undefined
  /** Merged into the session's metadata, key by key. */
  metadata?: Record<string, unknown> | undefined
  /**
   * Files that come with the run's messages. They belong to the session from now on. The run is refused (`file_not_found`) if
   * a file does not exist, belongs to another session or has another owner. If no run is accepted, no file is attached.
   */
  files?: readonly string[] | undefined
  /**
   * Answers to what the session waits for. An answer is applied if its wait belongs to this session, is pending and has not
   * expired. (An `expired` answer is applied at any time.) Other answers do nothing.
   *
   * - None is applied: no run is accepted. `existing` is the run that took the first answer: its continuation, or without one,
   *   the run that asked. If the session has none of these waits, the command is refused (`approval_not_found`,
   *   `tool_call_not_found`).
   * - One is applied and its run is the session's waiting run: that run is completed, its pending waits pass to this run, and
   *   this run starts at once, before queued ones.
   * - One is applied and its run is running (it took an earlier answer): the answer is recorded for that run, and `existing`
   *   is that run. The results of the answered client calls are written as messages of that run. No run is accepted.
   * - All that are applied are yeses to approvals that need more of them: they are recorded, the approvals stay pending, and
   *   `existing` is the run that waits. No run is accepted. The same person's second yes is not applied.
   *
   * A result is not written if the answer to its call was not applied.
   */
  answers?: readonly WaitAnswer[]
  /** A grant is made if the answer to its wait is applied and approves. */
  grants?: readonly Grant[]
  /** Records by id: of the wait for each answer that is applied, of the grant for each grant that is made. */
  answerAudit?: Readonly<Record<string, AuditRecord>>
  /**
   * What happens to a run without answers while the session waits. `refuse`: it is refused with `approval_pending`. `abandon`:
   * the same if an approval is pending. If the session waits only for client calls, they are interrupted, the waiting run is
   * completed and this one starts, before queued ones.
   */
  whenWaiting: 'refuse' | 'abandon'
  /** A new session is refused if this many exist that are not terminated. */
  maxSessions: number | null
  /** Written whether the run starts at once or is queued. */
  acceptEntries: readonly NewEntry[]
  /** Written if the run starts at once. */
  start: RunStart
}

/** What is written when a run begins to execute. */
export interface RunStart {
  entries: readonly NewEntry[]
  /**
   * If the session already has the last user message of this list, the run answers that message again and supersedes everything
   * after it. If that message is superseded itself, the run answers the last user message that is not.
   */
  messages: readonly StoredMessage[]
  /** The client's shared state. Undefined keeps the stored one. */
  state?: unknown
  /**
   * The run supersedes the messages after this one; with `START`, all of them. If this one is superseded itself when the run begins, the run supersedes
   * nothing; or, if it brings no other user message, everything after the last user message.
   */
  supersedeAfter?: string | undefined
}

/** Synced. Starts a queued run. Refused (`conflict`) if the run is not queued or the session is busy. */
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
  messages?: readonly StoredMessage[] | undefined
  /** Replaces the session's shared state. */
  state?: unknown
  lastTool?: string | undefined
  /** The agent that answers in this session from now on. Null: the session's own agent. */
  activeAgent?: string | null | undefined
  /**
   * Approvals of this session that this write uses up. Refused (`conflict`) unless each is approved and has this digest. If the
   * answer edited the arguments, it is the digest of the edited ones.
   */
  consume?: readonly { waitId: string; digest: string; at: number }[] | undefined
  /** Grants by which calls begin with this write. Refused (`conflict`, and `details.grant` names it) if one is gone. */
  grants?: readonly string[] | undefined
  /** Questions that the run waits for while it executes. They are interrupted when it ends. */
  waits?: readonly Approval[] | undefined
  audit?: readonly AuditRecord[] | undefined
}

/**
 * Synced. Ends a run and its lease, and writes its last events, in one step. A queued or waiting run may end too. Any status
 * except `waiting` interrupts the waits that are still pending on the run. Approvals that the run took but did not use become
 * void: they are interrupted, and the audit trail says so. A run that was asked to stop cannot begin to wait (`conflict`).
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
  /** The model that the run was to use: what it counts at if it used none. */
  model?: { provider: string; model: string } | undefined
  error: RunError | null
  /** `byKey` finds the run from now on, until its session is removed. Keys of requests and these never look the same. */
  key?: string | undefined
  /** `waiting` only: what the run waits for from now on. */
  waits?: readonly AnyRecord[]
  /** `waiting` only: earlier waits that are still open. Refused (`conflict`) if one of them has been answered. */
  stillPending?: readonly string[]
  audit?: readonly AuditRecord[] | undefined
}

/**
 * Synced. Gives a running run whose owner is gone to a new owner, and raises its fence. The run's next seq lies after every
 * seq that a reader may have seen.
 */
export interface ClaimRun {
  type: 'claim_run'
  runId: string
  /** The fence that the claimer saw. Refused (`run_fenced`) if it has changed. */
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

/** Synced. Asks a run to stop. Refused (`conflict`) if it has ended. */
export interface RequestCancel {
  type: 'request_cancel'
  runId: string
  entries: readonly NewEntry[]
}

/** Says that this process is alive until `until` (wall clock). */
export interface RenewLease {
  type: 'renew_lease'
  leaseOwner: string
  until: number
  /** Ends the leases of all other owners. The caller can prove that they are dead. */
  endOthers?: boolean
}
