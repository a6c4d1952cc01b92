import type { DatabaseSync } from 'node:sqlite'
import type { StoredEntry } from '../../ports/entry.ts'
import { packRows, replacedSeqs, replaceEntries, unpackRow } from '../../tables/packed-rows.ts'

/** Writes a session's log in large pieces, for imports and compaction. `entry-writer.ts` appends to it. */
export interface PackedEntries {
  insert(sid: number, entries: readonly StoredEntry[]): void
  /** Each entry replaces the entries that its spans name. The entries are in order. */
  replace(sid: number, entries: readonly StoredEntry[]): void
}

export function createPackedEntries(db: DatabaseSync): PackedEntries {
  const insert = db.prepare(
    'INSERT INTO entries (sid, first_seq, last_seq, run_id, data, layout) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const RANGE = 'FROM entries WHERE sid = ? AND last_seq >= ? AND last_seq <= ?'
  const range = db.prepare(`SELECT first_seq, run_id, data, layout ${RANGE} ORDER BY last_seq`)
  const remove = db.prepare(`DELETE ${RANGE}`)
  const endOfRow = db.prepare('SELECT min(last_seq) AS seq FROM entries WHERE sid = ? AND last_seq >= ?')

  const entriesIn = (sid: number, from: number, to: number): StoredEntry[] =>
    range
      .all(sid, from, to)
      .flatMap((row) =>
        unpackRow(
          Number(row.first_seq),
          row.run_id === null ? null : String(row.run_id),
          String(row.data),
          row.layout === null ? null : String(row.layout),
        ),
      )

  function insertAll(sid: number, entries: readonly StoredEntry[]): void {
    for (const { firstSeq, lastSeq, runId, data, layout } of packRows(entries)) {
      insert.run(sid, firstSeq, lastSeq, runId, data, layout)
    }
  }

  return {
    insert: insertAll,
    replace(sid, entries) {
      const { seqs, first, last } = replacedSeqs(entries)
      // Whole rows: those that the first and the last of them lie in are written anew.
      const end = Number(endOfRow.get(sid, last)?.seq ?? last)
      const log = replaceEntries(entriesIn(sid, first, end), entries, seqs)
      remove.run(sid, first, end)
      insertAll(sid, log)
    },
  }
}
