import type { PDFPageProxy } from 'unpdf/pdfjs'

interface Piece extends PlacedText {
  hasEOL: boolean
}

/** The text of a page in reading order. Empty when the page has none, or only characters without a meaning. */
export async function pageText(page: PDFPageProxy): Promise<string> {
  const { items } = await page.getTextContent()
  const drawn: Piece[] = []
  for (const item of items) {
    if (!('str' in item)) continue
    const [, , , , x = 0, y = 0]: number[] = item.transform
    const { str, hasEOL, width, height } = item
    drawn.push({ str, hasEOL, x, y, width, height })
  }
  const pieces = composeAccents(drawn)
  const text = isWrittenBackwards(pieces) ? sorted(pieces) : joined(pieces)
  return isMeaningless(text) ? '' : text
}

const joined = (pieces: readonly Piece[]): string =>
  pieces
    .map(({ str, hasEOL }) => (hasEOL ? `${str}\n` : str))
    .join('')
    .replace(/[ \t]+\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()

/**
 * Most programs write a page from top to bottom, column by column. That is the reading order, so it is kept. A few write from the
 * bottom up: then most steps from line to line go upwards.
 */
function isWrittenBackwards(pieces: readonly Piece[]): boolean {
  let up = 0
  let down = 0
  let before: Piece | undefined
  for (const piece of pieces) {
    if (piece.str.trim() === '') continue
    if (before !== undefined && piece.y > before.y + 2) up++
    if (before !== undefined && piece.y < before.y - 2) down++
    before = piece
  }
  return up > 3 && up > down * 3
}

function sorted(pieces: readonly Piece[]): string {
  const lines = new Map<number, Piece[]>()
  for (const piece of pieces) {
    if (piece.str.trim() === '') continue
    const line = Math.round(piece.y / 3)
    lines.set(line, [...(lines.get(line) ?? []), piece])
  }
  return [...lines]
    .sort(([a], [b]) => b - a)
    .map(([, line]) =>
      line
        .sort((a, b) => a.x - b.x)
        .map(({ str }) => str)
        .join(' '),
    )
    .join('\n')
}

/** Fonts without a character table give private or unknown characters. Then OCR reads the page better. */
function isMeaningless(text: string): boolean {
  const unknown = text.match(/[\uE000-\uF8FF\uFFFD]/g)?.length ?? 0
  return unknown * 2 > text.replace(/\s/g, '').length
}

/** A piece of text on a page, in points. */
interface PlacedText {
  str: string
  x: number
  y: number
  width: number
  height: number
}

/** Accents that stand alone, and the combining character for each. */
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

/**
 * TeX draws `ü` as two characters on top of each other, the accent and the letter, which reads as `f¨ur`. These are joined. The same
 * characters side by side stay as they are: they are code, maths, or an apostrophe as in `geht´s`. `pieces` are in the order in which
 * they were drawn.
 */
export function composeAccents<T extends PlacedText>(pieces: readonly T[]): T[] {
  const composed: T[] = []
  for (const piece of pieces) {
    const before = composed.at(-1)
    const joined = before !== undefined && isDrawnOver(before, piece) ? join(before.str, piece.str) : null
    if (before === undefined || joined === null) composed.push(piece)
    else composed.splice(-1, 1, { ...before, str: joined.before }, { ...piece, str: joined.after })
  }
  return composed
}

/** The second piece begins before the first ends, by more than kerning ever moves letters. */
function isDrawnOver(before: PlacedText, { x, y }: PlacedText): boolean {
  const back = before.x + before.width - x
  return back > before.height * 0.15 && back < before.height * 1.2 && Math.abs(before.y - y) < before.height * 0.6
}

/** The accent comes first, but a cedilla may follow its letter. */
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
  // TeX uses letters without a dot under an accent.
  const plain = letter === 'ı' ? 'i' : letter === 'ȷ' ? 'j' : letter
  const composed = (plain + mark).normalize('NFC')
  return composed.length === 1 ? composed : null
}
