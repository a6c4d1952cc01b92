// Long texts come in pieces: a browser takes seconds to lay out one line of a megabyte, and no time for the few pieces in sight.

/** The mark that the server writes for a character that people do not see: `<U+202E>`, `<U+0020×57>`. */
const LONGEST_MARK = 20

export const LONGEST_PIECE = 1_000

export interface Piece {
  from: number
  to: number
}

/** Where one line is cut. Never inside a mark or a character. A short line is one piece, and so is an empty one. */
export function piecesOf(line: string, longest = LONGEST_PIECE): Piece[] {
  const pieces: Piece[] = []
  let from = 0
  while (line.length - from > longest) {
    const to = safeEnd(line, from, from + longest)
    pieces.push({ from, to })
    from = to
  }
  pieces.push({ from, to: line.length })
  return pieces
}

function safeEnd(line: string, from: number, end: number): number {
  const mark = line.lastIndexOf('<U+', end - 1)
  if (mark > from && mark > end - LONGEST_MARK) {
    const close = line.indexOf('>', mark)
    if (close >= end && close < mark + LONGEST_MARK) return mark
  }
  const last = line.charCodeAt(end - 1)
  const isHalf = last >= 0xd800 && last <= 0xdbff
  return isHalf && end - 1 > from ? end - 1 : end
}

/** The rows of a text: its lines, and the pieces of the long ones. */
export function textRows(text: string) {
  return text.split('\n').flatMap((line, i) =>
    piecesOf(line).map(({ from, to }, piece) => ({
      key: `${i}.${piece}`,
      text: line.slice(from, to),
      from,
      to,
      /** Of the line. Null: it goes on from the row above. */
      number: piece === 0 ? i + 1 : null,
    })),
  )
}
