// The paragraphs, tables, rows and cells that are open while a Word document is read. They nest through cells and text boxes. Each
// gives its text to the one around it, also where a damaged or hostile file nests them in ways that Word never does.

import { extractCharacters } from '../../extract-limit.ts'
import { markdownTable, type TextBlock } from '../../markdown.ts'
import type { DocxNumbering } from './docx-numbering.ts'
import { createDocxParagraph, type DocxParagraph, paragraphBlock } from './docx-paragraph.ts'
import type { DocxStyles } from './docx-styles.ts'

export interface ParagraphFrame {
  kind: 'paragraph'
  paragraph: DocxParagraph
  /** Text boxes, charts and tables that are anchored to it, and those anchored to its text boxes. They are shown after it. */
  below: TextBlock[]
  /** For a paragraph in a text box: its place in `below` of the paragraph that the box is anchored to. */
  place: TextBlock | undefined
  inProperties: boolean
  inRunProperties: boolean
  run: Run
}

export interface Run {
  style: string | undefined
  bold: boolean | undefined
  italic: boolean | undefined
  hidden: boolean | undefined
}

type Frame =
  | ParagraphFrame
  | { kind: 'table'; table: DocxTable }
  | { kind: 'row'; row: DocxRow; inProperties: boolean }
  | { kind: 'cell'; texts: string[]; columns: number; deleted: boolean }

interface DocxFramesOptions {
  styles: DocxStyles
  numbering: DocxNumbering
  budget: TextBudget
  /** Gives plain lines without headings and tables, as inside a cell. */
  linesOnly: boolean
  /** Takes the blocks that are not inside another frame. */
  add(block: TextBlock): void
}

/** How deep cells may nest. Deeper cells become lines of the last one: every level would copy their text once more. */
const maxCellDepth = 6

export const newRun = (): Run => ({ style: undefined, bold: undefined, italic: undefined, hidden: undefined })

export function createDocxFrames({ styles, numbering, budget, linesOnly, add }: DocxFramesOptions) {
  const frames: Frame[] = []
  let cellDepth = 0

  function emit(block: TextBlock): void {
    if (block.text === '') return
    const top = frames.at(-1)
    if (top === undefined) add(linesOnly ? { text: lineOf(block), item: false } : block)
    else if (top.kind === 'paragraph') top.below.push(block)
    else if (top.kind === 'cell') top.texts.push(lineOf(block))
    else if (top.kind === 'row') addCell(top.row, lineOf(block), 1)
    else top.table.addRow({ ...createDocxRow(), cells: [lineOf(block)] })
  }

  /** The innermost frame if it is a paragraph. */
  function paragraph(): ParagraphFrame | undefined {
    const top = frames.at(-1)
    return top?.kind === 'paragraph' ? top : undefined
  }

  const inLines = () => linesOnly || cellDepth > 0

  return {
    paragraph,
    isEmpty: (): boolean => frames.length === 0,
    openParagraph(): void {
      const around = paragraph()
      const place = around === undefined ? undefined : { text: '', item: false }
      if (place !== undefined) around?.below.push(place)
      frames.push({
        kind: 'paragraph',
        paragraph: createDocxParagraph(),
        below: around?.below ?? [],
        place,
        inProperties: false,
        inRunProperties: false,
        run: newRun(),
      })
    },
    closeParagraph(): void {
      const frame = frames.pop()
      if (frame?.kind !== 'paragraph') return
      const block = paragraphBlock(frame.paragraph, styles, numbering, inLines())
      if (frame.place !== undefined) Object.assign(frame.place, block)
      else {
        emit(block)
        for (const other of frame.below) emit(other)
      }
    },
    openTable(): void {
      if (cellDepth < maxCellDepth) frames.push({ kind: 'table', table: createDocxTable() })
    },
    closeTable(): void {
      if (cellDepth >= maxCellDepth) return
      const frame = frames.pop()
      if (frame?.kind !== 'table') return
      budget.spend(frame.table.frame())
      emit({ text: inLines() ? frame.table.lines() : frame.table.markdown(), item: false })
    },
    openRow(): void {
      if (cellDepth < maxCellDepth) frames.push({ kind: 'row', row: createDocxRow(), inProperties: false })
    },
    closeRow(): void {
      if (cellDepth >= maxCellDepth) return
      const frame = frames.pop()
      const top = frames.at(-1)
      if (frame?.kind !== 'row') return
      if (top?.kind === 'table') top.table.addRow(frame.row)
      else emit({ text: frame.row.cells.join(' / '), item: false })
    },
    openCell(): void {
      cellDepth += 1
      if (cellDepth <= maxCellDepth) frames.push({ kind: 'cell', texts: [], columns: 1, deleted: false })
    },
    closeCell(): void {
      cellDepth -= 1
      if (cellDepth >= maxCellDepth) return
      const frame = frames.pop()
      const top = frames.at(-1)
      if (frame?.kind !== 'cell') return
      const text = frame.deleted ? '' : frame.texts.join('\n')
      if (top?.kind === 'row') addCell(top.row, text, frame.columns)
      else emit({ text, item: false })
    },
    /** How many columns the open row leaves free at its start. */
    setFreeColumns(value: string | undefined): void {
      const top = frames.at(-1)
      if (top?.kind === 'row') top.row.column = columnsOf(value, 0)
    },
    /** How many columns the open cell covers. */
    setColumns(value: string | undefined): void {
      const top = frames.at(-1)
      if (top?.kind === 'cell' && cellDepth <= maxCellDepth) top.columns = columnsOf(value, 1)
    },
    setRowProperties(inside: boolean): void {
      const top = frames.at(-1)
      if (top?.kind === 'row') top.inProperties = inside
    },
    deleteCell(): void {
      const top = frames.at(-1)
      if (top?.kind === 'cell' && cellDepth <= maxCellDepth) top.deleted = true
    },
    /** Called for a `del` element. Among the properties of a row or paragraph it means that the row or the paragraph's end is deleted. */
    markDeleted(): void {
      const top = frames.at(-1)
      if (top?.kind === 'row' && top.inProperties) top.row.deleted = true
      else if (top?.kind === 'paragraph' && top.inProperties) top.paragraph.removed = true
    },
  }
}

export type DocxFrames = ReturnType<typeof createDocxFrames>

const lineOf = ({ text }: TextBlock): string => text.replace(/\n\s*/g, '\n')

export interface DocxRow {
  cells: string[]
  /** Column of the next cell. */
  column: number
  deleted: boolean
}

/** Word's own limit. */
const maxColumns = 63

/** How many columns a cell covers, or a row leaves free at its start. The value comes from the file, so it is checked. */
function columnsOf(value: string | undefined, otherwise: number): number {
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

/** Built row by row. Its size is limited: all rows are padded to the widest, so one wide row would make each of many short rows just as long. */
export function createDocxTable() {
  const rows: string[][] = []
  let width = 0
  let filled = false

  return {
    addRow({ cells, deleted }: DocxRow): void {
      const wider = Math.max(width, cells.length)
      if (deleted || cells.length === 0 || frameOf(rows.length + 1, wider) > extractCharacters) return
      width = wider
      filled ||= cells.some((cell) => cell !== '')
      rows.push(cells)
    },
    /** About how many characters the Markdown has besides the text of the cells. */
    frame: (): number => frameOf(rows.length, width),
    /** Empty when no cell has text. */
    markdown: (): string => (filled ? markdownTable(rows) : ''),
    /** For a table inside a cell, where Markdown allows no table: one line for each row. */
    lines: (): string => (filled ? rows.map((row) => row.join(' / ')).join('\n') : ''),
  }
}

type DocxTable = ReturnType<typeof createDocxTable>

/** How much text a reader may keep of a file. Text beyond the limit is counted, but not kept. */
export function createTextBudget(characters: number) {
  let asked = 0

  return {
    /** Gives as much of the text as still fits. */
    take(text: string): string {
      const left = characters - asked
      asked += text.length
      if (text.length <= left) return text
      return left > 0 ? text.slice(0, left) : ''
    },
    /** Counts characters that surround the text: the bars of a table, the target of a link. */
    spend(more: number): void {
      asked += more
    },
    /** All characters that were counted so far. */
    asked: (): number => asked,
  }
}

export type TextBudget = ReturnType<typeof createTextBudget>
