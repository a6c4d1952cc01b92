// The audit trail: who decided what. Entries are only added, never changed. They form chains, in which each entry proves the
// one before it (`audit-chain.ts`).

import type { AuditEntry, AuditRecord } from '../../domain/audit.ts'

export interface AuditReads {
  /** The ids of all chains. */
  chains(): Promise<string[]>
  /** At most `limit` entries after entry `n` of a chain, in order. The default is the main chain. */
  entries(n: number, limit: number, chain?: string): Promise<AuditEntry[]>
  /** At most `limit` entries before entry `n` of a chain, newest first. Null: from the end. The default is the main chain. */
  newest(n: number | null, limit: number, chain?: string): Promise<AuditEntry[]>
}

/** Synced. For decisions that change nothing else in the store. Other commands carry their own records. */
export interface AddAudit {
  type: 'add_audit'
  audit: readonly AuditRecord[]
}
