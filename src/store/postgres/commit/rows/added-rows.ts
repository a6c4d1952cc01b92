// Rows of tables that are only ever added to: the log, the feed, and this process's chain of the audit trail.

import type { NewFeedItem } from '../../../../domain/session/feed.ts'
import type { AuditRecord } from '../../../../domain/supervision/audit.ts'
import { type ChainEnd, nextEntry } from '../../../audit-chain.ts'
import { chainBegun } from '../../../audit-ties.ts'
import type { ChangeOf } from '../../../rules/rows.ts'
import { feedColumns, feedValues } from '../../../tables/feed.ts'
import { type PackedRow, packLines } from '../../../tables/packed-rows.ts'
import type { Statement } from '../../../tables/statement.ts'
import { parseTie, TIE_RECORD } from '../../../tie-chains.ts'
import { insertRows, type Sending } from '../batch.ts'
import type { RowWriterDeps } from '../row-writer.ts'
import { createList } from './collected-rows.ts'

const insertEntries = insertRows('insert_entries', 'entries', {
  session: 'text',
  last_seq: 'bigint',
  first_seq: 'bigint',
  run_id: 'text',
  data: 'text',
  layout: 'text',
})

/** A row has the entries of one append, or as many as are packed together. */
export function createLogRows(sending: Sending) {
  const rows = createList<readonly unknown[]>(sending, insertEntries, (row) => row)

  return {
    append({ sessionId, runId, firstSeq, entries }: ChangeOf<'append_entries'>): void {
      rows.add([sessionId, firstSeq + entries.length - 1, firstSeq, runId, packLines(entries), null])
    },
    addPacked(sessionId: string, { firstSeq, lastSeq, runId, data, layout }: PackedRow): void {
      rows.add([sessionId, lastSeq, firstSeq, runId, data, layout])
    },
    flush: rows.flush,
  }
}

const insertFeed = insertRows('insert_feed', 'feed_new', feedColumns)

/** Rows without numbers: they get them later (`feed-table.ts`). */
export const createFeedRows = (sending: Sending) => createList<NewFeedItem>(sending, insertFeed, feedValues)

const insertAudit = insertRows('insert_audit', 'audit', { chain: 'text', n: 'bigint', text: 'text', hash: 'text' })
const lastTie: Statement = { name: 'last_tie', text: 'SELECT value FROM shared WHERE kind = $1 AND key = $2' }

export function createAuditRows(
  sending: Sending,
  { sql, chain, writerId }: Pick<RowWriterDeps, 'sql' | 'chain' | 'writerId'>,
) {
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

export type AuditChain = ReturnType<typeof createAuditChain>

/** The chain of this process as a transaction sees it. Nobody else adds to it. */
export function createAuditChain(before: ChainEnd) {
  let end = before
  return {
    get end(): ChainEnd {
      return end
    },
    /** The row of the next entry. */
    next(record: AuditRecord): readonly unknown[] {
      const { chain, n, text, hash } = nextEntry(end, JSON.stringify(record))
      end = { chain, n, head: hash }
      return [chain, n, text, hash]
    },
  }
}
