import type { AuditEntry } from '../../../domain/supervision/audit.ts'
import type { AuditReads } from '../../ports/audit.ts'
import type { Statement } from '../../tables/statement.ts'
import type { Sql } from '../sql.ts'

const AUDIT_COLUMNS = 'chain, n, text, hash'
type AuditRow = [chain: string, n: number, text: string, hash: string, place?: number]
const toEntry = ([chain, n, text, hash, place]: AuditRow): AuditEntry => ({
  chain,
  n,
  ...(place === undefined ? {} : { place }),
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
const entriesAfter: Statement = {
  name: 'audit_entries_after',
  text: `SELECT ${AUDIT_COLUMNS} FROM audit WHERE chain = $1 AND n > $2 ORDER BY n LIMIT $3`,
}
const entriesBefore: Statement = {
  name: 'audit_entries_before',
  text: `SELECT ${AUDIT_COLUMNS} FROM audit WHERE chain = $1 AND n < $2 ORDER BY n DESC LIMIT $3`,
}
const trailAfter: Statement = {
  name: 'audit_trail_after',
  text: `SELECT ${AUDIT_COLUMNS}, place FROM audit WHERE place > $1 ORDER BY place LIMIT $2`,
}
const trailBefore: Statement = {
  name: 'audit_trail_before',
  text: `SELECT ${AUDIT_COLUMNS}, place FROM audit WHERE place < $1 ORDER BY place DESC LIMIT $2`,
}

export function createAuditReads(sql: Sql): AuditReads {
  const many = async (statement: Statement, values: readonly unknown[]): Promise<AuditEntry[]> =>
    (await sql.rows<AuditRow>(statement, values)).map(toEntry)

  return {
    async chains() {
      return (await sql.rows<[string]>(allChains)).map(([chain]) => chain)
    },
    ends: () => many(chainEnds, []),
    entries: (after, limit, chain) =>
      chain === undefined ? many(trailAfter, [after, limit]) : many(entriesAfter, [chain, after, limit]),
    newest: (before, limit, chain) =>
      chain === undefined
        ? many(trailBefore, [before ?? Number.MAX_SAFE_INTEGER, limit])
        : many(entriesBefore, [chain, before ?? Number.MAX_SAFE_INTEGER, limit]),
  }
}
