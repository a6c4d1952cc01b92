// BM25: how well passages fit the words of a question. Pure: a store has counted, and all stores count alike.

import type { Candidate, IndexFigures } from '../../store/ports/knowledge.ts'
import { bestFirst, type Ranked } from './ranked.ts'

/** How soon a word that occurs again counts no more. */
const K1 = 1.2
/** How much a long passage must have more of a word than a short one. */
const B = 0.75

export type Totals = Pick<IndexFigures, 'passages' | 'length'>

/** How much a term says: the fewer passages have it, the more. Always above 0. */
export const inverseFrequency = (frequency: number, passages: number): number =>
  Math.log1p((Math.max(0, passages - frequency) + 0.5) / (frequency + 0.5))

/** The best first. `frequencies`: of the counted terms, in the order of each candidate's counts. Who has none of them is left out. */
export function rankByWords(
  candidates: readonly Candidate[],
  frequencies: readonly number[],
  { passages, length }: Totals,
): Ranked[] {
  const weights = frequencies.map((frequency) => inverseFrequency(frequency, passages))
  const average = passages === 0 || length === 0 ? 1 : length / passages
  return candidates
    .map(({ id, counts, length: own }) => {
      const share = K1 * (1 - B + (B * own) / average)
      const score = counts.reduce((sum, count, i) => sum + ((weights[i] ?? 0) * count * (K1 + 1)) / (count + share), 0)
      return { id, score }
    })
    .filter(({ score }) => score > 0)
    .sort(bestFirst)
}
