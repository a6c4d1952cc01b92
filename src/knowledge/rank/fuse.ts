import { bestFirst, type Ranked } from './ranked.ts'

/** The higher, the less the first places count more than the next ones. */
const K = 60

/** With the places in both lists, from 1; null: it is not in that list. */
export interface Fused extends Ranked {
  byWords: number | null
  byMeaning: number | null
}

/** Reciprocal rank fusion: scores of different kinds cannot be compared, places can. The best first. */
export function fuse(byWords: readonly string[], byMeaning: readonly string[]): Fused[] {
  const words = placesIn(byWords)
  const meanings = placesIn(byMeaning)
  return [...new Set([...byWords, ...byMeaning])]
    .map((id) => {
      const [word = null, meaning = null] = [words.get(id), meanings.get(id)]
      return { id, score: worthOf(word) + worthOf(meaning), byWords: word, byMeaning: meaning }
    })
    .sort(bestFirst)
}

const placesIn = (ids: readonly string[]): ReadonlyMap<string, number> => new Map(ids.map((id, i) => [id, i + 1]))
const worthOf = (place: number | null): number => (place === null ? 0 : 1 / (K + place))
