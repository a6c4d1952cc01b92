// A table of a Word document as it fills up, row by row. What it may hold is bounded: rows are filled up to the widest, so a few
// wide ones among many short ones would come to their product.

import { extractCharacters } from '../../extract-limit.ts'
import { markdownTable } from '../../markdown.ts'

export interface DocxRow {
  cells: string[]
  /** Where the next cell stands. */
  column: number
  deleted: boolean
}

export interface DocxTable {
  addRow(row: DocxRow): void
  /** About how many characters it takes beside its text. */
  frame(): number
  /** Empty when no cell has text. */
  markdown(): string
  /** For a table inside a cell: Markdown has no place for one, and at the end of the document nobody would find it. */
  lines(): string
}

/** Word's own limit. */
const maxColumns = 63

/** How many columns a cell covers, or a row leaves free at its start. Both are claims of the file. */
export function columnsOf(value: string | undefined, otherwise: number): number {
  const columns = Number(value)
  return Number.isInteger(columns) && columns >= 0 && columns <= maxColumns ? columns : otherwise
}

export const createDocxRow = (): DocxRow => ({ cells: [], column: 0, deleted: false })

/** A cell that covers several columns has its text in the first; the others are blank. */
export function addCell(row: DocxRow, text: string, columns: number): void {
  const at = row.column > row.cells.length && row.column < maxColumns ? row.column : row.cells.length
  while (row.cells.length < at) row.cells.push('')
  row.cells.push(text)
  row.column = at + Math.max(1, columns)
}

const frameOf = (rows: number, columns: number): number => rows * columns * ' | '.length

export function createDocxTable(): DocxTable {
  const rows: string[][] = []
  let width = 0
  let filled = false

  return {
    addRow({ cells, deleted }) {
      const wider = Math.max(width, cells.length)
      if (deleted || cells.length === 0 || frameOf(rows.length + 1, wider) > extractCharacters) return
      width = wider
      filled ||= cells.some((cell) => cell !== '')
      rows.push(cells)
    },
    frame: () => frameOf(rows.length, width),
    markdown: () => (filled ? markdownTable(rows) : ''),
    lines: () => (filled ? rows.map((row) => row.join(' / ')).join('\n') : ''),
  }
}
