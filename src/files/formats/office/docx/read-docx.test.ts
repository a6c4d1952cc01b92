import {
  CheckBox,
  CommentRangeEnd,
  CommentRangeStart,
  CommentReference,
  DeletedTextRun,
  Document,
  EndnoteReferenceRun,
  ImageRun,
  InsertedTextRun,
  NoBreakHyphen,
  Packer,
  Paragraph,
  SimpleField,
  SoftHyphen,
  SymbolRun,
  Tab,
  Table,
  TableCell,
  TableRow,
  TextRun,
} from 'docx'
import { describe, expect, test } from 'vitest'
import {
  cell,
  item,
  notesPart,
  numberingPart,
  paragraph,
  readBody,
  row,
  run,
  styled,
  textOf,
} from '../testing/docx-xml.ts'
import { docxEntries } from '../testing/office-files.ts'
import { withFile } from '../testing/with-file.ts'
import { zipOf } from '../testing/zip-of.ts'
import { readDocx } from './read-docx.ts'

const level = (at: number, format: string): string => `<w:lvl w:ilvl="${at}"><w:numFmt w:val="${format}"/></w:lvl>`
const numbering = numberingPart(
  `<w:abstractNum w:abstractNumId="0">${level(0, 'decimal')}${level(1, 'lowerLetter')}</w:abstractNum>` +
    `<w:abstractNum w:abstractNumId="1">${level(0, 'bullet')}${level(1, 'bullet')}</w:abstractNum>` +
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>',
)

describe('readDocx', () => {
  test('reads a document with parts in UTF-16, one of which it needs', async () => {
    const utf16 = (text: string) => Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${text}`, 'utf16le')
    const [types, rels, main] = docxEntries('<w:p><w:r><w:t>Grüße</w:t></w:r></w:p>')
    const entries = [types, rels, main, { name: 'customXml/item1.xml', content: utf16('<b:Sources/>') }]
    const parts = entries.flatMap((entry) => entry ?? [])
    const all = parts.map(({ name, content }) => ({
      name,
      content: name === 'word/document.xml' ? utf16(String(content)) : content,
    }))

    for (const one of [parts, all]) {
      expect((await withFile(zipOf(one), readDocx)).sections).toEqual([{ label: '', text: 'Grüße' }])
    }
  })

  test('gives headings, emphasis and links as Markdown, and joins the runs that Word splits', async () => {
    const { sections } = await readBody(
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
    const { sections } = await readBody(
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

  test('puts cells into their columns, and a table inside a cell into that cell', async () => {
    const inner = `<w:tbl>${row(cell('in 1'), cell('in 2'))}</w:tbl>`
    const { sections } = await readBody(
      `<w:tbl>${row(cell('A'), cell('B'), cell('C'))}${row(cell('a|b', '<w:gridSpan w:val="2"/>'), cell('c'))}` +
        `${row(cell('x'), `<w:tc>${inner}${paragraph('')}</w:tc>`, cell('z'))}</w:tbl>${paragraph(run('After'))}`,
    )

    expect(sections[0]?.text).toBe(
      '| A | B | C |\n| --- | --- | --- |\n| a\\|b |  | c |\n| x | in 1 / in 2 | z |\n\nAfter',
    )
  })

  test('keeps the text of deeply nested tables, in order', async () => {
    const deep = (levels: number): string =>
      levels === 0
        ? ''
        : `<w:tbl>${row(`<w:tc>${paragraph(run(`a${levels}`))}${deep(levels - 1)}</w:tc>`, cell(`b${levels}`))}</w:tbl>`

    expect(await textOf(deep(8))).toBe(
      `| ${[8, 7, 6, 5, 4, 3, 2, 1].map((at) => `a${at}`).join('<br>')}<br>b1<br>b2 / b3 / b4 / b5 / b6 / b7 | b8 |\n| --- | --- |`,
    )
  })

  test('does not build a table for a cell that claims a billion columns', async () => {
    const wide = cell('wide', '<w:gridSpan w:val="1000000000"/>')
    const { sections } = await readBody(`<w:tbl>${row(wide, cell('next'))}</w:tbl>`)

    expect(sections[0]?.text).toBe('| wide | next |\n| --- | --- |')
  })

  test('puts footnotes below the text', async () => {
    const { sections } = await readBody(
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
    expect(await readBody('')).toEqual({ sections: [{ label: '', text: '' }], notes: [] })
  })

  test('reads what the npm writer writes: tracked changes, symbols, fields, notes, merged cells and pictures', async () => {
    const merged = (text: string, more: object = {}) => new TableCell({ children: [new Paragraph(text)], ...more })
    const picture = (description: string) =>
      new ImageRun({
        type: 'png',
        data: Buffer.from('89504e470d0a1a0a', 'hex'),
        transformation: { width: 1, height: 1 },
        altText: { name: 'p', title: '', description },
      })
    const document = new Document({
      endnotes: { 1: { children: [new Paragraph('At the end.')] } },
      comments: {
        children: [{ id: 0, author: 'Ann Lee', date: new Date(0), children: [new Paragraph('Is that so?')] }],
      },
      sections: [
        {
          children: [
            new Paragraph({
              children: [
                new TextRun('Kept '),
                new DeletedTextRun({ id: 1, author: 'a', date: '2026-01-01', text: 'deleted ' }),
                new InsertedTextRun({ id: 2, author: 'a', date: '2026-01-01', text: 'added' }),
                new EndnoteReferenceRun(1),
                new CommentRangeStart(0),
                new TextRun(' doubtful'),
                new CommentRangeEnd(0),
                new TextRun({ children: [new CommentReference(0)] }),
              ],
            }),
            new Paragraph({
              children: [
                new TextRun({ children: ['a', new Tab(), 'b', new NoBreakHyphen(), 'c', new SoftHyphen(), 'd'] }),
                new TextRun({ text: 'next line', break: 1 }),
                new SymbolRun('F0FC'),
                new SimpleField('AUTHOR', 'Jane'),
              ],
            }),
            new Paragraph({ children: [new CheckBox({ checked: true }), new TextRun(' done')] }),
            new Table({
              rows: [
                new TableRow({ children: [merged('wide', { columnSpan: 2 }), merged('tall', { rowSpan: 2 })] }),
                new TableRow({ children: [merged('x'), merged('y')] }),
              ],
            }),
            new Paragraph({ children: [picture('A crane'), picture('')] }),
          ],
        },
      ],
    })

    expect(await withFile(await Packer.toBuffer(document), readDocx)).toEqual({
      sections: [
        {
          label: '',
          text: [
            'Kept added[^1] doubtful[^2]',
            'a\tb-cd\nnext line✓Jane',
            '☒ done',
            '| wide |  | tall |\n| --- | --- | --- |\n| x | y |  |',
            '[Picture: A crane]',
            '[^1]: At the end.\n[^2]: Comment by Ann Lee: Is that so?',
          ].join('\n\n'),
        },
      ],
      notes: ['One picture without a description could not be read.'],
    })
  })

  test('leaves out rows and moved text that a tracked change removed', async () => {
    const gone = `<w:tr><w:trPr><w:del w:id="1"/></w:trPr>${cell('gone')}${cell('too')}</w:tr>`

    expect(
      await textOf(
        paragraph(`<w:moveFrom>${run('moved')}</w:moveFrom>${run('first ')}<w:moveTo>${run('moved')}</w:moveTo>`) +
          `<w:tbl>${row(cell('A'), cell('B'))}${gone}${row(cell('was', '<w:cellDel w:id="2"/>'), cell('b'))}</w:tbl>`,
      ),
    ).toBe('first moved\n\n| A | B |\n| --- | --- |\n|  | b |')
  })

  test('shows the results of fields and follows their links', async () => {
    const char = (type: string) => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`
    const field = (instruction: string, result: string) =>
      `${char('begin')}<w:r><w:instrText>${instruction}</w:instrText></w:r>${char('separate')}${result}${char('end')}`
    const address = 'HYPERLINK "https://example.com/" \\l "top"'

    expect(
      await textOf(
        paragraph(
          `${run('See ')}${field(address, run('the') + run(' site'))}${run(', page ')}${field('PAGE', run('7'))}`,
        ) +
          paragraph(field(`IF ${field('MERGEFIELD x', run('inner'))} = 1`, run('outcome'))) +
          paragraph(`<w:fldSimple w:instr='HYPERLINK "mailto:a@b.c"'>${run('mail')}</w:fldSimple>${run(' us')}`) +
          paragraph(
            `${field('HYPERLINK \\l "place"', run('a place'))}${char('begin')}<w:r><w:instrText>XE "no"</w:instrText></w:r>`,
          ) +
          paragraph(run('an instruction that never ends hides nothing')),
      ),
    ).toBe(
      [
        'See [the site](https://example.com/#top), page 7',
        'outcome',
        '[mail](mailto:a@b.c) us',
        'a place',
        'an instruction that never ends hides nothing',
      ].join('\n\n'),
    )
  })

  test('reads text boxes once, after the paragraph they are anchored to, in order', async () => {
    const box = (content: string) => `<w:txbxContent>${content}</w:txbxContent>`
    const both = (content: string) =>
      `<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:docPr descr="no picture"/>${box(content)}</w:drawing>` +
      `</mc:Choice><mc:Fallback><w:pict><v:textbox>${box(content)}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>`
    const emoji =
      '<w:r><mc:AlternateContent><mc:Choice Requires="w16se"><w16se:symEx w16se:char="1F600"/></mc:Choice>' +
      '<mc:Fallback><w:t>😀</w:t></mc:Fallback></mc:AlternateContent></w:r>'
    const table = `<w:tbl>${row(cell('in'), cell('box'))}</w:tbl>`

    expect(
      await textOf(
        paragraph(run('before ') + both(paragraph(run('box') + both(paragraph(run('inner')))) + table) + run('after')) +
          paragraph(run('smile ') + emoji) +
          `<w:tbl>${row(`<w:tc>${paragraph(run('cell') + both(paragraph(run('boxed'))))}</w:tc>`, cell('c'))}</w:tbl>`,
      ),
    ).toBe(
      [
        'before after',
        'box',
        'inner',
        '| in | box |\n| --- | --- |',
        'smile 😀',
        '| cell<br>boxed | c |\n| --- | --- |',
      ].join('\n\n'),
    )
  })

  test('reads the text inside content controls, smart tags and other wrappers', async () => {
    const control = (content: string) =>
      `<w:sdt><w:sdtPr><w:alias w:val="x"/><w:rPr><w:vanish/></w:rPr></w:sdtPr><w:sdtContent>${content}</w:sdtContent></w:sdt>`
    const ruby = `<w:r><w:ruby><w:rubyPr/><w:rt>${run('kan')}</w:rt><w:rubyBase>${run('漢')}</w:rubyBase></w:ruby></w:r>`

    expect(
      await textOf(
        control(paragraph(`${run('block ')}${control(run('inline'))}<w:smartTag>${run(' tag')}</w:smartTag>`)) +
          `<w:tbl>${control(row(control(cell('c1')), cell('c2')))}</w:tbl>` +
          `<w:customXml>${paragraph(`${run('custom ')}${ruby}`)}</w:customXml>`,
      ),
    ).toBe('block inline tag\n\n| c1 | c2 |\n| --- | --- |\n\ncustom 漢')
  })

  test('keeps words apart at line and page breaks, tabs, and line ends inside a run', async () => {
    const stops = '<w:tabs><w:tab w:val="left" w:pos="720"/></w:tabs>'

    expect(
      await textOf(
        paragraph(`${run('a')}<w:r><w:br w:type="page"/></w:r>${run('b')}<w:r><w:cr/></w:r>${run('c\nd')}`, stops) +
          paragraph(`${run('e')}<w:r><w:ptab/></w:r>${run('soft\u00ADly')}<w:r><w:lastRenderedPageBreak/></w:r>`),
      ),
    ).toBe('a\nb\nc d\n\ne\tsoftly')
  })

  test.each([
    ['Wingdings', 'F0FE', '☑'],
    ['Wingdings', 'F021', '\uFFFD'],
    ['Symbol', 'F061', 'α'],
    ['Symbol', '0057', 'Ω'],
    ['Arial', '2713', '✓'],
    ['Webdings', 'F061', '\uFFFD'],
    ['Arial', 'x', '\uFFFD'],
  ])('a symbol of %s, %s, is %s', async (font, char, expected) => {
    expect(await textOf(paragraph(`<w:r><w:sym w:font="${font}" w:char="${char}"/></w:r>`))).toBe(expected)
  })

  test('leaves columns free where a row says so, and shows headings in cells as lines', async () => {
    const late = `<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>${cell('late')}</w:tr>`

    expect(await textOf(`<w:tbl>${row(`<w:tc>${styled('Head', 'Heading1')}</w:tc>`, cell('B'))}${late}</w:tbl>`)).toBe(
      '| Head | B |\n| --- | --- |\n|  | late |',
    )
    expect(await textOf(`<w:tbl>${row(cell(''), cell(' '))}</w:tbl>`)).toBe('')
  })

  test('numbers notes in the order of their references, each once, and leaves out notes without a reference', async () => {
    const refer = (kind: string, id: number) => `<w:r><w:${kind}Reference w:id="${id}"/></w:r>`
    const note = (kind: string, id: number, content: string, more = '') =>
      `<w:${kind} w:id="${id}"${more}>${content}</w:${kind}>`
    const linked = `<w:hyperlink r:id="l">${run('source')}</w:hyperlink>`

    expect(
      await textOf(
        paragraph(run('a') + refer('endnote', 2) + run('b') + refer('footnote', 2) + run('c') + refer('endnote', 2)) +
          paragraph(run('d') + refer('comment', 5)),
        [
          notesPart('footnote', note('footnote', 2, paragraph(run(' one')) + paragraph(linked))),
          notesPart(
            'endnote',
            note('endnote', 1, paragraph(run('unused'))) + note('endnote', 2, paragraph(run('end'))),
          ),
          notesPart('comment', note('comment', 5, `<w:tbl>${row(cell('x'), cell('y'))}</w:tbl>`, ' w:author=""')),
          {
            name: 'word/_rels/footnotes.xml.rels',
            content:
              '<Relationships><Relationship Id="l" Type="x/hyperlink" Target="https://s.org" TargetMode="External"/></Relationships>',
          },
        ],
      ),
    ).toBe('a[^1]b[^2]c[^1]\n\nd[^3]\n\n[^1]: end\n[^2]: one\n    [source](https://s.org)\n[^3]: Comment: x / y')
  })

  test('gives the numbers of charts and the text of diagrams, and says what it cannot read', async () => {
    const drawing = (content: string) => `<w:r><w:drawing>${content}</w:drawing></w:r>`
    const series =
      '<c:ser><c:tx><c:v>Tons</c:v></c:tx><c:cat><c:pt idx="0"><c:v>May</c:v></c:pt></c:cat><c:val><c:pt idx="0"><c:v>7</c:v></c:pt></c:val></c:ser>'

    expect(
      await readBody(
        paragraph(run('Figure') + drawing('<c:chart r:id="c"/>')) +
          paragraph(drawing('<dgm:relIds r:dm="d"/>')) +
          paragraph(drawing('<a:blip/>') + drawing('<adec:decorative val="1"/><a:blip/>')) +
          paragraph('<w:r><w:pict><v:shape alt="An old crane"><v:imagedata r:id="i"/></v:shape></w:pict></w:r>') +
          '<w:altChunk r:id="h"/>',
        [
          { name: 'word/charts/chart1.xml', content: `<c:chartSpace>${series}</c:chartSpace>` },
          {
            name: 'word/diagrams/data1.xml',
            content: '<dgm:dataModel><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:dataModel>',
          },
        ],
        [
          { id: 'c', type: 'chart', target: 'charts/chart1.xml' },
          { id: 'd', type: 'diagramData', target: 'diagrams/data1.xml' },
          { id: 'h', type: 'aFChunk', target: 'missing.html' },
        ],
      ),
    ).toEqual({
      sections: [
        {
          label: '',
          text: 'Figure\n\nChart\n\n|  | Tons |\n| --- | --- |\n| May | 7 |\n\n- Plan\n\n[Picture: An old crane]',
        },
      ],
      notes: [
        'One picture without a description could not be read.',
        'One embedded document could not be read: open the file in Word, save it again and attach the new file.',
      ],
    })
  })

  test('reads a document whose relationships name missing or wrong parts', async () => {
    expect(
      await textOf(
        paragraph(`<w:hyperlink r:id="gone">${run('link')}</w:hyperlink><w:r><w:footnoteReference w:id="9"/></w:r>`) +
          paragraph(`<w:hyperlink r:id="in">${run('inside')}</w:hyperlink>`) +
          item('item', 4, 1) +
          '<w:tr><w:tc><w:p><w:r><w:t>a row without a table</w:t></w:r></w:p></w:tc></w:tr>' +
          '<w:tbl><w:p><w:r><w:t>a table without rows</w:t></w:r></w:p></w:tbl>',
        [],
        [
          { id: 'in', type: 'hyperlink', target: 'document.xml' },
          { id: 's', type: 'styles', target: 'missing.xml' },
          { id: 'n', type: 'numbering', target: 'document.xml' },
          { id: 'f', type: 'footnotes', target: 'https://example.com/', external: true },
          { id: 'c', type: 'chart', target: 'charts/missing.xml' },
        ],
      ),
    ).toBe('link[^1]\n\ninside\n\n    - item\n\na row without a table\n\n| a table without rows |\n| --- |')
  })
})
