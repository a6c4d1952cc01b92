import type { PDFPageProxy } from 'unpdf/pdfjs'
import { composeAccents, type PlacedText } from './compose-accents.ts'

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
