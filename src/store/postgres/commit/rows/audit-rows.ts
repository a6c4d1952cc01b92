// Rows of this process's chain of the audit trail.

import type { AuditRecord } from '../../../../domain/audit.ts'
import { chainBegun } from '../../../audit-ties.ts'
import { parseTie, TIE_RECORD } from '../../../tie-chains.ts'
import type { Sql, Statement } from '../../sql.ts'
import type { AuditChain } from '../audit-chain.ts'
import { insertRows } from '../batch.ts'
import type { Sending } from '../sending.ts'
import { createList } from './collected-rows.ts'

const insertAudit = insertRows('insert_audit', 'audit', { chain: 'text', n: 'bigint', text: 'text', hash: 'text' })
const lastTie: Statement = { name: 'last_tie', text: 'SELECT value FROM shared WHERE kind = $1 AND key = $2' }

export interface AuditRowsDeps {
  /** The connection of the transaction, for reads. */
  sql: Sql
  chain: AuditChain
  writerId: string
}

export function createAuditRows(sending: Sending, { sql, chain, writerId }: AuditRowsDeps) {
  const rows = createList<readonly unknown[]>(sending, insertAudit, (row) => row)

  return {
    /** The first entry of a chain says who writes it, and names the last tie before it. */
    add(records: readonly AuditRecord[]): Promise<void> | undefined {
      const [first] = records
      const add = () => {
        for (const record of records) rows.add(chain.next(record))
      }
      if (first === undefined || chain.end.n > 0) return void add()
      return sql.rows<[string]>(lastTie, [TIE_RECORD.kind, TIE_RECORD.key]).then(([row]) => {
        const tie = parseTie(row?.[0])
        // Without a read in between, so that it stays the first.
        if (chain.end.n === 0) rows.add(chain.next(chainBegun({ at: first.at, writer: writerId, tie })))
        add()
      })
    },
    flush: rows.flush,
  }
}
