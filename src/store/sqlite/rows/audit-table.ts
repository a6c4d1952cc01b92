import type { DatabaseSync } from 'node:sqlite'
import { type AuditEntry, type AuditRecord, MAIN_CHAIN } from '../../../domain/supervision/audit.ts'
import { EMPTY_CHAIN, nextEntry } from '../../audit-chain.ts'
import type { AuditReads } from '../../ports/audit.ts'

/** This store writes the main chain. It reads the chain's end from the table each time, so a rollback leaves no gap. */
export function createAuditTable(db: DatabaseSync) {
  const last = db.prepare('SELECT n, hash FROM audit WHERE n = (SELECT max(n) FROM audit)')
  const insert = db.prepare('INSERT INTO audit (chain, n, text, hash) VALUES (?, ?, ?, ?)')
  const insertImported = db.prepare('INSERT INTO audit_imported (chain, n, text, hash) VALUES (?, ?, ?, ?)')

  return {
    add(records: readonly AuditRecord[]): void {
      if (records.length === 0) return
      const row = last.get()
      let end = row === undefined ? EMPTY_CHAIN : { chain: MAIN_CHAIN, n: Number(row.n), head: String(row.hash) }
      for (const record of records) {
        const { chain, n, text, hash } = nextEntry(end, JSON.stringify(record))
        insert.run(chain, n, text, hash)
        end = { chain, n, head: hash }
      }
    },
    import(entries: readonly AuditEntry[]): void {
      for (const { chain, n, text, hash } of entries) insertImported.run(chain, n, text, hash)
    },
  }
}

export function createAuditReads(db: DatabaseSync): AuditReads {
  const chains = importedChains(db)
  const tables = { own: chainTable(db, 'audit'), imported: chainTable(db, 'audit_imported') }
  const tableOf = (chain: string) => (chain === MAIN_CHAIN ? tables.own : tables.imported)
  return {
    chains: async () => [MAIN_CHAIN, ...chains()],
    ends: async () =>
      [MAIN_CHAIN, ...chains()].sort().flatMap((chain) => tableOf(chain).before(Number.MAX_SAFE_INTEGER, chain, 1)),
    entries: async (after, limit, chain = MAIN_CHAIN) => tableOf(chain).after(after, chain, limit),
    newest: async (before, limit, chain = MAIN_CHAIN) =>
      tableOf(chain).before(before ?? Number.MAX_SAFE_INTEGER, chain, limit),
  }
}

/** Jumps from chain to chain in the index, however long they are. */
function importedChains(db: DatabaseSync): () => string[] {
  const next = db.prepare('SELECT min(chain) AS chain FROM audit_imported WHERE chain > ?')
  return () => {
    const found: string[] = []
    for (let chain = ''; ; found.push(chain)) {
      const row = next.get(chain)
      if (row?.chain == null) return found
      chain = String(row.chain)
    }
  }
}

function chainTable(db: DatabaseSync, table: 'audit' | 'audit_imported') {
  const columns = `SELECT chain, n, text, hash FROM ${table}`
  const after = db.prepare(`${columns} WHERE n > ? AND chain = ? ORDER BY n LIMIT ? + 0`)
  const before = db.prepare(`${columns} WHERE n < ? AND chain = ? ORDER BY n DESC LIMIT ? + 0`)
  return {
    after: (n: number, chain: string, limit: number): AuditEntry[] => after.all(n, chain, limit).map(toEntry),
    before: (n: number, chain: string, limit: number): AuditEntry[] => before.all(n, chain, limit).map(toEntry),
  }
}

const toEntry = (row: Record<string, unknown>): AuditEntry => ({
  chain: String(row.chain),
  n: Number(row.n),
  text: String(row.text),
  hash: String(row.hash),
})
