// Waits (what runs wait for), grants (standing permissions), and the commands that answer without starting a run.

import type { AnyRecord, Approval, WaitAnswer } from '../../domain/records/record.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Grant } from '../../domain/supervision/grant.ts'

export type WaitCommand = SettleWaits | AskAgain | RevokeGrant

export interface WaitReads {
  get(id: string): Promise<AnyRecord | null>
  /** Newest first. */
  list(query: WaitQuery): Promise<AnyRecord[]>
  /** Pending waits that had expired at `now`, oldest first. */
  expired(now: number, limit: number): Promise<AnyRecord[]>
}

export interface WaitQuery {
  wait?: AnyRecord['wait'] | undefined
  sessionId?: string | undefined
  runId?: string | undefined
  /** Only waits whose answer went to this run: it started with the answer, or got it while it ran. */
  continuationRunId?: string | undefined
  owner?: string | undefined
  status?: AnyRecord['status'] | undefined
  /** Only waits that still want something (see `isWaiting` in domain/records/record.ts). */
  isWaiting?: boolean | undefined
  /** Only waits that want nothing more, and those that were decided last come first. */
  isDone?: boolean | undefined
  limit: number
  /** The last wait of the page before. Only waits that come after it in the list. With `isDone` its time is that of `endedAt`. */
  before?: { createdAt: number; id: string } | undefined
}

export interface GrantReads {
  get(id: string): Promise<Grant | null>
  /** Grants that have not expired at `now`, oldest first. With `sessionId`: grants for that session and for all sessions. */
  list(query: { now: number; agent?: string | undefined; sessionId?: string | undefined }): Promise<Grant[]>
}

/** Synced. Answers without starting a run (see `AcceptRun.answers`). Completes a waiting run that has nothing left to wait for. */
export interface SettleWaits {
  type: 'settle_waits'
  answers: readonly WaitAnswer[]
  /** Records by wait id, written for each answer that is applied. */
  answerAudit?: Readonly<Record<string, AuditRecord>>
  now: number
}

export interface Answered {
  applied: boolean
  /** The wait as it is now. Null if there is none, or if it belongs to another session. */
  wait: AnyRecord | null
}

/**
 * Synced. Replaces a question that no longer fits. The old question is interrupted, and the same run waits for the new one.
 * Does nothing if the old question is no longer pending. `answered` has one element, which says what happened.
 */
export interface AskAgain {
  type: 'ask_again'
  waitId: string
  /** The new question. It keeps the session and the run of the old one. */
  approval: Approval
  /** Who or what closes the old question, and why. */
  by: string
  reason: string
  at: number
  audit: readonly AuditRecord[]
}

/** Synced. Refused (`conflict`) if there is no such grant. */
export interface RevokeGrant {
  type: 'revoke_grant'
  grantId: string
  audit: AuditRecord
}
