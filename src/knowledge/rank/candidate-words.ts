import type { WeightedWord } from '../../store/ports/knowledge.ts'
import { type CountedTerm, worthOf } from './bm25.ts'

/** A store reads at most so many rows to find candidates, unless one word alone has more. */
const MOST_ROWS = 60_000
/** A word that every text has finds candidates only where there is no other one. */
const LEAST_WEIGHT = 0.2

interface Word {
  terms: number[]
  rows: number
  worth: number
  isTelling: boolean
}

/**
 * The words that candidates are looked up by, with their forms: the rarest first, as long as few passages have them. A frequent word finds almost
 * everything and says almost nothing; it still counts in the ranking. Weights are whole numbers, so that sums are the same in every store.
 */
export function candidateWords(terms: readonly (CountedTerm & { term: number })[], passages: number): WeightedWord[] {
  const worths = worthOf(terms, passages)
  const words = new Map<number, Word>()
  for (const [i, { term, word, frequency, weight }] of terms.entries()) {
    if (frequency === 0) continue
    const known = words.get(word) ?? { terms: [], rows: 0, worth: 0, isTelling: false }
    words.set(word, known)
    known.terms.push(term)
    known.rows += frequency
    known.worth = Math.max(known.worth, worths[i] ?? 0)
    known.isTelling ||= weight >= LEAST_WEIGHT
  }
  // Words keep the order of the question where they are as frequent.
  const known = [...words.values()].sort((a, b) => a.rows - b.rows)
  const telling = known.filter(({ isTelling }) => isTelling)
  const chosen: WeightedWord[] = []
  let read = 0
  for (const { terms, rows, worth } of telling.length > 0 ? telling : known) {
    read += rows
    if (read > MOST_ROWS && chosen.length > 0) break
    chosen.push({ terms, weight: Math.max(1, Math.round(worth * 1000)) })
  }
  return chosen
}
