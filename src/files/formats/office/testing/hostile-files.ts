// Files that are made to harm the reader, or look like it. All are made in code; the largest has a few megabytes.

import { contentTypes, docxEntries, pptxEntries, relationships, shape, slideText, xlsxEntries } from './office-files.ts'
import { type ZipEntry, zipOf } from './zip-of.ts'

export interface HostileFile {
  name: string
  kind: 'docx' | 'xlsx' | 'pptx'
  bytes: () => Buffer
  /** The start of the sentence that people get. */
  refusal: string
}

const bigText = (megabytes: number): string => `<w:p>${' '.repeat(megabytes * 1_000_000)}</w:p>`
const entities =
  '<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>'
const withEntities = (entries: ZipEntry[], part: string): ZipEntry[] =>
  entries.map((entry) => (entry.name === part ? { name: part, content: `${entities}${entry.content}` } : entry))
const renamed = (entries: ZipEntry[], name: string): ZipEntry[] => [...entries, { name, content: 'x' }]

const document = (): ZipEntry[] => docxEntries('<w:p><w:r><w:t>Hello</w:t></w:r></w:p>')
const workbook = (): ZipEntry[] => xlsxEntries({ sheets: [{ name: 'One', rows: '<row><c><v>1</v></c></row>' }] })
const deck = (): ZipEntry[] => pptxEntries([{ part: 'slide1', shapes: shape(slideText('Hello')) }])

const nested = (depth: number, open: string, close: string): string => open.repeat(depth) + close.repeat(depth)

/** The start of a container for encrypted documents. */
const ole = (stream: string): Buffer =>
  Buffer.concat([
    Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    Buffer.alloc(2_000),
    Buffer.from(stream, 'utf16le'),
    Buffer.alloc(2_000),
  ])

const damaged = 'The file is damaged'
const tooLarge = 'The file is too large when unpacked'
const leadsOut = 'The file has parts whose names point outside it.'
const definition = 'The file has a document type definition'
const tooMuch = 'The file is too long to be read'
const tooDeep = 'The file is nested more deeply'
const locked = 'The file is locked with a password'

export const zipBombs: HostileFile[] = [
  { name: 'a zip bomb', kind: 'docx', bytes: () => zipOf(docxEntries(bigText(60))), refusal: tooLarge },
  {
    name: 'a zip bomb that claims to be small',
    kind: 'docx',
    bytes: () => zipOf(docxEntries(bigText(60)).map((entry) => ({ ...entry, claimedBytes: 1_000 }))),
    refusal: damaged,
  },
  {
    name: 'a zip bomb that claims a size just below the limit',
    kind: 'xlsx',
    bytes: () =>
      zipOf([...workbook(), { name: 'xl/worksheets/x.xml', content: bigText(60), claimedBytes: 49_000_000 }]),
    refusal: tooLarge,
  },
  {
    name: 'a zip bomb among the pictures',
    kind: 'pptx',
    bytes: () => zipOf([...deck(), { name: 'ppt/media/image1.png', content: Buffer.alloc(60_000_000) }]),
    refusal: tooLarge,
  },
]

export const hostileFiles: HostileFile[] = [
  {
    name: 'an archive of 10,001 parts',
    kind: 'docx',
    bytes: () =>
      zipOf([...document(), ...Array.from({ length: 9_998 }, (_, at) => ({ name: `x/${at}`, content: '' }))]),
    refusal: 'The file has more than 10,000 parts',
  },
  {
    name: 'an entity bomb in Word',
    kind: 'docx',
    bytes: () => zipOf(withEntities(document(), 'word/document.xml')),
    refusal: definition,
  },
  {
    name: 'an entity bomb in Excel',
    kind: 'xlsx',
    bytes: () => zipOf(withEntities(workbook(), 'xl/sharedStrings.xml')),
    refusal: definition,
  },
  {
    name: 'an entity bomb in PowerPoint',
    kind: 'pptx',
    bytes: () => zipOf(withEntities(deck(), 'ppt/slides/slide1.xml')),
    refusal: definition,
  },
  {
    name: 'an entity bomb in UTF-16',
    kind: 'docx',
    bytes: () =>
      zipOf([...document(), { name: 'word/styles.xml', content: Buffer.from(`\uFEFF${entities}<x/>`, 'utf16le') }]),
    refusal: 'The file has a document type definition',
  },
  {
    name: 'a name that climbs',
    kind: 'docx',
    bytes: () => zipOf(renamed(document(), '../../evil.txt')),
    refusal: leadsOut,
  },
  {
    name: 'a name that climbs backwards',
    kind: 'docx',
    bytes: () => zipOf(renamed(document(), '..\\evil.txt')),
    refusal: leadsOut,
  },
  { name: 'an absolute name', kind: 'xlsx', bytes: () => zipOf(renamed(workbook(), '/etc/passwd')), refusal: leadsOut },
  {
    name: 'a name with a drive',
    kind: 'xlsx',
    bytes: () => zipOf(renamed(workbook(), 'C:/evil.txt')),
    refusal: leadsOut,
  },
  { name: 'a name with a NUL', kind: 'pptx', bytes: () => zipOf(renamed(deck(), 'a\0b.xml')), refusal: leadsOut },
  {
    name: 'the same part twice',
    kind: 'docx',
    bytes: () => zipOf(renamed(document(), 'word/document.xml')),
    refusal: damaged,
  },
  { name: 'an empty file', kind: 'docx', bytes: () => Buffer.alloc(0), refusal: damaged },
  { name: 'a file of one byte', kind: 'xlsx', bytes: () => Buffer.from('P'), refusal: damaged },
  { name: 'half a document', kind: 'docx', bytes: () => half(zipOf(document())), refusal: damaged },
  { name: 'half a workbook', kind: 'xlsx', bytes: () => half(zipOf(workbook())), refusal: damaged },
  {
    name: 'a document whose XML breaks off',
    kind: 'docx',
    bytes: () => zipOf([contentTypes, { name: 'word/document.xml', content: '<w:document><w:body><w:p>' }]),
    refusal: damaged,
  },
  {
    name: 'a slide that is missing',
    kind: 'pptx',
    bytes: () => zipOf(deck().filter(({ name }) => !name.includes('slide1.xml'))),
    refusal: damaged,
  },
  { name: 'a document with a password', kind: 'docx', bytes: () => ole('EncryptedPackage'), refusal: locked },
  {
    name: 'a workbook of 1997',
    kind: 'xlsx',
    bytes: () => ole('Workbook'),
    refusal: 'The file is in the Office format from before 2007',
  },
  {
    name: 'an archive with a password',
    kind: 'docx',
    bytes: () => zipOf(document().map((entry) => ({ ...entry, encrypted: true }))),
    refusal: locked,
  },
  {
    name: 'a document renamed to a workbook',
    kind: 'xlsx',
    bytes: () => zipOf(document()),
    refusal: 'The file is a Word document, not an Excel workbook.',
  },
  {
    name: 'a deck renamed to a document',
    kind: 'docx',
    bytes: () => zipOf(deck()),
    refusal: 'The file is a PowerPoint presentation, not a Word document.',
  },
  {
    name: 'a zip of something else',
    kind: 'docx',
    bytes: () => zipOf([{ name: 'a.txt', content: 'hello' }]),
    refusal: 'The file is not an Office document.',
  },
  {
    name: 'a document nested 100,000 deep',
    kind: 'docx',
    bytes: () => zipOf(docxEntries(nested(100_000, '<w:tbl>', '</w:tbl>'))),
    refusal: tooDeep,
  },
  {
    name: 'footnotes nested 100,000 deep',
    kind: 'docx',
    bytes: () => zipOf([...document(), { name: 'word/footnotes.xml', content: nested(100_000, '<w:p>', '</w:p>') }]),
    refusal: tooDeep,
  },
  {
    name: 'a deck nested 100,000 deep',
    kind: 'pptx',
    bytes: () => zipOf(pptxEntries([{ part: 'slide1', shapes: nested(100_000, '<p:grpSp>', '</p:grpSp>') }])),
    refusal: tooDeep,
  },
  {
    name: 'text boxes nested 10,000 deep',
    kind: 'docx',
    bytes: () => zipOf(docxEntries(nested(10_000, '<w:p><w:r><w:txbxContent>', '</w:txbxContent></w:r></w:p>'))),
    refusal: tooDeep,
  },
  {
    name: 'a formula nested 10,000 deep',
    kind: 'docx',
    bytes: () =>
      zipOf(docxEntries(`<w:p><m:oMath>${nested(10_000, '<m:f><m:num>', '</m:num></m:f>')}</m:oMath></w:p>`)),
    refusal: tooDeep,
  },
  {
    name: 'a document of 13 MB that is its own styles, lists and notes',
    kind: 'docx',
    bytes: () =>
      zipOf([
        ...docxEntries(many(13, (at) => `<w:p>${many(150_000, (of) => `${at * of} `)}</w:p>`)),
        {
          name: 'word/_rels/document.xml.rels',
          content: relationships(
            ['styles', 'numbering', 'footnotes', 'endnotes', 'comments'].map((type) => ({
              id: type,
              type,
              target: 'document.xml',
            })),
          ),
        },
      ]),
    refusal: tooMuch,
  },
  {
    name: 'a deck of 10,000 slides',
    kind: 'pptx',
    bytes: () =>
      zipOf(pptxEntries(Array.from({ length: 10_000 }, () => ({ part: 'slide1', shapes: shape(slideText('Hello')) })))),
    refusal: 'The presentation has 10,000 slides, but at most 2,000 can be read.',
  },
  {
    name: 'a workbook that shows one large sheet 200 times',
    kind: 'xlsx',
    bytes: () => {
      const rows = '<row><c><v>1</v></c><c><v>2</v></c></row>'.repeat(20_000)
      const entries = xlsxEntries({
        sheets: Array.from({ length: 200 }, (_, at) => ({ name: `S${at}`, rows: at === 0 ? rows : '' })),
      })
      return zipOf(
        entries.map((entry) =>
          entry.name === 'xl/_rels/workbook.xml.rels'
            ? { ...entry, content: String(entry.content).replace(/sheet\d+\.xml/g, 'sheet0.xml') }
            : entry,
        ),
      )
    },
    refusal: damaged,
  },
]

const word = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`
const linked = '<w:p><w:hyperlink r:id="l"><w:r><w:t>x</w:t></w:r></w:hyperlink></w:p>'
const begins = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>'

/** Word documents that claim much more than they contain. They are read up to the limits. */
export const heavyDocuments: Omit<HostileFile, 'refusal'>[] = [
  {
    name: '100,000 paragraphs',
    kind: 'docx',
    bytes: () =>
      zipOf(docxEntries(many(100_000, (at) => word(`Paragraph ${at} of the ledger, ${(at * 7919) % 10_007}.`)))),
  },
  {
    name: '300,000 elements that say nothing',
    kind: 'docx',
    bytes: () => zipOf(docxEntries('<w:p/><w:p a="1"/><w:p a="22"/>'.repeat(100_000))),
  },
  {
    name: 'tables in 300 cells inside each other',
    kind: 'docx',
    bytes: () =>
      zipOf(
        docxEntries(
          '<w:tbl><w:tr><w:tc>'.repeat(300) +
            many(20_000, (at) => word(`${at} words ${at % 977}`)) +
            '</w:tc></w:tr></w:tbl>'.repeat(300),
        ),
      ),
  },
  {
    name: 'text boxes in 300 text boxes',
    kind: 'docx',
    bytes: () =>
      zipOf(
        docxEntries(
          '<w:p><w:r><w:txbxContent>'.repeat(300) +
            many(20_000, (at) => word(`${at} words ${at % 977}`)) +
            '</w:txbxContent></w:r></w:p>'.repeat(300),
        ),
      ),
  },
  {
    name: 'a long address that is linked 60,000 times',
    kind: 'docx',
    bytes: () =>
      zipOf([
        ...docxEntries(linked.repeat(60_000)),
        {
          name: 'word/_rels/document.xml.rels',
          content: relationships([
            { id: 'l', type: 'hyperlink', target: `https://example.com/${'a'.repeat(2_000)}`, external: true },
          ]),
        },
      ]),
  },
  {
    name: 'a cell and a heading of three million blanks',
    kind: 'docx',
    bytes: () =>
      zipOf(
        docxEntries(
          `<w:tbl><w:tr><w:tc>${word(`a${' '.repeat(1_500_000)}b`)}</w:tc></w:tr></w:tbl>` +
            `<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>a${' '.repeat(1_500_000)}b</w:t></w:r></w:p>`,
        ),
      ),
  },
  {
    name: 'fields that begin and never end',
    kind: 'docx',
    bytes: () => zipOf(docxEntries(many(20_000, (at) => `<w:p>${begins}<w:r><w:t>${at}</w:t></w:r></w:p>`))),
  },
  {
    name: 'a number with a long text around it, and a start beyond all counting',
    kind: 'docx',
    bytes: () =>
      zipOf([
        ...docxEntries(
          '<w:p><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>x</w:t></w:r></w:p>'.repeat(10_000),
        ),
        {
          name: 'word/numbering.xml',
          content:
            '<w:numbering><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="999999999999"/><w:numFmt w:val="lowerLetter"/>' +
            `<w:lvlText w:val="${'%1'.repeat(100_000)}"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`,
        },
      ]),
  },
]

function many(count: number, one: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => one(at)).join('')
}

const half = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length / 2)
