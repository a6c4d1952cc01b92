import { hiddenMark } from '../../../../domain/text/visible-text.ts'
import type { Style } from '../../../terminal/style.ts'
import { drawn } from '../../../terminal/terminal-text.ts'

/** A line that fits the width of the screen. */
export interface ScreenLine {
  text: string
  tone: 'added' | 'removed' | 'place' | 'plain'
}

const TAB_WIDTH = 8

/**
 * Terminals disagree about the width of everything but ASCII: those of East Asia draw `é` and `я` in two cells. None uses more than two
 * for a character. Too wide a guess breaks a line early; too narrow a guess would hide its end.
 */
const widthOf = (text: string): number => {
  let width = 0
  for (const char of text) width += char < '\x80' ? 1 : 2
  return width
}

/** What is drawn together stays together: a mark at the start of a line would be lost. */
const letters = new Intl.Segmenter('en', { granularity: 'grapheme' })

/**
 * The cells of a row that can be used. A character in the last one leaves the cursor on it in some terminals and behind it in others, so
 * what is done next would hit it or not.
 */
const usable = (columns: number): number => Math.max(1, columns - 1)

/** Breaks a line so that all of it can be seen. */
export function breakLine(line: string, columns: number): ScreenLine[] {
  const tone = toneOf(line)
  const most = usable(columns)
  const pieces: ScreenLine[] = []
  let piece = ''
  let width = 0
  const add = (letter: string, next: number): void => {
    if (width + next > most && piece !== '') {
      pieces.push({ text: piece, tone })
      piece = ''
      width = 0
    }
    piece += letter
    width += next
  }
  for (const { segment } of letters.segment(drawn(line))) {
    // The stops of tabs can be set, and there are none near the edge.
    if (segment === '\t') for (let n = TAB_WIDTH - (width % TAB_WIDTH); n > 0; n -= 1) add(' ', 1)
    else if (widthOf(segment) <= most) add(segment, widthOf(segment))
    // Too wide even for a row of its own.
    else for (const char of Array.from(segment, hiddenMark).join('')) add(char, widthOf(char))
  }
  return [...pieces, { text: piece, tone }]
}

/** Lines for people, all of which can be seen. */
export const brokenText = (lines: readonly string[], columns: number): string[] =>
  lines.flatMap((line) => breakLine(line, columns)).map(({ text }) => text)

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

/** Not every font has `…`, and without a mark the start of a number reads as the whole of it. */
const CUT = '...'

/** The start of a text that fits, for lists, where the rest can be opened. */
export function fitting(text: string, columns: number): string {
  const [first, ...rest] = breakLine(text, columns)
  if (rest.length === 0) return first?.text ?? ''
  const [shorter] = breakLine(text, columns - CUT.length)
  return `${shorter?.text ?? ''}${CUT}`
}
