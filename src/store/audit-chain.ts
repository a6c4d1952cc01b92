// The hash chains of the audit trail. An entry's hash covers its text and the hash before it. So nobody can change, remove or
// insert an entry without computing every later hash again. To notice that the end was cut off, compare the last number and hash
// with a tie in another chain (`audit-ties.ts`), or with a copy that is kept elsewhere.

import { type AuditEntry, importedMain, isImportedMain, MAIN_CHAIN } from '../domain/supervision/audit.ts'
import { sha256 } from '../json/digest.ts'

export interface ChainEnd {
  chain: string
  /** Number of the last entry. 0 in an empty chain. */
  n: number
  /** Hash of the last entry. */
  head: string
}

/**
 * A chain without entries. The hash before the first entry comes from the chain's id. So every hash covers the id, and an entry
 * cannot be moved to another chain unnoticed. The main chain begins with zeros, because its name changes when it moves to
 * another store: there it comes from its first entry.
 */
export const emptyChain = (chain: string): ChainEnd => ({
  chain,
  n: 0,
  head: chain === MAIN_CHAIN || isImportedMain(chain) ? '0'.repeat(64) : sha256(chain),
})

export const EMPTY_CHAIN: ChainEnd = emptyChain(MAIN_CHAIN)

export const linkHash = (previousHash: string, text: string): string => sha256(`${previousHash}\n${text}`)

export type ChainVerdict =
  | ({ ok: true } & ChainEnd)
  /** `n` is the first entry that does not follow from the one before it. */
  | { ok: false; n: number; reason: string }

/** Checks a part of a chain. `previous` is where the part before it ended; pass the verdict of that part. */
export function verifyChain(entries: Iterable<AuditEntry>, previous: ChainEnd = EMPTY_CHAIN): ChainVerdict {
  const { chain } = previous
  let { n, head } = previous
  for (const entry of entries) {
    const reason = breakBefore(entry, { chain, n, head })
    if (reason !== null) return { ok: false, n: n + 1, reason }
    n = entry.n
    head = entry.hash
  }
  return { ok: true, chain, n, head }
}

/** Why the entry does not follow the end of the chain. Null: it does. */
function breakBefore(entry: AuditEntry, { chain, n, head }: ChainEnd): string | null {
  if (entry.chain !== chain) return `Entry ${n + 1} belongs to the chain ${JSON.stringify(entry.chain)}.`
  if (entry.n !== n + 1) return `Entry ${n + 1} is missing: entry ${entry.n} comes after entry ${n}.`
  if (entry.hash !== linkHash(head, entry.text))
    return `The hash of entry ${entry.n} does not match its text and the entry before it: an entry was changed, removed or inserted.`
  const isOtherMain = entry.n === 1 && isImportedMain(chain) && chain !== importedMain(entry.hash)
  return isOtherMain ? 'The first entry is not the one that gave the chain its name.' : null
}

/** The entry that follows the end of the chain. */
export function nextEntry({ chain, n, head }: ChainEnd, text: string): AuditEntry {
  return { chain, n: n + 1, text, hash: linkHash(head, text) }
}
