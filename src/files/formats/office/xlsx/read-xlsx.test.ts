import { describe, expect, test } from 'vitest'
import { type TestWorkbook, xlsxEntries } from '../testing/office-files.ts'
import { withFile } from '../testing/with-file.ts'
import { zipOf } from '../testing/zip-of.ts'
import { readXlsx } from './read-xlsx.ts'

const read = (workbook: TestWorkbook) => withFile(zipOf(xlsxEntries(workbook)), readXlsx)

describe('readXlsx', () => {
  test('gives a table for each sheet, with dates, formulas, truth values and errors as Excel shows them', async () => {
    const extract = await read({
      strings: '<si><t>Item</t></si><si><r><t>Rich </t></r><r><t>text</t></r><rPh><t>no</t></rPh></si>',
      styles:
        '<numFmts><numFmt numFmtId="170" formatCode="yyyy-mm-dd"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/><xf numFmtId="10"/></cellXfs>',
      sheets: [
        {
          name: 'Orders &amp; more',
          rows:
            '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>Day</t></is></c><c r="C1"/></row>' +
            '<row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2" s="1"><v>46037</v></c><c r="D2" s="2"><v>0.25</v></c></row>' +
            '<row r="3"><c r="A3" t="str"><f>A1&amp;"|"</f><v>a|b&#10;c</v></c><c r="B3"><f>1+1</f><v>2</v></c><c r="C3" t="b"><v>1</v></c><c r="D3" t="e"><v>#DIV/0!</v></c></row>',
        },
        { name: 'Second', rows: '<row><c><v>1.5</v></c><c><f>SUM(A1)</f></c></row>' },
      ],
    })

    expect(extract).toEqual({
      sections: [
        {
          label: 'sheet Orders & more',
          text: [
            '| Item | Day |  |  |',
            '| --- | --- | --- | --- |',
            '| Rich text | 2026-01-15 |  | 25.00% |',
            '| a\\|b<br>c | 2 | TRUE | #DIV/0! |',
          ].join('\n'),
        },
        { label: 'sheet Second', text: '| 1.5 | =SUM(A1) |\n| --- | --- |' },
      ],
      notes: ['Sheet "Second" has 1 formula without a stored value, shown as written.'],
    })
  })

  test('leaves out the empty rows and columns around the cells, and joins several empty rows inside', async () => {
    const { sections } = await read({
      sheets: [
        {
          name: 'S',
          rows:
            '<row r="3"><c r="A3" s="4"/><c r="C3"><v>1</v></c></row><row r="4"><c r="D4"><v>2</v></c></row>' +
            '<row r="9"><c r="C9"><v>3</v></c></row>',
        },
      ],
    })

    expect(sections).toEqual([{ label: 'sheet S', text: '| 1 |  |\n| --- | --- |\n|  | 2 |\n|  |  |\n| 3 |  |' }])
  })

  test('says which sheets are hidden, empty, or have merged cells', async () => {
    const extract = await read({
      sheets: [
        {
          name: 'H',
          state: 'veryHidden',
          rows: '<row><c r="A1"><v>1</v></c></row>',
          merged: '<mergeCell ref="A1:B1"/>',
        },
        { name: 'E', rows: '' },
      ],
    })

    expect(extract).toEqual({
      sections: [
        { label: 'sheet H', text: '| 1 |\n| --- |' },
        { label: 'sheet E', text: '' },
      ],
      notes: [
        'Sheet "H" is hidden in Excel.',
        'Sheet "H" has merged cells: the first one has the value, the others are blank.',
        'Sheet "E" is empty.',
      ],
    })
  })

  test('gives the rows after the first 1,000 in parts, after all sheets and with the same header', async () => {
    const rows = Array.from({ length: 2_500 }, (_, at) => `<row><c><v>${at}</v></c></row>`).join('')
    const { sections, notes } = await read({
      sheets: [
        { name: 'Big', rows },
        { name: 'Small', rows: '<row><c><v>7</v></c></row>' },
      ],
    })
    const table = (from: number, to: number) =>
      ['| 0 |', '| --- |', ...Array.from({ length: to - from }, (_, at) => `| ${from + at} |`)].join('\n')

    expect(sections).toEqual([
      { label: 'sheet Big', text: table(1, 1_000) },
      { label: 'sheet Small', text: '| 7 |\n| --- |' },
      { label: 'sheet Big rows 1001-2000', text: table(1_000, 2_000) },
      { label: 'sheet Big rows 2001-2500', text: table(2_000, 2_500) },
    ])
    expect(notes).toEqual([
      'Sheet "Big": the rows after the first 1,000 rows are in parts of their own, after all sheets.',
    ])
  })

  test('shows the targets of links, and comments', async () => {
    const entries = xlsxEntries({
      sheets: [
        {
          name: 'S',
          rows:
            '<row r="2"><c r="B2" t="str"><v>the site</v></c><c r="C2" t="str"><f>HYPERLINK("https://example.com/b","more")</f><v>more</v></c></row>' +
            '<row r="3"><c r="B3" t="str"><v>inside</v></c></row>',
          links: '<hyperlink ref="B2:B2" r:id="l"/><hyperlink ref="B3" location="S!A1"/>',
          relationships: [
            { id: 'l', type: 'hyperlink', target: 'https://example.com/a', external: true },
            { id: 'c', type: 'comments', target: '../comments1.xml' },
            { id: 't', type: 'threadedComment', target: '../threadedComments/threadedComment1.xml' },
          ],
        },
      ],
    })
    const comments =
      '<comments><authors><author>Ada</author></authors><commentList>' +
      '<comment ref="B2"><text><r><t>[Threaded comment] Your version of Excel</t></r></text></comment>' +
      '<comment ref="B3"><text><r><t>Ada:</t></r><r><t xml:space="preserve">\nPlease check</t></r></text></comment>' +
      '</commentList></comments>'
    const conversation =
      '<ThreadedComments><threadedComment ref="B2" id="1"><text>Is it open?</text></threadedComment>' +
      '<threadedComment ref="B2" id="2" parentId="1"><text>Yes.</text></threadedComment></ThreadedComments>'
    const zip = zipOf([
      ...entries,
      { name: 'xl/comments1.xml', content: comments },
      { name: 'xl/threadedComments/threadedComment1.xml', content: conversation },
    ])

    expect((await withFile(zip, readXlsx)).sections).toEqual([
      {
        label: 'sheet S',
        text: [
          '| [the site](https://example.com/a) | [more](https://example.com/b) |',
          '| --- | --- |',
          '| inside |  |',
          '',
          'Comments:',
          '- B2: Is it open?',
          '- B2: Yes.',
          '- B3: Ada: Please check',
        ].join('\n'),
      },
    ])
  })

  test('does not build a grid for a cell in the last corner', async () => {
    const extract = await read({
      sheets: [
        {
          name: 'S',
          rows: '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>',
        },
      ],
    })

    expect(extract).toEqual({
      sections: [{ label: 'sheet S', text: '| 1 |\n| --- |\n|  |\n|  |' }],
      notes: ['Sheet "S" has 2 rows and 16,384 columns; the first 50 columns are shown.'],
    })
  })

  test('stops before a long text that many cells share fills the memory', async () => {
    const cells = '<c t="s"><v>0</v></c>'.repeat(50)
    const { sections, notes } = await read({
      strings: `<si><t>${'x'.repeat(30_000)}</t></si>`,
      sheets: [{ name: 'S', rows: `<row>${cells}</row>`.repeat(1_000) }],
    })

    expect(sections.map(({ text }) => text.length < 5_000_000)).toEqual([true])
    expect(notes).toEqual(['Sheet "S" has 1,000 rows and 50 columns; the first 2 rows are shown.'])
  })
})
