import type { WeightedTerm } from '../../store/ports/knowledge.ts'
import { type CountedTerm, inverseFrequency } from './bm25.ts'

/** So many rows a store reads to find candidates, at most, unless one term alone has more. */
const MOST_ROWS = 60_000

export interface KnownTerm extends CountedTerm {
  term: number
  /** How many passages have this form of the word. */
  rows: number
}

/**
 * The terms that look for candidates: those that say most first, as long as few passages have them. A frequent word finds next to
 * everything and says next to nothing; it still counts in the ranking. Weights are whole numbers, so that sums are the same in every store.
 */
export function candidateTerms(terms: readonly KnownTerm[], passages: number): WeightedTerm[] {
  const known = terms
    .filter(({ rows }) => rows > 0)
    .map(({ term, rows, weight, frequency }) => ({ term, rows, worth: weight * inverseFrequency(frequency, passages) }))
    .sort((a, b) => b.worth - a.worth || a.term - b.term)
  const chosen: WeightedTerm[] = []
  let read = 0
  for (const { term, rows, worth } of known) {
    read += rows
    if (read > MOST_ROWS && chosen.length > 0) break
    chosen.push({ term, weight: Math.max(1, Math.round(worth * 1000)) })
  }
  return chosen
}
