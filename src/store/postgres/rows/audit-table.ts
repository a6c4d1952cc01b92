import type { AuditEntry } from '../../../domain/supervision/audit.ts'
import type { AuditReads } from '../../ports/audit.ts'
import type { Reading, Statement } from '../../tables/statement.ts'

const AUDIT_COLUMNS = 'chain, n, text, hash'
type AuditRow = [chain: string, n: number, text: string, hash: string, place?: number]
const toEntry = ([chain, n, text, hash, place]: AuditRow): AuditEntry => ({
  chain,
  n,
  place,
  text,
  hash,
})

/** Jumps from chain to chain in the index, however long they are. */
const allChains: Statement = {
  name: 'audit_chains',
  text: `WITH RECURSIVE found AS (
      (SELECT chain FROM audit ORDER BY chain LIMIT 1)
      UNION ALL
      SELECT (SELECT chain FROM audit WHERE audit.chain > found.chain ORDER BY chain LIMIT 1) FROM found WHERE found.chain IS NOT NULL)
    SELECT chain FROM found WHERE chain IS NOT NULL`,
}
const chainEnds: Statement = {
  name: 'audit_chain_ends',
  text: `WITH RECURSIVE found AS (
      (SELECT ${AUDIT_COLUMNS} FROM audit ORDER BY chain, n DESC LIMIT 1)
      UNION ALL
      SELECT following.* FROM found, LATERAL (
        SELECT ${AUDIT_COLUMNS} FROM audit WHERE audit.chain > found.chain ORDER BY audit.chain, audit.n DESC LIMIT 1) AS following)
    SELECT ${AUDIT_COLUMNS} FROM found`,
}
/** Also whether the chain is one of this store's own. */
export const endOfChain: Statement = {
  name: 'audit_chain_end',
  text: 'SELECT n, hash, place IS NOT NULL FROM audit WHERE chain = $1 ORDER BY n DESC LIMIT 1',
}
export function createAuditReads({ many }: Reading): AuditReads {
  const entries = (name: string, columns: string, rest: string) =>
    many({ name, text: `SELECT ${columns} FROM audit WHERE ${rest}` }, toEntry)
  const after = entries('audit_entries_after', AUDIT_COLUMNS, 'chain = $1 AND n > $2 ORDER BY n LIMIT $3')
  const before = entries('audit_entries_before', AUDIT_COLUMNS, 'chain = $1 AND n < $2 ORDER BY n DESC LIMIT $3')
  const placed = `${AUDIT_COLUMNS}, place`
  const placedAfter = entries('audit_trail_after', placed, 'place > $1 ORDER BY place LIMIT $2')
  const placedBefore = entries('audit_trail_before', placed, 'place < $1 ORDER BY place DESC LIMIT $2')

  return {
    chains: many(allChains, ([chain]: [string]) => chain),
    ends: many(chainEnds, toEntry),
    entries: (n, limit, chain) => (chain === undefined ? placedAfter(n, limit) : after(chain, n, limit)),
    newest(n, limit, chain) {
      const end = n ?? Number.MAX_SAFE_INTEGER
      return chain === undefined ? placedBefore(end, limit) : before(chain, end, limit)
    },
  }
}
