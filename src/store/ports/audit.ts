// The audit trail: who decided what. It only grows, and each entry proves the one before it (`audit-chain.ts`).

import type { AuditEntry, AuditRecord } from '../../domain/audit.ts'

export interface AuditReads {
  /** At most `limit` entries after entry `n`, in order. */
  entries(n: number, limit: number): Promise<AuditEntry[]>
}

/** Synced. For decisions that change nothing else in the store; other commands carry their records themselves. */
export interface AddAudit {
  type: 'add_audit'
  audit: readonly AuditRecord[]
}
