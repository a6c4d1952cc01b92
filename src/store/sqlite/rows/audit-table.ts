import type { DatabaseSync } from 'node:sqlite'
import { type AuditEntry, type AuditRecord, MAIN_CHAIN } from '../../../domain/supervision/audit.ts'
import { EMPTY_CHAIN, nextEntry } from '../../audit-chain.ts'
import type { AuditReads } from '../../ports/audit.ts'
import type { Statements } from '../statements.ts'

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

export function createAuditReads(statements: Statements): AuditReads {
  const chains = importedChains(statements)
  const tables = { own: chainTable(statements, 'audit'), imported: chainTable(statements, 'audit_imported') }
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
function importedChains({ one }: Statements): () => string[] {
  const next = one('SELECT min(chain) FROM audit_imported WHERE chain > $1', ([chain]: [string | null]) => chain)
  return () => {
    const found: string[] = []
    for (let chain = next(''); chain !== null; chain = next(chain)) found.push(chain)
    return found
  }
}

function chainTable({ many }: Statements, table: 'audit' | 'audit_imported') {
  const columns = `SELECT chain, n, text, hash FROM ${table}`
  return {
    after: many(`${columns} WHERE n > $1 AND chain = $2 ORDER BY n LIMIT $3`, toEntry),
    before: many(`${columns} WHERE n < $1 AND chain = $2 ORDER BY n DESC LIMIT $3`, toEntry),
  }
}

type AuditRow = [chain: string, n: number, text: string, hash: string]
const toEntry = ([chain, n, text, hash]: AuditRow): AuditEntry => ({ chain, n, text, hash })
