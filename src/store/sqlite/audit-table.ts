import type { DatabaseSync } from 'node:sqlite'
import type { AuditRecord } from '../../domain/audit.ts'
import { EMPTY_CHAIN, nextEntry } from '../audit-chain.ts'

/** Adds records to the trail. Its end is read from the table each time, so that a rolled back transaction leaves nothing behind. */
export function createAuditTable(db: DatabaseSync): (records: readonly AuditRecord[]) => void {
  const last = db.prepare('SELECT n, hash FROM audit WHERE n = (SELECT max(n) FROM audit)')
  const insert = db.prepare('INSERT INTO audit (n, text, hash) VALUES (?, ?, ?)')

  return (records) => {
    if (records.length === 0) return
    const row = last.get()
    let end = row === undefined ? EMPTY_CHAIN : { n: Number(row.n), head: String(row.hash) }
    for (const record of records) {
      const { n, text, hash } = nextEntry(end, JSON.stringify(record))
      insert.run(n, text, hash)
      end = { n, head: hash }
    }
  }
}
