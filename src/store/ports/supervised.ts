// Sessions of agents elsewhere: reads of what belongs to them, and the one command that changes them.

import type { SupervisedApproval, SupervisedRecord, WaitAnswer } from '../../domain/records/record.ts'
import type { OpenLimits } from '../../domain/session/open-limits.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Grant } from '../../domain/supervision/grant.ts'
import type {
  Checkpoint,
  Instruction,
  PolicyPin,
  Proposal,
  SupervisedStatus,
  Supervision,
} from '../../domain/supervision/supervision.ts'
import type { NewEntry } from './journal.ts'

export interface SupervisedReads {
  /** Supervised sessions, newest activity first, without those that lists do not show. */
  sessions(query: SupervisedQuery): Promise<SessionRecord[]>
  /** The bytes behind the approval of a change. */
  proposal(approvalId: string): Promise<Proposal | null>
  /** Approved changes that are used up and neither written nor given up, oldest first. */
  unapplied(limit: number): Promise<SupervisedApproval[]>
  /** Oldest first. */
  instructions(query: InstructionQuery): Promise<Instruction[]>
  checkpoint(id: string): Promise<Checkpoint | null>
  /** Newest first: of one session, of one owner, or all. */
  checkpoints(query: {
    sessionId?: string | undefined
    owner?: string | undefined
    limit: number
  }): Promise<Checkpoint[]>
  /** The policy that an operator allowed for this workspace. */
  pin(workspaceRoot: string): Promise<PolicyPin | null>
  /** All of them, in the order of their workspaces. */
  pins(): Promise<PolicyPin[]>
}

export interface SupervisedQuery {
  owner?: string | undefined
  workspaceRoot?: string
  tokenId?: string
  /** Sessions that keep this MCP connection. */
  mcpConnection?: string
  /** Sessions whose connection begins with this. */
  connectionFrom?: string
  statuses?: readonly SupervisedStatus[] | undefined
  limit: number
}

export interface InstructionQuery {
  kind?: Instruction['kind']
  sessionId?: string
  /** Tasks of an owner in a workspace. */
  workspace?: { owner: string; root: string }
  /** Only those that no agent has yet. */
  isWaiting?: boolean
  limit: number
}

/**
 * Synced. One step of a supervised session: what its agent reported or asked, or what a person decided. All of it is written, or
 * nothing.
 *
 * Refused with `session_not_found`; `session_ended` when an agent asks in a session that is over; `conflict` when the session has changed since the caller read it (`version`), when the status may
 * not follow the one before it, or when a record may not change in this way; `limit` when there are too many open sessions, questions or
 * instructions; `approval_pending` when the session has a pending `diff` already.
 */
export interface Supervise {
  type: 'supervise'
  sessionId: string
  now: number
  /** Creates this session. */
  create?: SessionRecord
  /** A session cannot be created, become active again or get a new owner while this many are open; absent: no limit. */
  maxOpen?: OpenLimits
  /** The version that the caller read. Left out with `create`. */
  version?: number
  /** New values. A session that ends takes what is pending with it: it becomes `interrupted`, an alert `dismissed`. Its grants end. */
  supervision?: Partial<Omit<Supervision, 'version'>>
  /** Hands the session over. Its pending records get the new owner too, and its grants end. */
  owner?: string
  /** New records. */
  ask?: readonly SupervisedRecord[]
  proposals?: readonly Proposal[]
  /** Changes of records. The status may only change as the record's state machine allows, and only an answer decides an approval. */
  settle?: readonly RecordChange[]
  instructions?: readonly Instruction[]
  /** Instructions that the agent has now. A task that nobody took yet belongs to this session from now on. */
  deliver?: readonly string[]
  checkpoints?: readonly Checkpoint[]
  pin?: PolicyPin | undefined
  /** What is remembered with an answer in `settle`. Refused (`conflict`) unless that answer decides its approval for good. */
  grant?: Grant | undefined
  /** Ids of grants by which this step decides. Refused (`conflict`) if one of them is gone. */
  uses?: readonly string[]
  /** Ids of grants that end with this step. */
  forget?: readonly string[]
  /** Of the run `runId` on the wire. Facts alone need no run. */
  entries?: readonly NewEntry[]
  runId?: string | undefined
  audit?: readonly AuditRecord[]
}

/** Fields of a record that get new values. `messageRefs` belong to the outbox. */
export interface RecordChange {
  id: string
  patch: Readonly<Record<string, unknown>>
  /** The answer to the record as it is after the patch. The rules count it, and refuse it with `conflict` if it cannot count. */
  answer?: WaitAnswer
}
