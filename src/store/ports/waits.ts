// What runs wait for, what people have granted for good, and the commands that answer without starting a run.

import type { AuditRecord } from '../../domain/audit.ts'
import type { Grant } from '../../domain/grant.ts'
import type { Approval, Wait, WaitAnswer } from '../../domain/wait.ts'

export interface WaitReads {
  get(id: string): Promise<Wait | null>
  /** Newest first. */
  list(query: WaitQuery): Promise<Wait[]>
  /** Pending waits that had expired at `now`, oldest first. */
  expired(now: number, limit: number): Promise<Wait[]>
}

export interface WaitQuery {
  wait?: Wait['wait']
  sessionId?: string
  runId?: string
  /** Only waits whose answer this run took: it started with the answer, or got it while it ran. */
  continuationRunId?: string
  owner?: string
  status?: Wait['status']
  limit: number
  /** Where the last page ended: only waits that come after this one in the list. */
  before?: { createdAt: number; id: string }
}

export interface GrantReads {
  get(id: string): Promise<Grant | null>
  /** Grants that have not expired at `now`, oldest first. With `sessionId`: those of that session and those of every session. */
  list(query: { now: number; agent?: string; sessionId?: string }): Promise<Grant[]>
}

/** Synced. Answers that start no run (see `AcceptRun.answers`); a waiting run with nothing left to wait for is completed. */
export interface SettleWaits {
  type: 'settle_waits'
  answers: readonly WaitAnswer[]
  /** Written for each answer that is applied, by wait id. */
  answerAudit?: Readonly<Record<string, AuditRecord>>
  now: number
}

export interface Answered {
  applied: boolean
  /** The wait as it is now; null: there is none, or it belongs to another session. */
  wait: Wait | null
}

/**
 * Synced. Replaces a question that no longer fits. The pending one is interrupted, and the same run waits for the new one.
 * If it is no longer pending, nothing is done; `answered` has one element and says which of the two happened.
 */
export interface AskAgain {
  type: 'ask_again'
  waitId: string
  /** Has the session and the run of the old one. */
  approval: Approval
  /** Who or what closes the old one, and why. */
  by: string
  reason: string
  at: number
  audit: readonly AuditRecord[]
}

/** Synced. Refused (`conflict`) when there is no such grant. */
export interface RevokeGrant {
  type: 'revoke_grant'
  grantId: string
  audit: AuditRecord
}
