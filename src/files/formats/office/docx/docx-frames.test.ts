import { describe, expect, test } from 'vitest'
import { extractCharacters } from '../../extract-limit.ts'
import { addCell, createDocxRow, createDocxTable, type DocxRow } from './docx-frames.ts'

const rowOf = (...cells: string[]): DocxRow => ({ ...createDocxRow(), cells })

describe('createDocxTable', () => {
  test('keeps no more rows than fit when all are padded to the widest', () => {
    const table = createDocxTable()
    table.addRow(rowOf(...Array.from({ length: 50 }, () => 'wide')))
    for (let at = 0; at < 100_000; at += 1) table.addRow(rowOf(''))

    expect(table.frame()).toBe(Math.floor(extractCharacters / 150) * 150)
    expect(table.lines().split('\n').length).toBe(Math.floor(extractCharacters / 150))
  })

  test('leaves out a row that would make all the others too wide', () => {
    const table = createDocxTable()
    for (let at = 0; at < 100_000; at += 1) table.addRow(rowOf('short'))
    table.addRow(rowOf(...Array.from({ length: 50 }, () => 'wide')))

    expect(table.frame()).toBe(300_000)
  })
})

describe('addCell', () => {
  test('counts a cell that claims no columns as one column, and stops at the last column of Word', () => {
    const row = createDocxRow()
    addCell(row, 'a', 0)
    addCell(row, 'b', 63)
    addCell(row, 'c', 1)

    expect(row).toEqual({ cells: ['a', 'b', 'c'], column: 3, deleted: false })
  })
})
