// TeX draws `ü` as two characters, one over the other: the accent and the letter, as `f¨ur`. The same characters side by side are
// left alone: they are code, maths, or an apostrophe of somebody who typed `geht´s`.

/** A piece of text on a page, in points. */
export interface PlacedText {
  str: string
  x: number
  y: number
  width: number
  height: number
}

/** Spacing accents, and what combines with the letter before it. */
const combining = new Map([
  ['`', '\u0300'],
  ['ˋ', '\u0300'],
  ['´', '\u0301'],
  ['ˊ', '\u0301'],
  ['^', '\u0302'],
  ['ˆ', '\u0302'],
  ['~', '\u0303'],
  ['˜', '\u0303'],
  ['¯', '\u0304'],
  ['ˉ', '\u0304'],
  ['˘', '\u0306'],
  ['˙', '\u0307'],
  ['¨', '\u0308'],
  ['°', '\u030a'],
  ['˚', '\u030a'],
  ['˝', '\u030b'],
  ['ˇ', '\u030c'],
  ['¸', '\u0327'],
  ['˛', '\u0328'],
])

/** In the order in which they were drawn. A letter with its accent is one character wherever there is one. */
export function composePdfAccents<T extends PlacedText>(pieces: readonly T[]): T[] {
  const composed: T[] = []
  for (const piece of pieces) {
    const before = composed.at(-1)
    const joined = before !== undefined && isDrawnOver(before, piece) ? join(before.str, piece.str) : null
    if (before === undefined || joined === null) composed.push(piece)
    else composed.splice(-1, 1, { ...before, str: joined.before }, { ...piece, str: joined.after })
  }
  return composed
}

/** It begins before the other ends, by more than letters are ever moved together. */
function isDrawnOver(before: PlacedText, { x, y }: PlacedText): boolean {
  const back = before.x + before.width - x
  return back > before.height * 0.15 && back < before.height * 1.2 && Math.abs(before.y - y) < before.height * 0.6
}

/** The accent comes first; a cedilla may come behind its letter. */
function join(before: string, after: string): { before: string; after: string } | null {
  const [last = '', first = ''] = [before.at(-1), after.at(0)]
  const accentFirst = letterOf(first, last)
  if (accentFirst !== null) return { before: before.slice(0, -1), after: accentFirst + after.slice(1) }
  const letterFirst = letterOf(last, first)
  return letterFirst === null ? null : { before: before.slice(0, -1) + letterFirst, after: after.slice(1) }
}

function letterOf(letter: string, accent: string): string | null {
  const mark = combining.get(accent)
  if (mark === undefined || !/^\p{L}$/u.test(letter)) return null
  // A dot would be in the way of the accent, so TeX takes the letters without one.
  const plain = letter === 'ı' ? 'i' : letter === 'ȷ' ? 'j' : letter
  const composed = (plain + mark).normalize('NFC')
  return composed.length === 1 ? composed : null
}
