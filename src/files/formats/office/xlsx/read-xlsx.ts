import type { Extract, ExtractSection } from '../../../../domain/session/file.ts'
import { extractCharacters } from '../../extract-limit.ts'
import { markdownLink, markdownTable, maxLink } from '../../markdown.ts'
import { damaged } from '../../unreadable.ts'
import { type OfficePackage, openOfficePackage } from '../office-package.ts'
import { attribute } from '../xml-scanner.ts'
import { type NumberFormat, numberFormatOf } from './number-format.ts'
import { cellName, type ScannedSheet, type SheetRow, scanSheet } from './scan-sheet.ts'
import { type CellComment, readSheetComments } from './sheet-comments.ts'

/** Limits of one section. Further rows of a sheet get sections of their own. Further columns are left out, and a note says how many. */
const sheetLimits = { rows: 1_000, columns: 50 } as const
/** Most cells in the further rows of all sheets. */
const MAX_FURTHER_CELLS = 500_000

/**
 * Gives one section for each sheet, also for hidden ones, in the order of the tabs: a Markdown table without the empty rows and
 * columns around it. The further rows of long sheets follow after all sheets, so that no sheet is cut off by a long one before it.
 * A merged cell has its value in its first cell; the others are blank. Formulas show their stored values, dates are ISO dates,
 * numbers have the zeros and units that Excel shows. Comments follow the table.
 */
export async function readXlsx(path: string): Promise<Extract> {
  const pack = await openOfficePackage(path, 'xlsx')
  try {
    const workbook = await readWorkbook(pack)
    const formats = await readFormats(pack, workbook.styles)
    // No program writes two tabs for one sheet. A hostile file does, to have the sheet read a thousand times.
    if (new Set(workbook.tabs.map(({ part }) => part)).size < workbook.tabs.length) throw damaged()
    const sheets: ReadSheet[] = []
    let maxCells = MAX_FURTHER_CELLS
    for (const tab of workbook.tabs) {
      const options = {
        maxRows: sheetLimits.rows,
        maxCells,
        maxColumns: sheetLimits.columns,
        formats,
        from1904: workbook.from1904,
      }
      const scanned = await scanSheet(pack, tab.part, options)
      maxCells = scanned.rows.reduce((rest, { cells }) => rest - cells.length, maxCells)
      const relationships = await pack.relationshipsOf(tab.part)
      const comments = await readSheetComments(pack, relationships)
      const targets = new Map([...relationships].map(([id, { target, external }]) => [id, external ? target : '']))
      sheets.push({ tab, scanned, comments, targets })
    }
    const strings = await readSharedStrings(
      pack,
      workbook.sharedStrings,
      sheets.map(({ scanned }) => scanned),
    )
    return extractOf(sheets, strings, workbook.notes)
  } finally {
    pack.close()
  }
}

interface Tab {
  name: string
  part: string
  hidden: boolean
}

interface ReadSheet {
  tab: Tab
  scanned: ScannedSheet
  comments: readonly CellComment[]
  /** Addresses outside the file, by the id of their relationship. */
  targets: ReadonlyMap<string, string>
}

interface Workbook {
  tabs: Tab[]
  from1904: boolean
  styles: string | undefined
  sharedStrings: string | undefined
  notes: string[]
}

async function readWorkbook(pack: OfficePackage): Promise<Workbook> {
  const relationships = await pack.relationshipsOf(pack.main)
  const partOf = (type: string) => [...relationships.values()].find((one) => one.type === type)?.target
  const workbook: Workbook = {
    tabs: [],
    from1904: false,
    styles: partOf('styles'),
    sharedStrings: partOf('sharedStrings'),
    notes: [],
  }
  await pack.scan(pack.main, {
    open(name, attributes) {
      if (name === 'workbookPr') workbook.from1904 = /^(1|true)$/.test(attribute(attributes, 'date1904') ?? '')
      if (name !== 'sheet') return
      const title = attribute(attributes, 'name') ?? ''
      const target = relationships.get(attribute(attributes, 'r:id') ?? '')
      if (target?.type === 'worksheet') {
        const hidden = /hidden/i.test(attribute(attributes, 'state') ?? '')
        workbook.tabs.push({ name: title, part: target.target, hidden })
      } else workbook.notes.push(`Sheet "${title}" is a chart or a dialog and is left out.`)
    },
  })
  if (workbook.tabs.length === 0 && workbook.notes.length === 0) throw damaged()
  return workbook
}

async function readFormats(pack: OfficePackage, part: string | undefined): Promise<NumberFormat[]> {
  const codes = new Map<number, string>()
  const formats: NumberFormat[] = []
  if (part === undefined || !pack.has(part)) return formats
  let inCells = false
  await pack.scan(part, {
    open(name, attributes) {
      const id = Number(attribute(attributes, 'numFmtId') ?? 0)
      if (name === 'cellXfs') inCells = true
      else if (name === 'numFmt') codes.set(id, attribute(attributes, 'formatCode') ?? '')
      else if (name === 'xf' && inCells) formats.push(numberFormatOf(id, codes.get(id)))
    },
    close(name) {
      if (name === 'cellXfs') inCells = false
    },
  })
  return formats
}

/** Keeps only the strings that are shown: a large workbook holds hundreds of thousands. */
async function readSharedStrings(
  pack: OfficePackage,
  part: string | undefined,
  sheets: readonly ScannedSheet[],
): Promise<Map<number, string>> {
  const strings = new Map<number, string>()
  for (const sheet of sheets) {
    for (const { cells } of sheet.rows)
      for (const { text } of cells) if (typeof text === 'number') strings.set(text, '')
  }
  if (strings.size === 0) return strings
  if (part === undefined) throw damaged()
  let index = -1
  let wanted = false
  let text = ''
  let phonetic = false
  let inText = false
  await pack.scan(part, {
    open(name) {
      if (name === 'si') {
        index += 1
        wanted = strings.has(index)
        text = ''
      } else if (name === 'rPh') phonetic = true
      else if (name === 't') inText = true
    },
    text(piece) {
      if (wanted && inText && !phonetic) text += piece
    },
    close(name) {
      if (name === 't') inText = false
      else if (name === 'rPh') phonetic = false
      else if (name === 'si' && wanted) strings.set(index, text)
    },
  })
  return strings
}

/** What all tables of a workbook need. `charactersLeft` shrinks with every row. */
interface TableSource {
  strings: ReadonlyMap<number, string>
  charactersLeft: number
}

interface RowTable {
  rows: string[][]
  /** How many rows of the sheet are in it. */
  shown: number
}

function extractOf(
  sheets: readonly ReadSheet[],
  strings: ReadonlyMap<number, string>,
  notesOnWorkbook: readonly string[],
): Extract {
  const source: TableSource = { strings, charactersLeft: extractCharacters }
  const starts = sheets.map((sheet) => ({
    sheet,
    table: tableOf(sheet, sheet.scanned.rows.slice(0, sheetLimits.rows), source),
  }))
  const sections = starts.map(({ sheet, table }) => firstSection(sheet, table))
  const notes = [...notesOnWorkbook]
  for (const { sheet, table } of starts) {
    const further = furtherSections(sheet, table, source)
    sections.push(...further.sections)
    notes.push(...notesOn(sheet, table.shown + further.shown))
  }
  return { sections, notes }
}

function firstSection({ tab, comments }: ReadSheet, table: RowTable): ExtractSection {
  const text = [markdownTable(table.rows), commentList(comments)].filter((part) => part !== '').join('\n\n')
  return { label: `sheet ${tab.name}`, text }
}

/** The rows after the first section, as far as they fit. */
function furtherSections(
  sheet: ReadSheet,
  start: RowTable,
  source: TableSource,
): { sections: ExtractSection[]; shown: number } {
  const { rows } = sheet.scanned
  const sections: ExtractSection[] = []
  let shown = start.shown
  while (shown > 0 && shown < rows.length && source.charactersLeft >= 0) {
    const part = rows.slice(shown, shown + sheetLimits.rows)
    const table = tableOf(sheet, part, source)
    const [from, to] = [part[0]?.row, part[table.shown - 1]?.row]
    if (from === undefined || to === undefined) break
    // The first row of a sheet is usually its header.
    const text = markdownTable([start.rows[0] ?? [], ...table.rows])
    sections.push({ label: `sheet ${sheet.tab.name} rows ${from}-${to}`, text })
    shown += table.shown
  }
  return { sections, shown: shown - start.shown }
}

/** As many of the rows as fit. Several empty rows become one. */
function tableOf({ scanned, targets }: ReadSheet, rows: readonly SheetRow[], source: TableSource): RowTable {
  const table: RowTable = { rows: [], shown: 0 }
  let before = 0
  for (const { row, cells } of rows) {
    const texts: string[] = []
    for (const { column, text } of cells) {
      const at = column - scanned.firstColumn
      if (at >= sheetLimits.columns) continue
      const words = typeof text === 'number' ? (source.strings.get(text) ?? '') : text
      texts[at] = linked(words, targetOf(scanned, targets, cellName(row, column)))
    }
    source.charactersLeft = texts.reduce((rest, text) => rest - text.length - ' | '.length, source.charactersLeft)
    if (source.charactersLeft < 0) break
    if (table.rows.length > 0 && row > before + 1) table.rows.push([])
    table.rows.push(texts)
    table.shown += 1
    before = row
  }
  return table
}

function targetOf(sheet: ScannedSheet, targets: ReadonlyMap<string, string>, cell: string): string {
  const link = sheet.links.get(cell)
  if (link === undefined) return ''
  return 'address' in link ? link.address : (targets.get(link.relationship) ?? '')
}

const linked = (text: string, target: string): string =>
  target === '' || target === text || target.length > maxLink ? text : markdownLink(text, target)

const commentList = (comments: readonly CellComment[]): string =>
  comments.length === 0 ? '' : ['Comments:', ...comments.map(({ cell, text }) => `- ${cell}: ${text}`)].join('\n')

function notesOn({ tab, scanned }: ReadSheet, shown: number): string[] {
  const name = `Sheet "${tab.name}"`
  const notes: string[] = []
  if (tab.hidden) notes.push(`${name} is hidden in Excel.`)
  if (scanned.rowCount === 0) return [...notes, `${name} is empty.`]
  const columns = scanned.lastColumn - scanned.firstColumn + 1
  const size = `${name} has ${count(scanned.rowCount, 'row')} and ${count(columns, 'column')}`
  const cut = [
    shown < scanned.rowCount ? `the first ${count(shown, 'row')}` : '',
    columns > sheetLimits.columns ? `the first ${count(sheetLimits.columns, 'column')}` : '',
  ].filter((part) => part !== '')
  if (cut.length > 0) notes.push(`${size}; ${cut.join(' and ')} are shown.`)
  if (shown > sheetLimits.rows) {
    notes.push(
      `${name}: the rows after the first ${count(sheetLimits.rows, 'row')} are in parts of their own, after all sheets.`,
    )
  }
  if (scanned.hasMergedCells) notes.push(`${name} has merged cells: the first one has the value, the others are blank.`)
  if (scanned.formulasWithoutValue > 0) {
    notes.push(
      `${name} has ${count(scanned.formulasWithoutValue, 'formula')} without a stored value, shown as written.`,
    )
  }
  return notes
}

const count = (number: number, word: string): string =>
  `${number.toLocaleString('en')} ${word}${number === 1 ? '' : 's'}`
