import { foldWord } from '../../domain/session/search-words.ts'
import { languagesWith } from './stop-words.ts'

/** In characters. More does not make it surer. */
const SAMPLE = 20_000
/** Fewer can be chance. */
const LEAST_HITS = 2
/** In running text it is a third or more; in tables, lists and code it is less. */
const LEAST_SHARE = 0.06
/** How far the best must be ahead of the next. Danish and Norwegian are as close as this. */
const LEAD = 1.1

/** The language of a text by ISO 639-1, told by its most frequent words. Empty if that is not sure. */
export function languageOf(sample: string): string {
  const scores = new Map<string, { hits: number; score: number }>()
  let words = 0
  for (const [found] of sample.slice(0, SAMPLE).matchAll(/\p{L}[\p{L}\p{M}]*/gu)) {
    words++
    const languages = languagesWith(foldWord(found))
    for (const language of languages) {
      const { hits, score } = scores.get(language) ?? { hits: 0, score: 0 }
      // What many languages have says little.
      scores.set(language, { hits: hits + 1, score: score + 1 / languages.size })
    }
  }
  const [best, next] = [...scores].sort(([, a], [, b]) => b.score - a.score)
  if (best === undefined) return ''
  const [language, { hits, score }] = best
  const isSure = hits >= LEAST_HITS && hits >= words * LEAST_SHARE && score >= (next?.[1].score ?? 0) * LEAD
  return isSure ? language : ''
}
