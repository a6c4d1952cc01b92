// What a file is by its first bytes. Only those count: what a reader of another format would find further on is not what the
// file is, so a file that is two things at once is the one that it begins with.

import type { FileType } from '../../domain/file.ts'

/** Enough for every signature, and for a mark or blank lines before it. */
export const HEAD_BYTES = 12
/** Of a PDF that was made for a printer. */
const PRINTER_HEAD_BYTES = 1_024

/** How much of the file's beginning `sniff` has to see. */
export const headBytes = (head: Uint8Array): number => (has(head, PRINTER_JOB) ? PRINTER_HEAD_BYTES : HEAD_BYTES)

/** `zip` is a container: its directory tells which Office document it is (`sniff-archive.ts`). */
export type Magic = FileType | 'zip'

const ascii = (text: string): number[] => [...text].map((char) => char.charCodeAt(0))

const PDF = ascii('%PDF-')
const signatures: readonly { type: Magic | 'riff'; bytes: readonly number[] }[] = [
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

/** Null: none of ours that has a signature; it may still be text (`sniff-text.ts`). */
export function sniff(head: Uint8Array): Magic | null {
  const found = signatures.find(({ bytes }) => has(head, bytes))?.type ?? null
  if (found === null && isPdfBehindSomething(head)) return 'application/pdf'
  if (found !== 'riff') return found
  // Sound and video come in the same container.
  return has(head, WEBP, 8) ? 'image/webp' : null
}

/** What programs put before a PDF: a byte order mark, blank lines, what a printer is told. */
function isPdfBehindSomething(head: Uint8Array): boolean {
  if (has(head, PRINTER_JOB)) return Buffer.from(head).subarray(0, PRINTER_HEAD_BYTES).includes(Buffer.from(PDF))
  const at = head.findIndex((byte) => !BEFORE_PDF.has(byte))
  return at !== -1 && has(head, PDF, at)
}

/** The mark and the blanks. */
const BEFORE_PDF = new Set([0xef, 0xbb, 0xbf, ...ascii(' \t\r\n')])

/** The container of Office documents that are locked with a password, and of those from before 2007. */
export const isOleContainer = (head: Uint8Array): boolean => has(head, OLE)
