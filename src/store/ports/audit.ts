// The audit trail: who decided what. It only grows. It consists of chains, and in a chain each entry proves the one before it
// (`audit-chain.ts`).

import type { AuditEntry, AuditRecord } from '../../domain/audit.ts'

export interface AuditReads {
  /** The ids of all chains. */
  chains(): Promise<string[]>
  /** At most `limit` entries of a chain after its entry `n`, in order. Of the main chain when `chain` is left out. */
  entries(n: number, limit: number, chain?: string): Promise<AuditEntry[]>
}

/** Synced. For decisions that change nothing else in the store; other commands carry their records themselves. */
export interface AddAudit {
  type: 'add_audit'
  audit: readonly AuditRecord[]
}
