// Rows of the log. A row has the entries of one append, or as many as are packed together.

import { type PackedRow, packLines } from '../../../packing/packed-rows.ts'
import type { Change } from '../../../rules/rows.ts'
import { insertRows } from '../batch.ts'
import type { Sending } from '../sending.ts'
import { createList } from './collected-rows.ts'

const insertEntries = insertRows('insert_entries', 'entries', {
  session: 'text',
  last_seq: 'bigint',
  first_seq: 'bigint',
  run_id: 'text',
  data: 'text',
  layout: 'text',
})

export function createLogRows(sending: Sending) {
  const rows = createList<readonly unknown[]>(sending, insertEntries, (row) => row)

  return {
    append({ sessionId, runId, firstSeq, entries }: Extract<Change, { write: 'append_entries' }>): void {
      rows.add([sessionId, firstSeq + entries.length - 1, firstSeq, runId, packLines(entries), null])
    },
    addPacked(sessionId: string, { firstSeq, lastSeq, runId, data, layout }: PackedRow): void {
      rows.add([sessionId, lastSeq, firstSeq, runId, data, layout])
    },
    flush: rows.flush,
  }
}
