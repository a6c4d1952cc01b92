/** The share of the words of `source` that are in `found` in the same order (longest common subsequence). */
export function wordRecall(source: string, found: string): number {
  const wanted = wordsOf(source)
  const given = wordsOf(found)
  if (wanted.length === 0) return 1
  let before = new Uint32Array(given.length + 1)
  for (const word of wanted) {
    const now = new Uint32Array(given.length + 1)
    for (let at = 0; at < given.length; at += 1) {
      now[at + 1] = given[at] === word ? (before[at] ?? 0) + 1 : Math.max(before[at + 1] ?? 0, now[at] ?? 0)
    }
    before = now
  }
  return (before[given.length] ?? 0) / wanted.length
}

/** Letters and digits. What Markdown adds does not count. */
const wordsOf = (text: string): string[] => text.replaceAll('<br>', ' ').match(/[\p{L}\p{N}]+/gu) ?? []
