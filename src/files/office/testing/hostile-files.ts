// Files that were made to harm the reader, or look like it. All are made in code; the largest is a few megabytes.

import { docxEntries, pptxEntries, shape, slideText, xlsxEntries } from './office-files.ts'
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

/** The container of encrypted documents, as far as its first look goes. */
const ole = (stream: string): Buffer =>
  Buffer.concat([
    Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    Buffer.alloc(2_000),
    Buffer.from(stream, 'utf16le'),
    Buffer.alloc(2_000),
  ])

const damaged = 'The file is damaged'
const tooLarge = 'The file is too large when unpacked'
const leadsOut = 'The file holds parts whose names lead out of it.'
const definition = 'The file holds a document type definition'
const tooDeep = 'The file is nested deeper'
const tooMuch = 'The file holds more than is read'
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
      zipOf([...document(), ...Array.from({ length: 9_999 }, (_, at) => ({ name: `x/${at}`, content: '' }))]),
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
    refusal: 'The file has parts in UTF-16',
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
    bytes: () => zipOf([{ name: 'word/document.xml', content: '<w:document><w:body><w:p>' }]),
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
    refusal: 'The file is in the Office format of before 2007',
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
    name: 'a document of a million elements',
    kind: 'docx',
    bytes: () => zipOf(docxEntries('<w:p/><w:p a="1"/><w:p a="22"/>'.repeat(300_000))),
    refusal: 'The document holds more than is read',
  },
  {
    name: 'a deck of 10,000 slides',
    kind: 'pptx',
    bytes: () =>
      zipOf(pptxEntries(Array.from({ length: 10_000 }, () => ({ part: 'slide1', shapes: shape(slideText('Hello')) })))),
    refusal: 'The presentation has 10,000 slides; at most 2,000 are read.',
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
    refusal: tooMuch,
  },
]

const half = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length / 2)
