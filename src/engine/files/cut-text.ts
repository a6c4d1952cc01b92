/** A border that lies further back than this share of the room, or than this many characters, is none: too much would be lost. */
const FURTHEST_SHARE = 0.5
const FURTHEST_BACK = 20_000

/**
 * Where to cut a text so that at most `limit` characters remain: behind a paragraph, a row, a list item or a sentence; failing
 * that behind a line, then a word; never inside of a character.
 */
export function cutPosition(text: string, limit: number): number {
  if (text.length <= limit) return text.length
  const room = Math.max(0, Math.floor(limit))
  const least = Math.max(Math.floor(room * FURTHEST_SHARE), room - FURTHEST_BACK)
  // One more character shows whether what ends here ends a sentence.
  const tail = text.slice(least, room + 1)
  for (const border of [lastWholeThought(tail), tail.lastIndexOf('\n') + 1, tail.search(/\s\S*$/) + 1]) {
    if (border > 0 && least + border <= room) return least + border
  }
  // Half of a surrogate pair is no text.
  const isSplit = /[\uD800-\uDBFF]/.test(text.charAt(room - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(room))
  return isSplit ? room - 1 : room
}

/** Paragraphs, rows of tables, list items and headings end with their line; a line inside of a sentence does not count. */
const BORDER = /\n(?=\s*(?:\n|\||[-*+] |#{1,6} |\d+[.)] ))|[.!?…]["'”’)\]]*\s|[。！？]/gu

function lastWholeThought(tail: string): number {
  let last = 0
  for (const { index, 0: border } of tail.matchAll(BORDER)) last = index + border.length
  return last
}
