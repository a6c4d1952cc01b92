// The audit trail: who decided what. Entries are only added, never changed. They form chains, in which each entry proves the
// one before it (`audit-chain.ts`).

import type { AuditEntry, AuditRecord } from '../../domain/supervision/audit.ts'

export interface AuditReads {
  /** The ids of all chains. */
  chains(): Promise<string[]>
  /** The last entry of every chain that has entries, in the order of the chains' ids. */
  ends(): Promise<AuditEntry[]>
  /**
   * At most `limit` entries after entry `n` of a chain, in order. Without a chain: of all chains that processes of this store write, in the
   * order in which they were written, and `n` is a place.
   */
  entries(n: number, limit: number, chain?: string): Promise<AuditEntry[]>
  /** At most `limit` entries before entry `n` of a chain, newest first. Null: from the end. Without a chain: of all of them, as above. */
  newest(n: number | null, limit: number, chain?: string): Promise<AuditEntry[]>
}

/**
 * Synced. Adds entries of another store's trail, as they are: consecutive ones of one chain, which go on where the chain ends here. Lists
 * of the trail do not show them, and they are read by the chain's id. Refused (`conflict`) if an entry does not follow from the one before
 * it, or if the chain is the main one.
 */
export interface ImportAudit {
  type: 'import_audit'
  entries: readonly AuditEntry[]
  /** What this store's own trail says about the import. */
  audit: readonly AuditRecord[]
}

/** Synced. For decisions that change nothing else in the store. Other commands carry their own records. */
export interface AddAudit {
  type: 'add_audit'
  audit: readonly AuditRecord[]
}
