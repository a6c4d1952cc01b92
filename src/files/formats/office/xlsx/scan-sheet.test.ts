import { expect, test } from 'vitest'
import { openOfficePackage } from '../office-package.ts'
import { xlsxEntries } from '../testing/office-files.ts'
import { withFile } from '../testing/with-file.ts'
import { zipOf } from '../testing/zip-of.ts'
import { scanSheet } from './scan-sheet.ts'

test('scanSheet keeps no more than will be shown and counts the rest', async () => {
  const rows = '<row><c><v>1</v></c><c><v>2</v></c><c><v>3</v></c></row>'.repeat(3)
  const sheet = await withFile(zipOf(xlsxEntries({ sheets: [{ name: 'S', rows }] })), async (path) => {
    const pack = await openOfficePackage(path, 'xlsx')
    try {
      const options = { maxRows: 1, maxCells: 0, maxColumns: 2, formats: [], from1904: false }
      return await scanSheet(pack, 'xl/worksheets/sheet0.xml', options)
    } finally {
      pack.close()
    }
  })

  expect(sheet).toEqual({
    rows: [
      {
        row: 1,
        cells: [
          { column: 1, text: '1' },
          { column: 2, text: '2' },
        ],
      },
    ],
    rowCount: 3,
    firstColumn: 1,
    lastColumn: 3,
    hasMergedCells: false,
    formulasWithoutValue: 0,
    links: new Map(),
  })
})
