import { editDistance } from './edit-distance.ts'

/** The candidate a typing mistake away from `text`, or null when none is near. */
export function didYouMean(text: string, candidates: Iterable<string>): string | null {
  const wanted = fold(text)
  // One slip in three characters: more, and the suggestion is a guess.
  let best = Math.max(1, Math.floor(wanted.length / 3)) + 1
  let found: string | null = null
  for (const candidate of candidates) {
    const distance = editDistance(wanted, fold(candidate), best)
    if (distance < best) {
      best = distance
      found = candidate
    }
  }
  return found
}

// maxTokens, max-tokens and MAX_TOKENS all mean max_tokens.
const fold = (text: string): string =>
  text
    .slice(0, 100)
    .toLowerCase()
    .replaceAll(/[-_. ]/g, '')
