import { describe, expect, test } from 'vitest'
import { readDocx } from './read-docx.ts'
import { docxEntries, relationships, type TestRelationship } from './testing/office-files.ts'
import { withFile } from './testing/with-file.ts'
import { type ZipEntry, zipOf } from './testing/zip-of.ts'

const read = (body: string, others: readonly ZipEntry[] = [], rels: readonly TestRelationship[] = []) =>
  withFile(
    zipOf([...docxEntries(body), { name: 'word/_rels/document.xml.rels', content: relationships(rels) }, ...others]),
    readDocx,
  )

const run = (text: string, properties = ''): string =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`
const paragraph = (content: string, properties = ''): string => `<w:p><w:pPr>${properties}</w:pPr>${content}</w:p>`
const item = (text: string, list: number, level: number): string =>
  paragraph(run(text), `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr>`)
const cell = (text: string, properties = ''): string =>
  `<w:tc><w:tcPr>${properties}</w:tcPr>${paragraph(run(text))}</w:tc>`
const row = (...cells: string[]): string => `<w:tr>${cells.join('')}</w:tr>`

const level = (at: number, format: string): string => `<w:lvl w:ilvl="${at}"><w:numFmt w:val="${format}"/></w:lvl>`
const numbering: ZipEntry = {
  name: 'word/numbering.xml',
  content:
    `<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="0">${level(0, 'decimal')}${level(1, 'lowerLetter')}</w:abstractNum>` +
    `<w:abstractNum w:abstractNumId="1">${level(0, 'bullet')}${level(1, 'bullet')}</w:abstractNum>` +
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num></w:numbering>',
}

describe('readDocx', () => {
  test('gives headings, emphasis and links as Markdown, and joins the runs that Word splits', async () => {
    const { sections } = await read(
      paragraph(run('Chapter'), '<w:pStyle w:val="Heading1"/>') +
        paragraph(run('Plain ') + run('bo', '<w:b/>') + run('ld ', '<w:b/>') + run('and ') + run('slanted', '<w:i/>')) +
        paragraph(`<w:hyperlink r:id="l1">${run('the site')}</w:hyperlink>${run(' &amp; more')}`) +
        paragraph(`${run('kept ')}<w:del>${run('deleted')}</w:del><w:ins>${run('added')}</w:ins>`),
      [],
      [{ id: 'l1', type: 'hyperlink', target: 'https://example.com/', external: true }],
    )

    expect(sections).toEqual([
      {
        label: '',
        text: '# Chapter\n\nPlain **bold** and *slanted*\n\n[the site](https://example.com/) & more\n\nkept added',
      },
    ])
  })

  test('keeps lists as they are nested and numbered', async () => {
    const { sections } = await read(
      item('one', 1, 0) +
        item('below', 1, 1) +
        item('two', 1, 0) +
        paragraph(run('Text')) +
        item('dot', 2, 0) +
        item('deep', 2, 1),
      [numbering],
      [{ id: 'n', type: 'numbering', target: 'numbering.xml' }],
    )

    expect(sections[0]?.text).toBe('1. one\n    1. below\n2. two\n\nText\n\n- dot\n    - deep')
  })

  test('puts cells where they stand, and a table inside a cell into that cell', async () => {
    const inner = `<w:tbl>${row(cell('in 1'), cell('in 2'))}</w:tbl>`
    const { sections } = await read(
      `<w:tbl>${row(cell('A'), cell('B'), cell('C'))}${row(cell('a|b', '<w:gridSpan w:val="2"/>'), cell('c'))}` +
        `${row(cell('x'), `<w:tc>${inner}${paragraph('')}</w:tc>`, cell('z'))}</w:tbl>${paragraph(run('After'))}`,
    )

    expect(sections[0]?.text).toBe(
      '| A | B | C |\n| --- | --- | --- |\n| a\\|b |  | c |\n| x | in 1 / in 2 | z |\n\nAfter',
    )
  })

  test('does not build the table that a cell over a billion columns asks for', async () => {
    const wide = cell('wide', '<w:gridSpan w:val="1000000000"/>')
    const { sections } = await read(`<w:tbl>${row(wide, cell('next'))}</w:tbl>`)

    expect(sections[0]?.text).toBe('| wide | next |\n| --- | --- |')
  })

  test('puts footnotes below the text', async () => {
    const { sections } = await read(
      paragraph(`${run('Claim')}<w:r><w:footnoteReference w:id="2"/></w:r>${run(' goes on.')}`),
      [
        {
          name: 'word/footnotes.xml',
          content: `<w:footnotes xmlns:w="w"><w:footnote w:id="2">${paragraph(run('Proof.'))}</w:footnote></w:footnotes>`,
        },
      ],
      [{ id: 'f', type: 'footnotes', target: 'footnotes.xml' }],
    )

    expect(sections[0]?.text).toBe('Claim[^1] goes on.\n\n[^1]: Proof.')
  })

  test('an empty document is one empty section', async () => {
    expect(await read('')).toEqual({ sections: [{ label: '', text: '' }], notes: [] })
  })
})
