// The hash chains of the audit trail. An entry's hash covers its text and the hash before it, so nothing can be changed, taken out
// of the middle or put in unless every later hash is made anew. Only someone who noted the last number and hash elsewhere sees
// that the end was cut off.

import { type AuditEntry, MAIN_CHAIN } from '../domain/audit.ts'
import { sha256 } from '../json/digest.ts'

export interface ChainEnd {
  chain: string
  /** The number of the last entry, 0 before the first. */
  n: number
  /** The hash of the last entry. */
  head: string
}

/**
 * A chain without entries. The hash before the first entry says which chain it is, so every hash of a chain covers its id: an
 * entry cannot pass to another chain unnoticed. For the main chain these are zeros, as when there was only one chain.
 */
export const emptyChain = (chain: string): ChainEnd => ({
  chain,
  n: 0,
  head: chain === MAIN_CHAIN ? '0'.repeat(64) : sha256(chain),
})

export const EMPTY_CHAIN: ChainEnd = emptyChain(MAIN_CHAIN)

export const linkHash = (previousHash: string, text: string): string => sha256(`${previousHash}\n${text}`)

export type ChainVerdict =
  | ({ ok: true } & ChainEnd)
  /** `n` is the first entry that does not follow from the one before it. */
  | { ok: false; n: number; reason: string }

/** `previous` is where an earlier part of the chain ended: a verdict that is ok can be passed on. */
export function verifyChain(entries: Iterable<AuditEntry>, previous: ChainEnd = EMPTY_CHAIN): ChainVerdict {
  const { chain } = previous
  let { n, head } = previous
  for (const entry of entries) {
    if (entry.chain !== chain) {
      return { ok: false, n: n + 1, reason: `Entry ${n + 1} belongs to the chain ${JSON.stringify(entry.chain)}.` }
    }
    if (entry.n !== n + 1) {
      return { ok: false, n: n + 1, reason: `Entry ${n + 1} is missing: entry ${entry.n} comes after entry ${n}.` }
    }
    if (entry.hash !== linkHash(head, entry.text)) {
      return {
        ok: false,
        n: entry.n,
        reason: `The hash of entry ${entry.n} does not fit its text and the entry before it: one of them was changed, taken out or put in.`,
      }
    }
    n = entry.n
    head = entry.hash
  }
  return { ok: true, chain, n, head }
}

/** The entry that goes behind `end`. */
export function nextEntry({ chain, n, head }: ChainEnd, text: string): AuditEntry {
  return { chain, n: n + 1, text, hash: linkHash(head, text) }
}
