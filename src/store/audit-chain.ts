// The hash chain of the audit trail. An entry's hash covers its text and the hash before it, so that nothing can be changed,
// taken out of the middle or put in unless every later hash is made anew. That the end was not cut off is seen only by whoever
// noted its number and hash elsewhere.

import type { AuditEntry } from '../domain/audit.ts'
import { sha256 } from '../json/digest.ts'

/** What the first entry names as the hash before it. */
export const GENESIS = '0'.repeat(64)

export interface ChainEnd {
  /** The number of the last entry, 0 before the first. */
  n: number
  /** Its hash. */
  head: string
}

export const EMPTY_CHAIN: ChainEnd = { n: 0, head: GENESIS }

export const chain = (previousHash: string, text: string): string => sha256(`${previousHash}\n${text}`)

export type ChainVerdict =
  | { ok: true; n: number; head: string }
  /** `n` is the first entry that does not follow from the one before it. */
  | { ok: false; n: number; reason: string }

/** `previous` is where an earlier part of the trail ended: what a verdict that is ok says. */
export function verifyChain(entries: Iterable<AuditEntry>, previous: ChainEnd = EMPTY_CHAIN): ChainVerdict {
  let { n, head } = previous
  for (const entry of entries) {
    if (entry.n !== n + 1) {
      return { ok: false, n: n + 1, reason: `Entry ${n + 1} is missing: entry ${entry.n} comes after entry ${n}.` }
    }
    if (entry.hash !== chain(head, entry.text)) {
      return {
        ok: false,
        n: entry.n,
        reason: `The hash of entry ${entry.n} does not fit its text and the entry before it: one of them was changed, taken out or put in.`,
      }
    }
    n = entry.n
    head = entry.hash
  }
  return { ok: true, n, head }
}

/** The entry that goes behind `end`. */
export function nextEntry(end: ChainEnd, text: string): AuditEntry {
  return { n: end.n + 1, text, hash: chain(end.head, text) }
}
