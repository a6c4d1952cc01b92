import { open } from 'node:fs/promises'
import type { Extract } from '../../../domain/session/file.ts'
import { extractCharacters } from '../extract-limit.ts'
import { markdownTable } from '../markdown.ts'
import { unreadable } from '../unreadable.ts'
import { csvRows } from './csv-rows.ts'
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
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const bytes = Buffer.alloc(Math.min(size, maxBytes))
    let filled = 0
    while (filled < bytes.length) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return { bytes: bytes.subarray(0, filled), total: size }
  } finally {
    await file.close()
  }
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
