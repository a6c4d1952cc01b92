import type { WeightedTerm } from '../../store/ports/knowledge.ts'
import { inverseFrequency } from './bm25.ts'

/** So many rows a store reads to find candidates, at most, unless one term alone has more. */
const MOST_ROWS = 60_000

/**
 * The terms that look for candidates: the rarest first, as long as few passages have them. A frequent word finds next to everything and
 * says next to nothing; it still counts in the ranking. Weights are whole numbers, so that sums are the same in every store.
 */
export function candidateTerms(
  terms: readonly number[],
  frequencies: readonly number[],
  passages: number,
): WeightedTerm[] {
  const known = terms
    .map((term, i) => ({ term, frequency: frequencies[i] ?? 0 }))
    .filter(({ frequency }) => frequency > 0)
    .sort((a, b) => a.frequency - b.frequency || a.term - b.term)
  const chosen: WeightedTerm[] = []
  let rows = 0
  for (const { term, frequency } of known) {
    rows += frequency
    if (rows > MOST_ROWS && chosen.length > 0) break
    chosen.push({ term, weight: Math.max(1, Math.round(inverseFrequency(frequency, passages) * 1000)) })
  }
  return chosen
}
