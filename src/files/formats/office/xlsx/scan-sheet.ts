// Reads one worksheet. Only what will be shown is kept, however large the sheet is or says it is: a file of 2 KB can put a cell
// at XFD1048576, and a grid of that size would fill any memory.

import type { OfficePackage } from '../office-package.ts'
import { attribute } from '../xml-scanner.ts'
import { formatNumber, type NumberFormat } from './number-format.ts'

/** The text of a cell, or the number of the shared string that it shows. */
type CellText = string | number

export interface SheetRow {
  row: number
  cells: { column: number; text: CellText }[]
}

export interface ScannedSheet {
  /** The rows that are not empty, as many as fit, each with its first `maxColumns` cells. */
  rows: SheetRow[]
  /** How many rows of the sheet are not empty. */
  rowCount: number
  firstColumn: number
  lastColumn: number
  hasMergedCells: boolean
  /** A program that does not calculate wrote these. They are shown as formulas. */
  formulasWithoutValue: number
  /** By cell, such as `B12`: an address, or the id of the relationship that has the address. */
  links: ReadonlyMap<string, { address: string } | { relationship: string }>
}

interface SheetOptions {
  /** This many rows are always kept. */
  maxRows: number
  /** Further rows are kept until there are this many cells. */
  maxCells: number
  maxColumns: number
  /** Indexed by the style number of a cell. */
  formats: readonly NumberFormat[]
  from1904: boolean
}

export async function scanSheet(pack: OfficePackage, part: string, options: SheetOptions): Promise<ScannedSheet> {
  const links = new Map<string, { address: string } | { relationship: string }>()
  const sheet: ScannedSheet = {
    rows: [],
    rowCount: 0,
    firstColumn: Number.POSITIVE_INFINITY,
    lastColumn: 0,
    hasMergedCells: false,
    formulasWithoutValue: 0,
    links,
  }
  let cells = 0
  const isFull = () => sheet.rows.length >= options.maxRows && cells >= options.maxCells
  let row: SheetRow = { row: 0, cells: [] }
  let filled = false
  let column = 0
  let type = 'n'
  let style = 0
  let value = ''
  let formula = ''
  let into: 'value' | 'formula' | undefined
  let phonetic = false

  function endCell(): void {
    const bare = value.trim() === ''
    if (bare && formula === '') return
    if (bare) sheet.formulasWithoutValue += 1
    filled = true
    sheet.firstColumn = Math.min(sheet.firstColumn, column)
    sheet.lastColumn = Math.max(sheet.lastColumn, column)
    if (isFull() || row.cells.length === options.maxColumns) return
    const address = LINK_FORMULA.exec(formula)?.[1]
    if (address !== undefined && links.size < MAX_LINKS) links.set(cellName(row.row, column), { address })
    const text = bare ? `=${formula}` : textOf(type, value, options.formats[style] ?? 'plain', options.from1904)
    row.cells.push({ column, text })
    cells += 1
  }

  await pack.scan(part, {
    open(name, attributes) {
      if (name === 'row') {
        row = { row: Number(attribute(attributes, 'r') ?? row.row + 1), cells: [] }
        filled = false
        column = 0
      } else if (name === 'c') {
        column = columnOf(attribute(attributes, 'r')) ?? column + 1
        type = attribute(attributes, 't') ?? 'n'
        style = Number(attribute(attributes, 's') ?? 0)
        value = ''
        formula = ''
      } else if (name === 'v' || name === 't') into = 'value'
      else if (name === 'f') into = 'formula'
      else if (name === 'rPh') phonetic = true
      else if (name === 'mergeCell') sheet.hasMergedCells = true
      else if (name === 'hyperlink' && links.size < MAX_LINKS) {
        const [cell = ''] = (attribute(attributes, 'ref') ?? '').split(':')
        const relationship = attribute(attributes, 'r:id')
        if (relationship !== undefined) links.set(cell, { relationship })
      }
    },
    text(text) {
      if (into === 'value' && !phonetic) value += text
      else if (into === 'formula') formula += text
    },
    close(name) {
      if (name === 'v' || name === 't' || name === 'f') into = undefined
      else if (name === 'rPh') phonetic = false
      else if (name === 'c') endCell()
      else if (name === 'row' && filled) {
        sheet.rowCount += 1
        if (!isFull()) sheet.rows.push(row)
      }
    },
  })
  return sheet
}

function textOf(type: string, value: string, format: NumberFormat, from1904: boolean): CellText {
  switch (type) {
    case 's':
      return Number(value)
    case 'b':
      return value === '1' || value === 'true' ? 'TRUE' : 'FALSE'
    case 'd':
      return value.replace(/T00:00:00(\.0+)?Z?$/, '')
    case 'n': {
      const number = Number(value)
      return Number.isFinite(number) ? formatNumber(number, format, from1904) : value
    }
    default:
      return value.trim()
  }
}

const MAX_LINKS = 10_000
const LINK_FORMULA = /^\s*HYPERLINK\(\s*"([^"]{1,2083})"/i

/** For example `AB12`. */
export function cellName(row: number, column: number): string {
  let letters = ''
  for (let left = column; left > 0; left = Math.floor((left - 1) / 26)) {
    letters = String.fromCharCode(65 + ((left - 1) % 26)) + letters
  }
  return `${letters}${row}`
}

/** `AB12` is in column 28. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0]
  if (letters === undefined) return undefined
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0)
}
