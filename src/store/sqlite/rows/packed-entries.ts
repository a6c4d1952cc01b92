import type { DatabaseSync } from 'node:sqlite'
import { packRows, replaceEntries, unpackRow } from '../../packing/packed-rows.ts'
import type { StoredEntry } from '../../ports/entry.ts'

/** Writes a session's whole log, for imports and compaction. `entry-writer.ts` appends to it. */
export interface PackedEntries {
  insert(sid: number, entries: readonly StoredEntry[]): void
  /** Each entry replaces the entries that its spans name. */
  replace(sid: number, entries: readonly StoredEntry[]): void
}

export function createPackedEntries(db: DatabaseSync): PackedEntries {
  const insert = db.prepare(
    'INSERT INTO entries (sid, first_seq, last_seq, run_id, data, layout) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const all = db.prepare('SELECT first_seq, run_id, data, layout FROM entries WHERE sid = ? ORDER BY last_seq')
  const remove = db.prepare('DELETE FROM entries WHERE sid = ?')

  const allOf = (sid: number): StoredEntry[] =>
    all
      .all(sid)
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
      const log = replaceEntries(allOf(sid), entries)
      remove.run(sid)
      insertAll(sid, log)
    },
  }
}
