import type { WeightedTerm } from '../../store/ports/knowledge.ts'
import { type CountedTerm, worthOf } from './bm25.ts'

/** So many rows a store reads to find candidates, at most, unless one term alone has more. */
const MOST_ROWS = 60_000
/** A word that every text has finds candidates only where there is no other one. */
const LEAST_WEIGHT = 0.2

/**
 * The terms that look for candidates: the rarest first, as long as few passages have them. A frequent word finds next to everything and
 * says next to nothing; it still counts in the ranking. Weights are whole numbers, so that sums are the same in every store.
 */
export function candidateTerms(terms: readonly (CountedTerm & { term: number })[], passages: number): WeightedTerm[] {
  const worths = worthOf(terms, passages)
  const known = terms
    .map((one, i) => ({ ...one, worth: worths[i] ?? 0 }))
    .filter(({ frequency }) => frequency > 0)
    .sort((a, b) => a.frequency - b.frequency || a.term - b.term)
  const telling = known.filter(({ weight }) => weight >= LEAST_WEIGHT)
  const chosen: WeightedTerm[] = []
  let rows = 0
  for (const { term, frequency, worth } of telling.length > 0 ? telling : known) {
    rows += frequency
    if (rows > MOST_ROWS && chosen.length > 0) break
    chosen.push({ term, weight: Math.max(1, Math.round(worth * 1000)) })
  }
  return chosen
}
