import { pdfOf } from './pdf.ts'

/**
 * Pages of 48 lines, followed by comments that fill the file up to `bytes`: quick to make, slow to read. A different `mark` gives
 * another file, so that no cache knows its hash.
 */
export function largePdf(pages: number, bytes: number, mark: string): Buffer {
  const words = 'the harbour office keeps a ledger of every vessel that enters the bay'
  const pdf = pdfOf(
    Array.from({ length: pages }, (_, page) => ({
      lines: Array.from({ length: 48 }, (_, line) => `${mark}, page ${page + 1}, line ${line + 1}: ${words}.`),
    })),
  )
  const table = pdf.lastIndexOf('xref\n0')
  const comments = Buffer.alloc(Math.max(0, bytes - pdf.length - 2), `%${'x'.repeat(98)}\n`)
  const tail = pdf
    .subarray(table)
    .toString('latin1')
    .replace(/startxref\n\d+/, `startxref\n${table + comments.length + 1}`)
  return Buffer.concat([pdf.subarray(0, table), comments, Buffer.from(`\n${tail}`, 'latin1')])
}
