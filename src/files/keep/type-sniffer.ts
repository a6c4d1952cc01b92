import { ServerError } from '../../domain/errors.ts'
import { type FileType, isImage, isText, UNREADABLE } from '../../domain/session/file.ts'
import { agreedType, mismatch, statedText, unknownContent, unknownEncoding } from './agreed-type.ts'
import { createTextSniffer } from './sniff-text.ts'

/** Finds out the type of a file while it arrives. Both methods throw `unsupported_media_type` as soon as that is certain. */
export interface TypeSniffer {
  take(bytes: Uint8Array): void
  /** `path`: the complete file. Throws `file_unreadable` for an archive whose directory cannot be read. */
  end(path: string): Promise<FileType>
}

const ARCHIVE = 'a ZIP archive'

export function createTypeSniffer(declared: FileType | null, name: string): TypeSniffer {
  const text = createTextSniffer()
  let head = new Uint8Array(0)
  /** Undefined until the head is complete. */
  let signature: Signature | null | undefined

  function decide(): void {
    signature = sniffSignature(head)
    if (signature === 'zip') {
      if (declared !== null && !isOffice(declared)) throw mismatch(declared, ARCHIVE, name)
    } else if (signature !== null) agreedType(signature, declared, name)
    else takeText(head)
  }

  function takeText(bytes: Uint8Array): void {
    if (isOleContainer(head) || !text.take(bytes)) throw unknownContent(declared, descriptionOf(head), name)
    if (declared !== null && !isText(declared)) throw unknownContent(declared, 'text or of an unknown type', name)
  }

  return {
    take(bytes) {
      if (signature === null) takeText(bytes)
      if (signature !== undefined) return
      head = Buffer.concat([head, bytes])
      if (head.length >= HEAD_BYTES && head.length >= headBytes(head)) decide()
    },

    async end(path) {
      if (signature === undefined) decide()
      if (signature === 'zip') return agreedType(await archiveType(path), declared, name)
      if (signature != null) return agreedType(signature, declared, name)
      const found = text.end()
      if (found === 'unknown encoding') throw unknownEncoding(name)
      if (found === 'not text') throw unknownContent(declared, descriptionOf(head), name)
      return agreedType('text/plain', declared, name)
    },
  }

  async function archiveType(path: string): Promise<FileType> {
    try {
      const type = await sniffArchive(path)
      if (type !== null) return type
    } catch (error) {
      if (!(error instanceof ServerError)) throw error
      throw new ServerError('file_unreadable', `${JSON.stringify(name)} cannot be read. ${error.message}`, {
        details: { name },
        cause: error,
      })
    }
    throw unknownContent(declared, `${ARCHIVE} that is not an Office document`, name)
  }
}

/** Refuses nothing: what has no readable type is `UNREADABLE`. A label only tells one kind of text from another. */
export function createTolerantSniffer(label: string | null, name: string): TypeSniffer {
  const sniffer = createTypeSniffer(null, name)
  let isRefused = false
  function refused(error: unknown): FileType {
    if (!(error instanceof ServerError)) throw error
    isRefused = true
    return UNREADABLE
  }
  return {
    take(bytes) {
      if (isRefused) return
      try {
        sniffer.take(bytes)
      } catch (error) {
        refused(error)
      }
    },
    async end(path) {
      const found = isRefused ? UNREADABLE : await sniffer.end(path).catch(refused)
      return isText(found) ? (statedText(label, name) ?? found) : found
    },
  }
}

const isOffice = (type: FileType): boolean => !isText(type) && !isImage(type) && type !== 'application/pdf'

const descriptionOf = (head: Uint8Array): string =>
  isOleContainer(head)
    ? 'an Office document that is locked with a password or older than 2007'
    : 'not of an accepted type'

/** No document that a person made has more parts. */
const MAX_ENTRIES = 10_000

const OFFICE = 'application/vnd.openxmlformats-officedocument'

/** Some programs number the main part (`word/document2.xml`). Binary workbooks (`xl/workbook.bin`) are not accepted. */
const mainParts: readonly { type: FileType; path: RegExp }[] = [
  { type: `${OFFICE}.wordprocessingml.document`, path: /^word\/document\d*\.xml$/i },
  { type: `${OFFICE}.spreadsheetml.sheet`, path: /^xl\/workbook\d*\.xml$/i },
  { type: `${OFFICE}.presentationml.presentation`, path: /^ppt\/presentation\d*\.xml$/i },
]

/**
 * Tells the type of an Office document by the names in its zip directory, without unpacking anything. Null: the zip is not an Office
 * document, or several at once. Throws `file_unreadable` when the directory cannot be trusted.
 */
export async function sniffArchive(path: string): Promise<FileType | null> {
  const found = new Set<FileType>()
  let hasContentTypes = false
  for await (const name of namesIn(path)) {
    hasContentTypes ||= name.toLowerCase() === '[content_types].xml'
    for (const part of mainParts) if (part.path.test(name)) found.add(part.type)
  }
  const [type, ...others] = found
  return hasContentTypes && others.length === 0 ? (type ?? null) : null
}

async function* namesIn(path: string): AsyncGenerator<string> {
  // Loaded with the first archive.
  const { openZip } = await import('../formats/office/open-zip.ts')
  try {
    const archive = await openZip(path, { decodeStrings: true })
    try {
      if (archive.entryCount > MAX_ENTRIES) throw new Error(`${archive.entryCount} entries`)
      for await (const { fileName } of archive.eachEntry()) yield fileName
    } finally {
      archive.close()
    }
  } catch (cause) {
    throw new ServerError('file_unreadable', 'The archive is damaged, incomplete or malicious.', { cause })
  }
}

// Tells the type of a file by its first bytes. Only these count: a file that is valid in two formats has the type it begins with.

/** Enough for every signature, and for a byte order mark or blank lines before it. */
export const HEAD_BYTES = 12
/** For a PDF with printer commands before it. */
const PRINTER_HEAD_BYTES = 1_024

/** How many bytes `sniffSignature` needs. */
export const headBytes = (head: Uint8Array): number => (has(head, PRINTER_JOB) ? PRINTER_HEAD_BYTES : HEAD_BYTES)

/** `zip` may be any Office document: `sniff-archive.ts` tells which. */
type Signature = FileType | 'zip'

const ascii = (text: string): number[] => [...text].map((char) => char.charCodeAt(0))

const PDF = ascii('%PDF-')
const signatures: readonly { type: Signature | 'riff'; bytes: readonly number[] }[] = [
  { type: 'image/png', bytes: [0x89, ...ascii('PNG\r\n\x1a\n')] },
  { type: 'image/jpeg', bytes: [0xff, 0xd8, 0xff] },
  { type: 'image/gif', bytes: ascii('GIF87a') },
  { type: 'image/gif', bytes: ascii('GIF89a') },
  { type: 'riff', bytes: ascii('RIFF') },
  { type: 'application/pdf', bytes: PDF },
  { type: 'zip', bytes: ascii('PK\x03\x04') },
]
const WEBP = ascii('WEBP')
const PRINTER_JOB = ascii('\x1b%-12345X')
const OLE = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]

const has = (head: Uint8Array, bytes: readonly number[], at = 0): boolean =>
  bytes.every((byte, i) => head[at + i] === byte)

/** Null: the file has no known signature. It may still be text (`sniff-text.ts`). */
export function sniffSignature(head: Uint8Array): Signature | null {
  const found = signatures.find(({ bytes }) => has(head, bytes))?.type ?? null
  if (found === null && isPdfWithPrefix(head)) return 'application/pdf'
  if (found !== 'riff') return found
  // Sound and video use the same container.
  return has(head, WEBP, 8) ? 'image/webp' : null
}

/** Some programs write a byte order mark, blank lines or printer commands before a PDF. */
function isPdfWithPrefix(head: Uint8Array): boolean {
  if (has(head, PRINTER_JOB)) return Buffer.from(head).subarray(0, PRINTER_HEAD_BYTES).includes(Buffer.from(PDF))
  const at = head.findIndex((byte) => !BEFORE_PDF.has(byte))
  return at !== -1 && has(head, PDF, at)
}

/** The byte order mark and white space. */
const BEFORE_PDF = new Set([0xef, 0xbb, 0xbf, ...ascii(' \t\r\n')])

/** The container of Office documents that are locked with a password, and of those from before 2007. */
export const isOleContainer = (head: Uint8Array): boolean => has(head, OLE)
