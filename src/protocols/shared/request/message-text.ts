/** Is `text` longer than `limit` characters? Characters are code points: an emoji counts once. */
export function isLonger(text: string, limit: number): boolean {
  if (text.length <= limit) return false
  // A code point is one or two units.
  if (text.length > 2 * limit) return true
  let points = 0
  for (const _point of text) points += 1
  return points > limit
}
