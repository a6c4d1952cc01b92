import type { Style } from '../../../terminal/style.ts'

/** A line that fits the width of the screen. */
export interface ScreenLine {
  text: string
  tone: 'added' | 'removed' | 'place' | 'plain'
}

const TAB_WIDTH = 8

/**
 * Terminals disagree about the width of letters beyond Latin, Greek and their neighbours. Too wide a guess breaks a line early; too narrow
 * a guess would hide its end.
 */
const widthOf = (char: string): number => (char === '\t' ? TAB_WIDTH : (char.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2)

/** Breaks a line so that all of it can be seen. */
export function breakLine(line: string, columns: number): ScreenLine[] {
  const tone = toneOf(line)
  const pieces: ScreenLine[] = []
  let piece = ''
  let width = 0
  for (const char of line) {
    const next = widthOf(char)
    if (width + next > columns && piece !== '') {
      pieces.push({ text: piece, tone })
      piece = ''
      width = 0
    }
    piece += char
    width += next
  }
  return [...pieces, { text: piece, tone }]
}

function toneOf(line: string): ScreenLine['tone'] {
  if (line.startsWith('+')) return 'added'
  if (line.startsWith('-')) return 'removed'
  return line.startsWith('@@') ? 'place' : 'plain'
}

export function paintLine({ text, tone }: ScreenLine, style: Style): string {
  if (tone === 'added') return style.green(text)
  if (tone === 'removed') return style.red(text)
  return tone === 'place' ? style.cyan(text) : text
}

/** The start of a text that fits, for lists, where the rest can be opened. */
export function fitting(text: string, columns: number): string {
  const [first] = breakLine(text, Math.max(1, columns))
  if (first === undefined || first.text.length === text.length) return text
  const [shorter] = breakLine(text, Math.max(1, columns - widthOf('…')))
  return `${shorter?.text ?? ''}…`
}
