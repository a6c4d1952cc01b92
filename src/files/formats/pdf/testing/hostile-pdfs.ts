// PDFs that are made to harm the reader, or look like it. None is larger than a megabyte.

import { deflateSync } from 'node:zlib'
import { pdfOf, pdfOfObjects, pdfStream } from './pdf.ts'

export interface HostilePdf {
  name: string
  bytes: () => Buffer
  /** The start of the sentence that people get. Null: the file does no harm and is read. */
  refusal: string | null
}

const lock = `/Encrypt << /Filter /Standard /V 1 /R 2 /O <${'41'.repeat(32)}> /U <${'42'.repeat(32)}> /P -4 >> /ID [<00><00>]`
const words = 'BT /F1 11 Tf 60 700 Td (Hello) Tj ET '

/** `contents` is object 4, a font object 5, the `others` begin with 6. */
const onePage = (contents: string | Uint8Array, resources = '', others: readonly Uint8Array[] = []): Buffer =>
  pdfOfObjects([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> ${resources} >> >>`,
    contents,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...others,
  ])

const form = (next: number, content: string): Buffer =>
  pdfStream(
    `/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << /XObject << /X ${next} 0 R >> /Font << /F1 5 0 R >> >>`,
    Buffer.from(content),
  )

/** Nine forms, each of which shows the next one ten times. The last is shown a billion times. */
const fanOut = (last: string): Buffer =>
  onePage(
    pdfStream('', Buffer.from('/X Do')),
    '/XObject << /X 6 0 R >>',
    Array.from({ length: 9 }, (_, at) => form(7 + at, at === 8 ? last : '/X Do '.repeat(10))),
  )

const packed = (content: Uint8Array): Buffer => pdfStream('/Filter /FlateDecode', deflateSync(content))
const spaces = (megabytes: number): Buffer => Buffer.alloc(megabytes * 1_000_000, ' ')

const damaged = 'The file is damaged'
const locked = 'The PDF is locked with a password'
const tooMuch = 'Reading the file needs more memory than'
const tooHard = 'The file keeps its reader busy without end'

/** These are refused or read at once. */
export const hostilePdfs: HostilePdf[] = [
  { name: 'a PDF that breaks off', bytes: () => pdfOf([{ lines: ['Hello'] }]).subarray(0, 300), refusal: damaged },
  {
    name: 'a PDF of garbage',
    bytes: () => Buffer.from(`%PDF-1.7\n${'nonsense '.repeat(1_000)}`),
    refusal: damaged,
  },
  { name: 'a PDF of nothing but its mark', bytes: () => Buffer.from('%PDF-1.7'), refusal: damaged },
  {
    name: 'a PDF with a password',
    bytes: () => pdfOf([{ lines: ['x'] }], { trailer: lock }),
    refusal: locked,
  },
  {
    name: 'a PDF whose pages are a loop',
    bytes: () => pdfOf([{ lines: ['x'] }], { kids: '2 0 R 2 0 R' }),
    refusal: damaged,
  },
  {
    name: 'a PDF whose pages are nested 200,000 deep',
    bytes: () => pdfOf([{ lines: ['x'] }], { kids: `${'['.repeat(200_000)}${']'.repeat(200_000)}` }),
    refusal: damaged,
  },
  {
    name: 'a PDF with a script',
    bytes: () => pdfOf([{ lines: ['Quiet'] }], { catalog: '/OpenAction << /S /JavaScript /JS (while\\(true\\){}) >>' }),
    refusal: null,
  },
  {
    name: 'a PDF whose table of objects is a loop',
    bytes: () => {
      const text = pdfOf([{ lines: ['Once'] }]).toString('latin1')
      return Buffer.from(text.replace('trailer\n<<', `trailer\n<< /Prev ${text.lastIndexOf('xref\n0')}`), 'latin1')
    },
    refusal: null,
  },
  {
    name: 'a PDF with a form that shows itself',
    bytes: () => onePage(pdfStream('', Buffer.from('/X Do')), '/XObject << /X 6 0 R >>', [form(6, `${words} /X Do`)]),
    refusal: null,
  },
]

/** Each of these takes seconds, or crashes the reader. The last ones never end. */
export const exhaustingPdfs: HostilePdf[] = [
  // Close to the limit: a fast machine reads it.
  {
    name: 'a PDF with a pattern that is made of itself',
    bytes: () =>
      onePage(pdfStream('', Buffer.from('/Pattern cs /P scn 0 0 500 500 re f')), '/Pattern << /P 6 0 R >>', [
        pdfStream(
          '/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 1 1] /XStep 0.001 /YStep 0.001 /Resources << /Pattern << /P 6 0 R >> >>',
          Buffer.from('/Pattern cs /P scn 0 0 1 1 re f'),
        ),
      ]),
    refusal: tooHard,
  },
  { name: 'a PDF with a page of 300 MB', bytes: () => onePage(packed(spaces(300))), refusal: tooMuch },
  {
    name: 'a PDF with a page that is packed twice',
    bytes: () => onePage(pdfStream('/Filter [/FlateDecode /FlateDecode]', deflateSync(deflateSync(spaces(300))))),
    refusal: tooMuch,
  },
  { name: 'a PDF that shows a word a billion times', bytes: () => fanOut(words), refusal: tooHard },
  { name: 'a PDF that shows a square a billion times', bytes: () => fanOut('0 0 10 10 re f '), refusal: tooHard },
]
