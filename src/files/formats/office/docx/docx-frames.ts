// The paragraphs, tables, rows and cells that are open while a Word document is read. They nest through cells and text boxes. Each
// gives its text to the one around it, also where a damaged or hostile file nests them in ways that Word never does.

import type { TextBlock } from '../../markdown.ts'

import type { DocxNumbering } from './docx-numbering.ts'
import { createDocxParagraph, type DocxParagraph, paragraphBlock } from './docx-paragraph.ts'
import type { DocxStyles } from './docx-styles.ts'
import { addCell, columnsOf, createDocxRow, createDocxTable, type DocxRow, type DocxTable } from './docx-table.ts'
import type { TextBudget } from './text-budget.ts'

export interface DocxFrames {
  /** The innermost frame if it is a paragraph. */
  paragraph(): ParagraphFrame | undefined
  isEmpty(): boolean
  openParagraph(): void
  closeParagraph(): void
  openTable(): void
  closeTable(): void
  openRow(): void
  closeRow(): void
  openCell(): void
  closeCell(): void
  /** How many columns the open row leaves free at its start. */
  setFreeColumns(value: string | undefined): void
  /** How many columns the open cell covers. */
  setColumns(value: string | undefined): void
  setRowProperties(inside: boolean): void
  deleteCell(): void
  /** Called for a `del` element. Among the properties of a row or paragraph it means that the row or the paragraph's end is deleted. */
  markDeleted(): void
}

interface ParagraphFrame {
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

export function createDocxFrames({ styles, numbering, budget, linesOnly, add }: DocxFramesOptions): DocxFrames {
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

  function paragraph(): ParagraphFrame | undefined {
    const top = frames.at(-1)
    return top?.kind === 'paragraph' ? top : undefined
  }

  const inLines = () => linesOnly || cellDepth > 0

  return {
    paragraph,
    isEmpty: () => frames.length === 0,
    openParagraph() {
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
      if (cellDepth < maxCellDepth) frames.push({ kind: 'table', table: createDocxTable() })
    },
    closeTable() {
      if (cellDepth >= maxCellDepth) return
      const frame = frames.pop()
      if (frame?.kind !== 'table') return
      budget.spend(frame.table.frame())
      emit({ text: inLines() ? frame.table.lines() : frame.table.markdown(), item: false })
    },
    openRow() {
      if (cellDepth < maxCellDepth) frames.push({ kind: 'row', row: createDocxRow(), inProperties: false })
    },
    closeRow() {
      if (cellDepth >= maxCellDepth) return
      const frame = frames.pop()
      const top = frames.at(-1)
      if (frame?.kind !== 'row') return
      if (top?.kind === 'table') top.table.addRow(frame.row)
      else emit({ text: frame.row.cells.join(' / '), item: false })
    },
    openCell() {
      cellDepth += 1
      if (cellDepth <= maxCellDepth) frames.push({ kind: 'cell', texts: [], columns: 1, deleted: false })
    },
    closeCell() {
      cellDepth -= 1
      if (cellDepth >= maxCellDepth) return
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
      if (top?.kind === 'cell' && cellDepth <= maxCellDepth) top.columns = columnsOf(value, 1)
    },
    setRowProperties(inside) {
      const top = frames.at(-1)
      if (top?.kind === 'row') top.inProperties = inside
    },
    deleteCell() {
      const top = frames.at(-1)
      if (top?.kind === 'cell' && cellDepth <= maxCellDepth) top.deleted = true
    },
    markDeleted() {
      const top = frames.at(-1)
      if (top?.kind === 'row' && top.inProperties) top.row.deleted = true
      else if (top?.kind === 'paragraph' && top.inProperties) top.paragraph.removed = true
    },
  }
}

const lineOf = ({ text }: TextBlock): string => text.replace(/\n\s*/g, '\n')
