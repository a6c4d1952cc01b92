// The sample report, written by libraries that know nothing of our readers. Each gives the bytes and the text that a reader
// should find, in order.

import { createRequire } from 'node:module'
import {
  Document,
  ExternalHyperlink,
  Footer,
  FootnoteReferenceRun,
  Header,
  HeadingLevel,
  LevelFormat,
  Packer,
  PageNumber,
  Paragraph,
  Table,
  TableCell,
  TableRow,
  TextRun,
} from 'docx'
import type PptxGenJs from 'pptxgenjs'
import writeExcelFile from 'write-excel-file/node'
import { chapterText, type Report, reportText } from './sample-text.ts'

export interface WrittenDocument {
  bytes: Buffer
  text: string
}

export async function writeDocx(report: Report): Promise<WrittenDocument> {
  const cell = (text: string) => new TableCell({ children: [new Paragraph(text)] })
  const document = new Document({
    footnotes: { 1: { children: [new Paragraph('Figures are rounded to whole tons.')] } },
    numbering: {
      config: [
        {
          reference: 'steps',
          levels: [
            { level: 0, format: LevelFormat.DECIMAL, text: '%1.' },
            { level: 1, format: LevelFormat.LOWER_LETTER, text: '%2)' },
          ],
        },
      ],
    },
    sections: [
      {
        headers: { default: new Header({ children: [new Paragraph('Confidential draft header')] }) },
        footers: {
          default: new Footer({
            children: [new Paragraph({ children: [new TextRun({ children: ['Page ', PageNumber.CURRENT] })] })],
          }),
        },
        children: [
          new Paragraph({ text: report.title, heading: HeadingLevel.TITLE }),
          ...report.chapters.flatMap(({ heading, paragraphs, points, table }, at) => [
            new Paragraph({ text: heading, heading: HeadingLevel.HEADING_1 }),
            ...paragraphs.map((text) => {
              const [first = '', ...rest] = text.split(' ')
              return new Paragraph({
                children: [new TextRun({ text: first, bold: true }), new TextRun(` ${rest.join(' ')}`)],
              })
            }),
            ...points.flatMap(({ text, below }) => {
              const list = (level: number) =>
                at % 2 === 0 ? { bullet: { level } } : { numbering: { reference: 'steps', level } }
              return [
                new Paragraph({ text, ...list(0) }),
                ...below.map((item) => new Paragraph({ text: item, ...list(1) })),
              ]
            }),
            new Table({ rows: table.map((row) => new TableRow({ children: row.map(cell) })) }),
          ]),
          new Paragraph({
            children: [
              new ExternalHyperlink({ link: 'https://example.com/ports', children: [new TextRun('All ports')] }),
              new TextRun(' are listed online'),
              new FootnoteReferenceRun(1),
            ],
          }),
        ],
      },
    ],
  })
  const text = `${reportText(report)}\nAll ports are listed online\nFigures are rounded to whole tons.`
  return { bytes: await Packer.toBuffer(document), text }
}

/** A slide for each chapter: list, table and notes. The slide numbers are not part of the text. */
export async function writePptx(report: Report): Promise<WrittenDocument> {
  // Its types describe what `require` gives, not what `import` gives.
  const Deck: typeof PptxGenJs.default = createRequire(import.meta.url)('pptxgenjs')
  const deck = new Deck()
  deck.defineSlideMaster({
    title: 'Report',
    objects: [{ placeholder: { options: { name: 'title', type: 'title', x: 0.5, y: 0.2, w: 9, h: 0.8 }, text: '' } }],
    slideNumber: { x: 9, y: 5 },
  })
  for (const { heading, paragraphs, points, table } of report.chapters) {
    const slide = deck.addSlide({ masterName: 'Report' })
    slide.addText(heading, { placeholder: 'title' })
    const items = points.flatMap(({ text, below }) => [
      { text, options: { bullet: true, breakLine: true } },
      ...below.map((item) => ({ text: item, options: { bullet: true, indentLevel: 1, breakLine: true } })),
    ])
    slide.addText(items, { x: 0.5, y: 1, w: 9, h: 2 })
    slide.addTable(
      table.map((row) => row.map((text) => ({ text }))),
      { x: 0.5, y: 3.2, w: 9 },
    )
    slide.addNotes(paragraphs.join('\n'))
    slide.slideNumber = { x: 9, y: 5 }
  }
  const written = await deck.write({ outputType: 'nodebuffer' })
  if (!Buffer.isBuffer(written)) throw new Error('pptxgenjs did not write a buffer')
  const text = report.chapters
    .map((chapter) => `${chapterText({ ...chapter, paragraphs: [] })}\nNotes ${chapter.paragraphs.join('\n')}`)
    .join('\n')
  return { bytes: written, text }
}

/** A sheet for each chapter, with the columns text, number, date and text. */
export async function writeXlsx(report: Report): Promise<WrittenDocument> {
  const sheets = report.chapters.map(({ paragraphs, table: [head = [], ...body] }) => [
    head.map((value) => ({ value, type: String })),
    ...body.map(([port = '', tons = '', day = '', contact = '']) => [
      { value: port, type: String },
      { value: Number(tons), type: Number },
      { value: new Date(`${day}T00:00:00Z`), type: Date, format: 'dd/mm/yyyy' },
      { value: contact, type: String },
    ]),
    ...paragraphs.map((value) => [{ value, type: String }]),
  ])
  const bytes = await writeExcelFile(sheets.map((data, at) => ({ data, sheet: `Chapter ${at + 1}` }))).toBuffer()
  const text = report.chapters
    .map(({ paragraphs, table }) => [...table.map((row) => row.join(' ')), ...paragraphs].join('\n'))
    .join('\n')
  return { bytes, text }
}
