import { open } from 'node:fs/promises'
import type { Extract } from '../../../domain/session/file.ts'
import { extractCharacters } from '../extract-limit.ts'
import { markdownTable } from '../markdown.ts'
import { unreadable } from '../unreadable.ts'
import { isRtf, rtfText } from './rtf-text.ts'
import { textEncodingOf } from './text-encoding.ts'

/** A shorter table is as clear as CSV. */
const SHORT_TABLE = 4_000

/** Gives text and Markdown unchanged, CSV as a Markdown table, and of RTF the words. Throws `file_unreadable` when the file is not text. */
export async function readText(
  path: string,
  mimeType: string,
  characters: number = extractCharacters,
): Promise<Extract> {
  const { bytes, total } = await beginningOf(path, characters * MAX_BYTES_PER_CHARACTER)
  const text = decoded(bytes)
  if (isBinary(text))
    throw unreadable('The file is not text: attach it with its real type, for example as a PDF or a picture.')
  const notes: string[] = []
  if (text.includes('\uFFFD')) notes.push('Some characters in the file are damaged and are shown as \uFFFD.')
  if (bytes.length < total) {
    notes.push(`Only the first ${megabytes(bytes.length)} of ${megabytes(total)} were read.`)
  }
  if (isRtf(text)) return { sections: [{ label: '', text: rtfText(text) }], notes }
  const rows = mimeType === 'text/csv' && text.length > SHORT_TABLE ? csvRows(text) : null
  if (rows === null) return { sections: [{ label: '', text }], notes }
  const table = tableOf(rows, characters)
  if (table.left > 0) {
    const count = (rows: number) => rows.toLocaleString('en')
    notes.push(`The first ${count(table.shown)} rows are shown; ${count(table.left)} more are left out.`)
  }
  return { sections: [{ label: '', text: table.text }], notes }
}

const MAX_BYTES_PER_CHARACTER = 4

async function beginningOf(path: string, maxBytes: number): Promise<{ bytes: Uint8Array; total: number }> {
  await using file = await open(path)
  const { size } = await file.stat()
  const bytes = Buffer.alloc(Math.min(size, maxBytes))
  let filled = 0
  while (filled < bytes.length) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return { bytes: bytes.subarray(0, filled), total: size }
}

/** Decoded, with `\n` as line ends and without a byte order mark. Bytes that fit no character become U+FFFD. */
function decoded(bytes: Uint8Array): string {
  const encoding = textEncodingOf(bytes)
  if (encoding === null) {
    throw unreadable('The encoding of the text file cannot be recognized: save it as UTF-8 and attach it again.')
  }
  return new TextDecoder(encoding).decode(bytes).replace(/\r\n?/g, '\n')
}

/** The header is not counted as a row. */
function tableOf(rows: Iterable<string[]>, characters: number): { text: string; shown: number; left: number } {
  const kept: string[][] = []
  let size = 0
  let left = 0
  for (const row of rows) {
    // Besides its text, each cell has a bar and two spaces.
    if (size <= characters) size += row.reduce((sum, cell) => sum + cell.length + 3, 0)
    if (size > characters) left++
    else kept.push(row)
  }
  return { text: markdownTable(kept), shown: Math.max(0, kept.length - 1), left }
}

/** More than a twentieth are control characters. Some old texts have a few. */
function isBinary(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are counted.
  const controls = text.slice(0, 100_000).match(/[\x00-\x08\x0e-\x1a\x1c-\x1f]/g)?.length ?? 0
  return controls * 20 > Math.min(text.length, 100_000)
}

const megabytes = (bytes: number): string =>
  `${(bytes / 1_000_000).toLocaleString('en', { maximumFractionDigits: 1 })} MB`

// Comma-, semicolon-, tab- or bar-separated values -> rows. Quotes work as in RFC 4180, and errors are tolerated as in spreadsheets.

const delimiters = [',', ';', '\t', '|'] as const
type Delimiter = (typeof delimiters)[number]

/** Null when the text is not a table: most rows must have the same number of columns, at least two. */
function csvRows(text: string): Iterable<string[]> | null {
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
