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

/**
 * The number of typing mistakes between two texts: a letter that is added, missing, replaced, or swapped with its neighbour. Texts whose
 * lengths differ by `limit` or more are not compared.
 */
export function editDistance(a: string, b: string, limit = Number.POSITIVE_INFINITY): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1]
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      current.push(
        Math.min(
          at(last, column) + 1,
          at(current, column - 1) + 1,
          at(last, column - 1) + (same ? 0 : 1),
          swapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    beforeLast = last
    last = current
  }
  return at(last, b.length)
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY
