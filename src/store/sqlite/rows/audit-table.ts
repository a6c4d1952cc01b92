import type { DatabaseSync } from 'node:sqlite'
import { type AuditEntry, type AuditRecord, MAIN_CHAIN } from '../../../domain/audit.ts'
import { EMPTY_CHAIN, nextEntry } from '../../audit-chain.ts'
import type { AuditReads } from '../../ports/audit.ts'

/** Adds records to the audit trail, which has one chain here. Reads its end from the table each time, so a rollback leaves no gap. */
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

export function createAuditReads(db: DatabaseSync): AuditReads {
  const entriesAfter = db.prepare('SELECT chain, n, text, hash FROM audit WHERE n > ? AND chain = ? ORDER BY n LIMIT ?')
  const entriesBefore = db.prepare(
    'SELECT chain, n, text, hash FROM audit WHERE n < ? AND chain = ? ORDER BY n DESC LIMIT ?',
  )
  return {
    chains: async () => [MAIN_CHAIN],
    entries: async (after, limit, chain = MAIN_CHAIN) => entriesAfter.all(after, chain, limit).map(toEntry),
    newest: async (before, limit, chain = MAIN_CHAIN) =>
      entriesBefore.all(before ?? Number.MAX_SAFE_INTEGER, chain, limit).map(toEntry),
  }
}

const toEntry = (row: Record<string, unknown>): AuditEntry => ({
  chain: String(row.chain),
  n: Number(row.n),
  text: String(row.text),
  hash: String(row.hash),
})
