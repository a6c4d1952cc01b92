import type { Extract, ExtractSection } from '../../domain/file.ts'
import { extractCharacters } from './extract-limit.ts'
import { markdownTable } from './markdown.ts'
import { type NumberFormat, numberFormatOf } from './number-format.ts'
import { type OfficePackage, openOfficePackage } from './office-package.ts'
import { type ScannedSheet, scanSheet } from './scan-sheet.ts'
import { damaged } from './unreadable.ts'
import { attribute } from './xml-scanner.ts'

/** Of one sheet; what is beyond is left out with a note of how much. */
export const sheetLimits = { rows: 1_000, columns: 50 } as const

/**
 * One section for each sheet in the order of the tabs, hidden ones too: a Markdown table without the empty rows and columns
 * around it, several empty rows inside as one. A merged cell has its value in its first cell, the others are blank. Formulas
 * show their stored values, dates are ISO dates, percentages what Excel shows.
 */
export async function readXlsx(path: string): Promise<Extract> {
  const pack = await openOfficePackage(path, 'xlsx')
  try {
    const workbook = await readWorkbook(pack)
    const formats = await readFormats(pack, workbook.styles)
    // No program writes two tabs of one sheet; somebody who wants it read a thousand times does.
    if (new Set(workbook.tabs.map(({ part }) => part)).size < workbook.tabs.length) throw damaged()
    const sheets: { tab: Tab; sheet: ScannedSheet }[] = []
    for (const tab of workbook.tabs) {
      const options = {
        maxRows: sheetLimits.rows,
        maxColumns: sheetLimits.columns,
        formats,
        from1904: workbook.from1904,
      }
      sheets.push({ tab, sheet: await scanSheet(pack, tab.part, options) })
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
  sheets: readonly { tab: Tab; sheet: ScannedSheet }[],
  strings: ReadonlyMap<number, string>,
  notes: readonly string[],
): Extract {
  const extract: Extract = { sections: [], notes: [...notes] }
  let left = extractCharacters
  for (const { tab, sheet } of sheets) {
    const rows: string[][] = []
    let shown = 0
    let before = 0
    for (const { row, cells } of sheet.rows) {
      const texts: string[] = []
      for (const { column, text } of cells) {
        const at = column - sheet.firstColumn
        if (at < sheetLimits.columns) texts[at] = typeof text === 'number' ? (strings.get(text) ?? '') : text
      }
      left = texts.reduce((rest, text) => rest - text.length - 3, left)
      if (left < 0) break
      if (rows.length > 0 && row > before + 1) rows.push([])
      rows.push(texts)
      shown += 1
      before = row
    }
    extract.sections.push(sectionOf(tab, rows))
    extract.notes.push(...notesOn(tab, sheet, shown))
  }
  return extract
}

const sectionOf = (tab: Tab, rows: string[][]): ExtractSection => ({
  label: `sheet ${tab.name}`,
  text: markdownTable(rows),
})

function notesOn(tab: Tab, sheet: ScannedSheet, shown: number): string[] {
  const name = `Sheet "${tab.name}"`
  const notes: string[] = []
  if (tab.hidden) notes.push(`${name} is hidden in Excel.`)
  if (sheet.rowCount === 0) return [...notes, `${name} is empty.`]
  const columns = sheet.lastColumn - sheet.firstColumn + 1
  const cut = [
    shown < sheet.rowCount ? `the first ${count(shown, 'row')}` : '',
    columns > sheetLimits.columns ? `the first ${count(sheetLimits.columns, 'column')}` : '',
  ].filter((part) => part !== '')
  if (cut.length > 0) {
    const size = `${count(sheet.rowCount, 'row')} and ${count(columns, 'column')}`
    notes.push(`${name} has ${size}; ${cut.join(' and ')} are shown.`)
  }
  if (sheet.hasMergedCells) notes.push(`${name} has merged cells: the value stands in the first, the others are blank.`)
  if (sheet.formulasWithoutValue > 0) {
    notes.push(`${name} has ${count(sheet.formulasWithoutValue, 'formula')} without a stored value, shown as written.`)
  }
  return notes
}

const count = (number: number, word: string): string =>
  `${number.toLocaleString('en')} ${word}${number === 1 ? '' : 's'}`
