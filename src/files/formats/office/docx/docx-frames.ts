// What is open at a moment of reading a Word document: paragraphs, tables, rows and cells, which nest in each other through
// cells and text boxes. Each gives what it became to the one around it, wherever a damaged or hostile file puts it.

import type { TextBlock } from '../pptx/scan-slide.ts'
import type { DocxNumbering } from './docx-numbering.ts'
import { createDocxParagraph, type DocxParagraph, paragraphBlock } from './docx-paragraph.ts'
import type { DocxStyles } from './docx-styles.ts'
import { addCell, columnsOf, createDocxRow, createDocxTable, type DocxRow, type DocxTable } from './docx-table.ts'
import type { TextBudget } from './text-budget.ts'

export interface DocxFrames {
  /** The innermost frame, when it is a paragraph. */
  here(): ParagraphFrame | undefined
  none(): boolean
  openParagraph(): void
  closeParagraph(): void
  openTable(): void
  closeTable(): void
  openRow(): void
  closeRow(): void
  openCell(): void
  closeCell(): void
  /** Of the row, or of the cell, when it is the innermost frame. */
  setFreeColumns(value: string | undefined): void
  setColumns(value: string | undefined): void
  setRowProperties(inside: boolean): void
  deleteCell(): void
  /** The end of a paragraph, or a whole row, that was deleted has this mark among its properties. */
  markDeleted(): void
}

export interface ParagraphFrame {
  kind: 'paragraph'
  paragraph: DocxParagraph
  /** Text boxes, charts and tables that hang on it. They follow it, also those that hang on its text boxes. */
  below: TextBlock[]
  /** Its own place among what follows the paragraph that it hangs on. */
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

export interface DocxFramesOptions {
  styles: DocxStyles
  numbering: DocxNumbering
  budget: TextBudget
  /** Each line stands at the margin, as in a cell: there are no headings and no tables. */
  linesOnly: boolean
  /** Takes what is in no frame. */
  add(block: TextBlock): void
}

/** Cells inside cells. What is deeper are lines of the last of them: each level takes its text in hand once more. */
const maxCells = 6

export const newRun = (): Run => ({ style: undefined, bold: undefined, italic: undefined, hidden: undefined })

export function createDocxFrames({ styles, numbering, budget, linesOnly, add }: DocxFramesOptions): DocxFrames {
  const frames: Frame[] = []
  let cells = 0

  function emit(block: TextBlock): void {
    if (block.text === '') return
    const top = frames.at(-1)
    if (top === undefined) add(linesOnly ? { text: lineOf(block), item: false } : block)
    else if (top.kind === 'paragraph') top.below.push(block)
    else if (top.kind === 'cell') top.texts.push(lineOf(block))
    else if (top.kind === 'row') addCell(top.row, lineOf(block), 1)
    else top.table.addRow({ ...createDocxRow(), cells: [lineOf(block)] })
  }

  function here(): ParagraphFrame | undefined {
    const top = frames.at(-1)
    return top?.kind === 'paragraph' ? top : undefined
  }

  const inLines = () => linesOnly || cells > 0

  return {
    here,
    none: () => frames.length === 0,
    openParagraph() {
      const around = here()
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
    closeParagraph() {
      const frame = frames.pop()
      if (frame?.kind !== 'paragraph') return
      const block = paragraphBlock(frame.paragraph, styles, numbering, inLines())
      if (frame.place !== undefined) Object.assign(frame.place, block)
      else {
        emit(block)
        for (const other of frame.below) emit(other)
      }
    },
    openTable() {
      if (cells < maxCells) frames.push({ kind: 'table', table: createDocxTable() })
    },
    closeTable() {
      if (cells >= maxCells) return
      const frame = frames.pop()
      if (frame?.kind !== 'table') return
      budget.spend(frame.table.frame())
      emit({ text: inLines() ? frame.table.lines() : frame.table.markdown(), item: false })
    },
    openRow() {
      if (cells < maxCells) frames.push({ kind: 'row', row: createDocxRow(), inProperties: false })
    },
    closeRow() {
      if (cells >= maxCells) return
      const frame = frames.pop()
      const top = frames.at(-1)
      if (frame?.kind !== 'row') return
      if (top?.kind === 'table') top.table.addRow(frame.row)
      else emit({ text: frame.row.cells.join(' / '), item: false })
    },
    openCell() {
      cells += 1
      if (cells <= maxCells) frames.push({ kind: 'cell', texts: [], columns: 1, deleted: false })
    },
    closeCell() {
      cells -= 1
      if (cells >= maxCells) return
      const frame = frames.pop()
      const top = frames.at(-1)
      if (frame?.kind !== 'cell') return
      const text = frame.deleted ? '' : frame.texts.join('\n')
      if (top?.kind === 'row') addCell(top.row, text, frame.columns)
      else emit({ text, item: false })
    },
    setFreeColumns(value) {
      const top = frames.at(-1)
      if (top?.kind === 'row') top.row.column = columnsOf(value, 0)
    },
    setColumns(value) {
      const top = frames.at(-1)
      if (top?.kind === 'cell' && cells <= maxCells) top.columns = columnsOf(value, 1)
    },
    setRowProperties(inside) {
      const top = frames.at(-1)
      if (top?.kind === 'row') top.inProperties = inside
    },
    deleteCell() {
      const top = frames.at(-1)
      if (top?.kind === 'cell' && cells <= maxCells) top.deleted = true
    },
    markDeleted() {
      const top = frames.at(-1)
      if (top?.kind === 'row' && top.inProperties) top.row.deleted = true
      else if (top?.kind === 'paragraph' && top.inProperties) top.paragraph.removed = true
    },
  }
}

const lineOf = ({ text }: TextBlock): string => text.replace(/\n\s*/g, '\n')
