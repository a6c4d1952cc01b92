// BM25: how well passages fit the words of a question. Pure: a store has counted, and all stores count alike.

import type { Candidate, IndexFigures } from '../../store/ports/knowledge.ts'
import { bestFirst, type Ranked } from './ranked.ts'

/** How soon further occurrences of a word add nothing. */
const K1 = 0.9
/** How much more often a long passage must have a word than a short one, to score the same. */
const B = 0.4

export type Totals = Pick<IndexFigures, 'passages' | 'length'>

/** A term that was counted in the candidates. */
export interface CountedTerm {
  /** How many passages have it. */
  frequency: number
  /** Terms with the same number are forms of one word. The one that fits best counts. */
  word: number
  /** Above 0, at most 1. */
  weight: number
}

/** How much a term says: the fewer passages have it, the more. Always above 0. */
export const inverseFrequency = (frequency: number, passages: number): number =>
  Math.log1p((Math.max(0, passages - frequency) + 0.5) / (frequency + 0.5))

/**
 * What each term says. A word is as frequent as all its forms together: otherwise a word of one language would say more in the few documents
 * of another one.
 */
export function worthOf(terms: readonly CountedTerm[], passages: number): number[] {
  const frequencies = new Map<number, number>()
  for (const { word, frequency } of terms) frequencies.set(word, (frequencies.get(word) ?? 0) + frequency)
  return terms.map(({ word, weight }) => weight * inverseFrequency(frequencies.get(word) ?? 0, passages))
}

/** The best first. `terms` are in the order of each candidate's counts. A candidate with none of them is left out. */
export function rankByWords(
  candidates: readonly Candidate[],
  terms: readonly CountedTerm[],
  { passages, length }: Totals,
): Ranked[] {
  const worths = worthOf(terms, passages).map((worth) => worth * (K1 + 1))
  const average = passages === 0 || length === 0 ? 1 : length / passages
  return candidates
    .map(({ id, counts, length: own }) => {
      const share = K1 * (1 - B + (B * own) / average)
      let score = 0
      let [word, best] = [-1, 0]
      for (const [i, count] of counts.entries()) {
        const next = terms[i]?.word ?? -1
        if (next !== word) {
          score += best
          ;[word, best] = [next, 0]
        }
        if (count > 0) best = Math.max(best, ((worths[i] ?? 0) * count) / (count + share))
      }
      return { id, score: score + best }
    })
    .filter(({ score }) => score > 0)
    .sort(bestFirst)
}
