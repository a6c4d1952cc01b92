import type { DatabaseSync } from 'node:sqlite'
import { type AuditRecord, MAIN_CHAIN } from '../../domain/audit.ts'
import { EMPTY_CHAIN, nextEntry } from '../audit-chain.ts'

/** Adds records to the trail, which is one chain here. Its end is read from the table each time, so a transaction that is rolled back leaves nothing behind. */
export function createAuditTable(db: DatabaseSync): (records: readonly AuditRecord[]) => void {
  const last = db.prepare('SELECT n, hash FROM audit WHERE n = (SELECT max(n) FROM audit)')
  const insert = db.prepare('INSERT INTO audit (chain, n, text, hash) VALUES (?, ?, ?, ?)')

  return (records) => {
    if (records.length === 0) return
    const row = last.get()
    let end = row === undefined ? EMPTY_CHAIN : { chain: MAIN_CHAIN, n: Number(row.n), head: String(row.hash) }
    for (const record of records) {
      const { chain, n, text, hash } = nextEntry(end, JSON.stringify(record))
      insert.run(chain, n, text, hash)
      end = { chain, n, head: hash }
    }
  }
}
