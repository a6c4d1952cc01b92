// Writes much of the log of a session at once, for imports and compaction. It may be a hundred thousand entries, and Postgres ends a
// transaction whose client is busy with something else for too long. So they go there in pieces, and the work on each is short.

import type { StoredEntry } from '../../ports/journal.ts'
import {
  type EntryRow,
  type PackedRow,
  packRows,
  replacedSeqs,
  replaceEntries,
  toEntries,
} from '../../tables/packed-rows.ts'
import type { Statement } from '../../tables/statement.ts'
import { MOST_BYTES } from '../rows/bounded-rows.ts'
import { MOST_ROWS, rowsAfter } from '../rows/entry-table.ts'
import type { Sql } from '../sql.ts'
import type { Sending } from './batch.ts'

interface WholeLogDeps {
  /** The connection of the transaction. */
  sql: Sql
  sending: Sending
  /** Collects a row of `entries`. */
  add(sessionId: string, row: PackedRow): void
  /** Sends the rows that were collected. */
  flush(): void
}

/** Resolves when the server has got everything before it, and keeps the transaction awake. */
const wait: Statement = { name: 'wait_for_rows', text: 'SELECT 1' }

const removeRows: Statement = {
  name: 'remove_entries',
  text: 'DELETE FROM entries WHERE session = $1 AND last_seq > $2 AND last_seq <= $3',
}

export function createWholeLog({ sql, sending, add, flush }: WholeLogDeps) {
  async function insert(sessionId: string, entries: readonly StoredEntry[]): Promise<void> {
    let chars = 0
    for (const row of packRows(entries)) {
      add(sessionId, row)
      chars += row.data.length + row.layout.length
      if (chars < MOST_BYTES) continue
      flush()
      await sql.rows(wait)
      chars = 0
    }
  }

  /** Each entry replaces those that its spans name. The entries are in order. */
  async function replace(sessionId: string, entries: readonly StoredEntry[]): Promise<void> {
    const { seqs, first } = replacedSeqs(entries)
    let [seq, next] = [first - 1, 0]
    while (next < entries.length) {
      flush()
      const rows = await sql.rows<EntryRow>(rowsAfter, [sessionId, seq, MOST_ROWS, MOST_BYTES])
      const last = rows.at(-1)?.[4]
      const end = last === undefined ? entries.length : nextAfter(entries, next, last)
      const piece = replaceEntries(rows.flatMap(toEntries), entries.slice(next, end), seqs)
      // First: a new row may have the last seq of an old one.
      if (last !== undefined) sending.send(removeRows, [sessionId, seq, last])
      await insert(sessionId, piece)
      ;[seq, next] = [last ?? seq, end]
    }
  }

  return { insert, replace }
}

/** Where the entries behind this seq begin. */
function nextAfter(entries: readonly StoredEntry[], from: number, seq: number): number {
  let at = from
  while (at < entries.length && (entries[at]?.seq ?? 0) <= seq) at += 1
  return at
}
