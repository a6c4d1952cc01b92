// Tells the type of a file by its first bytes. Only these count: a file that is valid in two formats has the type it begins with.

import type { FileType } from '../../domain/file.ts'

/** Enough for every signature, and for a byte order mark or blank lines before it. */
export const HEAD_BYTES = 12
/** For a PDF with printer commands before it. */
const PRINTER_HEAD_BYTES = 1_024

/** How many bytes `sniffSignature` needs. */
export const headBytes = (head: Uint8Array): number => (has(head, PRINTER_JOB) ? PRINTER_HEAD_BYTES : HEAD_BYTES)

/** `zip` may be any Office document: `sniff-archive.ts` tells which. */
export type Signature = FileType | 'zip'

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
