import type { Extract, ExtractSection } from '../../../../domain/file.ts'
import { extractCharacters } from '../../extract-limit.ts'
import { markdownLink, markdownTable, maxLink } from '../../markdown.ts'
import { damaged } from '../../unreadable.ts'
import { type OfficePackage, openOfficePackage } from '../office-package.ts'
import { attribute } from '../xml-scanner.ts'
import { type NumberFormat, numberFormatOf } from './number-format.ts'
import { cellName, type ScannedSheet, type SheetRow, scanSheet } from './scan-sheet.ts'
import { type CellComment, readSheetComments } from './sheet-comments.ts'

/** Of one section. Further rows of a sheet follow in sections of their own; columns beyond are left out with a note of how many. */
export const sheetLimits = { rows: 1_000, columns: 50 } as const
/** Of all rows that follow, in all sheets. */
const MAX_MORE_CELLS = 500_000

/**
 * One section for each sheet in the order of the tabs, hidden ones too: a Markdown table without the empty rows and columns
 * around it, several empty rows inside as one. Of long sheets the first rows come first, then the others in parts, so that no sheet
 * hides behind another. A merged cell has its value in its first cell, the others are blank. Formulas
 * show their stored values, dates are ISO dates, numbers have the zeros and units that Excel shows. Comments stand below.
 */
export async function readXlsx(path: string): Promise<Extract> {
  const pack = await openOfficePackage(path, 'xlsx')
  try {
    const workbook = await readWorkbook(pack)
    const formats = await readFormats(pack, workbook.styles)
    // No program writes two tabs of one sheet; somebody who wants it read a thousand times does.
    if (new Set(workbook.tabs.map(({ part }) => part)).size < workbook.tabs.length) throw damaged()
    const sheets: ReadSheet[] = []
    let maxCells = MAX_MORE_CELLS
    for (const tab of workbook.tabs) {
      const options = {
        maxRows: sheetLimits.rows,
        maxCells,
        maxColumns: sheetLimits.columns,
        formats,
        from1904: workbook.from1904,
      }
      const sheet = await scanSheet(pack, tab.part, options)
      maxCells = sheet.rows.reduce((rest, { cells }) => rest - cells.length, maxCells)
      const relationships = await pack.relationshipsOf(tab.part)
      const comments = await readSheetComments(pack, relationships)
      const targets = new Map([...relationships].map(([id, { target, external }]) => [id, external ? target : '']))
      sheets.push({ tab, sheet, comments, targets })
    }
    const strings = await readSharedStrings(
      pack,
      workbook.sharedStrings,
      sheets.map(({ sheet }) => sheet),
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
  sheet: ScannedSheet
  comments: readonly CellComment[]
  /** Addresses outside the file, by the id of the relationship. */
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

/** Only the strings that are shown: the table of a large workbook holds hundreds of thousands. */
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

function extractOf(
  sheets: readonly ReadSheet[],
  strings: ReadonlyMap<number, string>,
  notes: readonly string[],
): Extract {
  let left = extractCharacters

  /** As many rows as there is room for. */
  function tableRows({ sheet, targets }: ReadSheet, from: readonly SheetRow[]): { rows: string[][]; shown: number } {
    const rows: string[][] = []
    let shown = 0
    let before = 0
    for (const { row, cells } of from) {
      const texts: string[] = []
      for (const { column, text } of cells) {
        const at = column - sheet.firstColumn
        if (at >= sheetLimits.columns) continue
        const words = typeof text === 'number' ? (strings.get(text) ?? '') : text
        texts[at] = linked(words, targetOf(sheet, targets, cellName(row, column)))
      }
      left = texts.reduce((rest, text) => rest - text.length - 3, left)
      if (left < 0) break
      if (rows.length > 0 && row > before + 1) rows.push([])
      rows.push(texts)
      shown += 1
      before = row
    }
    return { rows, shown }
  }

  const first: ExtractSection[] = []
  const heads = new Map<ReadSheet, { rows: string[][]; shown: number }>()
  for (const one of sheets) {
    const table = tableRows(one, one.sheet.rows.slice(0, sheetLimits.rows))
    heads.set(one, table)
    const text = [markdownTable(table.rows), commentList(one.comments)].filter((part) => part !== '').join('\n\n')
    first.push({ label: `sheet ${one.tab.name}`, text })
  }
  const more: ExtractSection[] = []
  const extract: Extract = { sections: first, notes: [...notes] }
  for (const one of sheets) {
    const head = heads.get(one)?.rows[0] ?? []
    let shown = heads.get(one)?.shown ?? 0
    for (let at = shown; at < one.sheet.rows.length && left >= 0 && shown > 0; at = shown) {
      const part = one.sheet.rows.slice(at, at + sheetLimits.rows)
      const table = tableRows(one, part)
      const [from, to] = [part[0]?.row, part[table.shown - 1]?.row]
      if (from === undefined || to === undefined) break
      // The first row is mostly the head of all.
      more.push({ label: `sheet ${one.tab.name} rows ${from}-${to}`, text: markdownTable([head, ...table.rows]) })
      shown += table.shown
    }
    extract.notes.push(...notesOn(one.tab, one.sheet, shown))
  }
  return { ...extract, sections: [...first, ...more] }
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

function notesOn(tab: Tab, sheet: ScannedSheet, shown: number): string[] {
  const name = `Sheet "${tab.name}"`
  const notes: string[] = []
  if (tab.hidden) notes.push(`${name} is hidden in Excel.`)
  if (sheet.rowCount === 0) return [...notes, `${name} is empty.`]
  const columns = sheet.lastColumn - sheet.firstColumn + 1
  const size = `${name} has ${count(sheet.rowCount, 'row')} and ${count(columns, 'column')}`
  const cut = [
    shown < sheet.rowCount ? `the first ${count(shown, 'row')}` : '',
    columns > sheetLimits.columns ? `the first ${count(sheetLimits.columns, 'column')}` : '',
  ].filter((part) => part !== '')
  if (cut.length > 0) notes.push(`${size}; ${cut.join(' and ')} are shown.`)
  if (shown > sheetLimits.rows) {
    notes.push(
      `${name}: those after the first ${count(sheetLimits.rows, 'row')} stand in parts of their own, behind all sheets.`,
    )
  }
  if (sheet.hasMergedCells) notes.push(`${name} has merged cells: the value stands in the first, the others are blank.`)
  if (sheet.formulasWithoutValue > 0) {
    notes.push(`${name} has ${count(sheet.formulasWithoutValue, 'formula')} without a stored value, shown as written.`)
  }
  return notes
}

const count = (number: number, word: string): string =>
  `${number.toLocaleString('en')} ${word}${number === 1 ? '' : 's'}`
