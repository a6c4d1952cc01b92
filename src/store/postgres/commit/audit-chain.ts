import type { AuditRecord } from '../../../domain/audit.ts'
import { type ChainEnd, nextEntry } from '../../audit-chain.ts'

/** The chain of this process as a transaction sees it. Nobody else adds to it. */
export interface AuditChain {
  readonly end: ChainEnd
  /** The row of the next entry. */
  next(record: AuditRecord): readonly unknown[]
}

export function createAuditChain(before: ChainEnd): AuditChain {
  let end = before
  return {
    get end() {
      return end
    },
    next(record) {
      const { chain, n, text, hash } = nextEntry(end, JSON.stringify(record))
      end = { chain, n, head: hash }
      return [chain, n, text, hash]
    },
  }
}
