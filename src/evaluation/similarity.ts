/** The time below grows with the square of the words, so longer texts are cut. */
const MAX_WORDS = 5_000

/**
 * How similar two texts are, from 0 to 1: ROUGE-L with equal weights. `lcs` is the length of the longest common subsequence of their
 * words (the same words in the same order, with others between them); `a` and `b` are the numbers of words:
 *
 *   precision = lcs / a,  recall = lcs / b,  F1 = 2 · precision · recall / (precision + recall) = 2 · lcs / (a + b)
 *
 * Letter case, punctuation and spaces do not count. Words are split by Unicode's rules (UAX 29), which also work for Chinese and
 * Japanese. Two texts without words are equal. Only the first 5,000 words of each text count.
 */
export function similarity(one: string, other: string): number {
  const a = wordsOf(one)
  const b = wordsOf(other)
  if (a.length + b.length === 0) return 1
  return (2 * commonLength(a, b)) / (a.length + b.length)
}

function wordsOf(text: string): string[] {
  const words: string[] = []
  for (const { segment, isWordLike } of new Intl.Segmenter('en', { granularity: 'word' }).segment(text.normalize())) {
    if (isWordLike !== true) continue
    words.push(segment.toLowerCase())
    if (words.length === MAX_WORDS) break
  }
  return words
}

/** Length of the longest common subsequence. Keeps only one row of the table. */
function commonLength(a: readonly string[], b: readonly string[]): number {
  // Comparing numbers is faster than comparing texts, and there may be 25 million comparisons.
  const numbers = new Map<string, number>()
  const numberOf = (word: string): number => {
    const known = numbers.get(word) ?? numbers.size
    numbers.set(word, known)
    return known
  }
  const left = Uint32Array.from(a, numberOf)
  const right = Uint32Array.from(b, numberOf)
  const row = new Uint32Array(right.length + 1)
  for (const word of left) {
    let diagonal = 0
    for (let column = 1; column <= right.length; column += 1) {
      const above = row[column] ?? 0
      row[column] = right[column - 1] === word ? diagonal + 1 : Math.max(above, row[column - 1] ?? 0)
      diagonal = above
    }
  }
  return row[right.length] ?? 0
}
