// A table of a Word document, built row by row. Its size is limited: all rows are padded to the widest, so one wide row would
// make each of many short rows just as long.

import { extractCharacters } from '../../extract-limit.ts'
import { markdownTable } from '../../markdown.ts'

export interface DocxRow {
  cells: string[]
  /** Column of the next cell. */
  column: number
  deleted: boolean
}

export interface DocxTable {
  addRow(row: DocxRow): void
  /** About how many characters the Markdown has besides the text of the cells. */
  frame(): number
  /** Empty when no cell has text. */
  markdown(): string
  /** For a table inside a cell, where Markdown allows no table: one line for each row. */
  lines(): string
}

/** Word's own limit. */
const maxColumns = 63

/** How many columns a cell covers, or a row leaves free at its start. The value comes from the file, so it is checked. */
export function columnsOf(value: string | undefined, otherwise: number): number {
  const columns = Number(value)
  return Number.isInteger(columns) && columns >= 0 && columns <= maxColumns ? columns : otherwise
}

export const createDocxRow = (): DocxRow => ({ cells: [], column: 0, deleted: false })

/** A cell that covers several columns has its text in the first one; the others are blank. */
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
