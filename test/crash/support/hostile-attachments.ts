// Every hostile file that the tests of the readers know, and a few that only doors see, with what the client is told.

import { hostilePictures } from '../../../src/files/formats/image/testing/hostile-pictures.ts'
import { hostileFiles, zipBombs } from '../../../src/files/formats/office/testing/hostile-files.ts'
import { docxEntries } from '../../../src/files/formats/office/testing/office-files.ts'
import { zipOf } from '../../../src/files/formats/office/testing/zip-of.ts'
import { exhaustingPdfs, type HostilePdf, hostilePdfs } from '../../../src/files/formats/pdf/testing/hostile-pdfs.ts'
import { pdfOf } from '../../../src/files/formats/pdf/testing/pdf.ts'

export interface HostileAttachment {
  name: string
  filename: string
  mimeType: string
  bytes: () => Uint8Array | Promise<Uint8Array>
  /**
   * `type`: its content does not match its type, or is not accepted. `kept`: refused while it arrives. `read`: refused when a run
   * needs its text. `harmless`: read like any other file.
   */
  outcome: 'type' | 'kept' | 'read' | 'harmless'
  /** The beginning of the sentence after its name, if the readers have their own. */
  refusal: string | null
}

const office = 'application/vnd.openxmlformats-officedocument'
const officeTypes = {
  docx: `${office}.wordprocessingml.document`,
  xlsx: `${office}.spreadsheetml.sheet`,
  pptx: `${office}.presentationml.presentation`,
}

/** Files that never reach a reader. */
const refusedEarlier = new Map<string, 'type' | 'kept'>([
  ['an archive of 10,001 parts', 'kept'],
  ['a name that climbs', 'kept'],
  ['a name that climbs backwards', 'kept'],
  ['an absolute name', 'kept'],
  ['a name with a drive', 'kept'],
  ['an empty file', 'kept'],
  ['half a document', 'kept'],
  ['half a workbook', 'kept'],
  ['a file of one byte', 'type'],
  ['a document with a password', 'type'],
  ['a workbook of 1997', 'type'],
  ['a document renamed to a workbook', 'type'],
  ['a deck renamed to a document', 'type'],
  ['a zip of something else', 'type'],
])

const officeAttachments = [...zipBombs, ...hostileFiles].map(({ name, kind, bytes, refusal }): HostileAttachment => {
  const outcome = refusedEarlier.get(name) ?? 'read'
  const said = outcome === 'read' ? refusal : null
  return { name, filename: `evil.${kind}`, mimeType: officeTypes[kind], bytes, outcome, refusal: said }
})

const pdfAttachment = ({ name, bytes, refusal }: HostilePdf): HostileAttachment => ({
  name,
  filename: 'evil.pdf',
  mimeType: 'application/pdf',
  bytes,
  outcome: refusal === null ? 'harmless' : 'read',
  refusal,
})

const pictureAttachments = hostilePictures.map(
  ({ name, mimeType, bytes, refusal }): HostileAttachment => ({
    name,
    filename: 'evil.picture',
    mimeType,
    bytes,
    outcome: 'read',
    refusal,
  }),
)

const other = (
  name: string,
  outcome: HostileAttachment['outcome'],
  mimeType: string,
  bytes: () => Uint8Array,
): HostileAttachment => ({ name, filename: 'evil.file', mimeType, bytes, outcome, refusal: null })

const bomb = (): Buffer => zipOf([{ name: 'zeros', content: Buffer.alloc(20_000_000) }])
const letter = (): Buffer => zipOf(docxEntries('<w:p><w:r><w:t>Hello</w:t></w:r></w:p>'))
const pdfAndLetter = (): Buffer => Buffer.concat([pdfOf([{ lines: ['Two at once'] }]), letter()])

const others: HostileAttachment[] = [
  other('a zip bomb that is only that', 'type', 'application/octet-stream', bomb),
  other('a zip bomb of zip bombs', 'type', 'application/zip', () => zipOf([{ name: 'a.zip', content: bomb() }])),
  other('a letter with a zip bomb in it', 'harmless', officeTypes.docx, () =>
    zipOf([
      ...docxEntries('<w:p><w:r><w:t>Hello</w:t></w:r></w:p>'),
      { name: 'word/embeddings/a.zip', content: bomb() },
    ]),
  ),
  other('a letter that is called a picture', 'type', 'image/png', letter),
  other('a PDF that is a letter too, sent as a letter', 'type', officeTypes.docx, pdfAndLetter),
  other('a PDF that is a letter too, sent as a PDF', 'harmless', 'application/pdf', pdfAndLetter),
  other('a page of HTML that is called a PDF', 'type', 'application/pdf', () =>
    Buffer.from('<html><script>1</script>'),
  ),
  other('a drawing with a script', 'harmless', 'image/svg+xml', () => Buffer.from('<svg onload="alert(1)"/>')),
  other('a program', 'type', 'application/octet-stream', () => Buffer.from('7f454c4602010100', 'hex')),
  other('a text of one zero', 'type', 'text/plain', () => Buffer.alloc(1)),
  other('a text of one letter', 'harmless', 'text/plain', () => Buffer.from('x')),
  other('an empty text', 'kept', 'text/plain', () => Buffer.alloc(0)),
  other('an empty PDF', 'kept', 'application/pdf', () => Buffer.alloc(0)),
  other('an entity bomb as text', 'harmless', 'text/plain', () =>
    Buffer.from('<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>'),
  ),
]

/** Each is answered at once, except for the start of a reader. */
export const hostileAttachments: readonly HostileAttachment[] = [
  ...officeAttachments,
  ...hostilePdfs.map(pdfAttachment),
  ...pictureAttachments,
  ...others,
]

/** Each takes a reader seconds of processor time. */
export const exhaustingAttachments: readonly HostileAttachment[] = exhaustingPdfs.map(pdfAttachment)
