import type { DatabaseSync } from 'node:sqlite'
import type { StoredEntry } from '../../ports/entry.ts'
import { packLayout, packLines, unpackRow } from './rows.ts'

/** Writes a session's whole log, for imports and compaction. `entry-writer.ts` appends to it. */
export interface PackedEntries {
  insert(sid: number, entries: readonly StoredEntry[]): void
  /** Each entry replaces the entries that its spans name. */
  replace(sid: number, entries: readonly StoredEntry[]): void
}

const ROW_CHARS = 65_536

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
    let from = 0
    while (from < entries.length) {
      const first = entries[from]
      if (first === undefined) return
      let to = from
      let size = 0
      while (to < entries.length && entries[to]?.runId === first.runId && size < ROW_CHARS) {
        size += entries[to]?.data.length ?? 0
        to += 1
      }
      const rows = entries.slice(from, to)
      const last = rows.at(-1)?.seq ?? first.seq
      insert.run(sid, first.seq, last, first.runId, packLines(rows), packLayout(rows))
      from = to
    }
  }

  return {
    insert: insertAll,
    replace(sid, entries) {
      const replaced = new Set(entries.flatMap(({ seq, spans = [] }) => [seq, ...spans.map(([one]) => one)]))
      const kept = allOf(sid).filter(({ seq }) => !replaced.has(seq))
      remove.run(sid)
      insertAll(
        sid,
        [...kept, ...entries].sort((a, b) => a.seq - b.seq),
      )
    },
  }
}
