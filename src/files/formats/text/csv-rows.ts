// Comma-, semicolon-, tab- or bar-separated values -> rows. Quotes work as in RFC 4180, and errors are tolerated as in spreadsheets.

const delimiters = [',', ';', '\t', '|'] as const
type Delimiter = (typeof delimiters)[number]

/** Null when the text is not a table: most rows must have the same number of columns, at least two. */
export function csvRows(text: string): Iterable<string[]> | null {
  // Excel writes this line to name the separator.
  const named = /^sep=([,;\t|])\n/.exec(text)
  if (named !== null) {
    const delimiter = delimiters.find((one) => one === named[1])
    if (delimiter !== undefined) return rowsOf(text, delimiter, named[0].length)
  }
  const delimiter = delimiterOf(text)
  return delimiter === null ? null : rowsOf(text, delimiter, 0)
}

const SAMPLE_ROWS = 50

/** The delimiter that gives most of the first rows the same number of columns, at least two. */
function delimiterOf(text: string): Delimiter | null {
  let best: { delimiter: Delimiter; share: number; columns: number } | null = null
  for (const delimiter of delimiters) {
    const widths = new Map<number, number>()
    let rows = 0
    for (const row of rowsOf(text, delimiter, 0)) {
      widths.set(row.length, (widths.get(row.length) ?? 0) + 1)
      if (++rows === SAMPLE_ROWS) break
    }
    const [columns = 0, count = 0] = [...widths].sort((a, b) => b[1] - a[1])[0] ?? []
    const share = count / rows
    if (columns < 2 || share < 0.8) continue
    if (best === null || share > best.share || (share === best.share && columns > best.columns)) {
      best = { delimiter, share, columns }
    }
  }
  return best?.delimiter ?? null
}

/** Skips empty lines. A quote that is never closed is an ordinary character. */
function* rowsOf(text: string, delimiter: Delimiter, from: number): Generator<string[]> {
  const plain = plainCell[delimiter]()
  let row: string[] = []
  let at = from
  for (;;) {
    const quoted = text[at] === '"' ? quotedCell(text, at, delimiter) : null
    plain.lastIndex = at
    const cell = quoted?.cell ?? plain.exec(text)?.[0] ?? ''
    row.push(cell)
    at = (quoted?.end ?? at + cell.length) + 1
    if (text[at - 1] === delimiter) continue
    if (row.length > 1 || row[0] !== '') yield row
    if (at > text.length) return
    row = []
  }
}

const plainCell: Record<Delimiter, () => RegExp> = {
  ',': () => /[^,\n]*/y,
  ';': () => /[^;\n]*/y,
  '\t': () => /[^\t\n]*/y,
  '|': () => /[^|\n]*/y,
}

function quotedCell(text: string, start: number, delimiter: Delimiter): { cell: string; end: number } | null {
  let close = text.indexOf('"', start + 1)
  while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
  if (close === -1 || close - start > MAX_QUOTED) return null
  const end = close + 1
  // `"a" b,` is not a quoted cell, but a cell that contains quotes.
  if (end < text.length && text[end] !== delimiter && text[end] !== '\n') return null
  return { cell: text.slice(start + 1, close).replaceAll('""', '"'), end }
}

/** A quote that closes later than this was not meant as one. It would swallow the rest of the table. */
const MAX_QUOTED = 100_000
