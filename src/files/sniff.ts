// What a file is by its first bytes. Only those count: what a reader of another format would find further on is not what the
// file is, so a file that is two things at once is the one that it begins with.

import type { FileType } from '../domain/file.ts'

/** Enough for every signature. */
export const HEAD_BYTES = 12

/** `zip` is a container: its directory tells which Office document it is (`sniff-archive.ts`). */
export type Magic = FileType | 'zip'

const ascii = (text: string): number[] => [...text].map((char) => char.charCodeAt(0))

const signatures: readonly { type: Magic | 'riff'; bytes: readonly number[] }[] = [
  { type: 'image/png', bytes: [0x89, ...ascii('PNG\r\n\x1a\n')] },
  { type: 'image/jpeg', bytes: [0xff, 0xd8, 0xff] },
  { type: 'image/gif', bytes: ascii('GIF87a') },
  { type: 'image/gif', bytes: ascii('GIF89a') },
  { type: 'riff', bytes: ascii('RIFF') },
  { type: 'application/pdf', bytes: ascii('%PDF-') },
  { type: 'zip', bytes: ascii('PK\x03\x04') },
]
const WEBP = ascii('WEBP')
const OLE = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]

const has = (head: Uint8Array, bytes: readonly number[], at = 0): boolean =>
  bytes.every((byte, i) => head[at + i] === byte)

/** Null: none of ours that has a signature; it may still be text (`sniff-text.ts`). */
export function sniff(head: Uint8Array): Magic | null {
  const found = signatures.find(({ bytes }) => has(head, bytes))?.type ?? null
  if (found !== 'riff') return found
  // Sound and video come in the same container.
  return has(head, WEBP, 8) ? 'image/webp' : null
}

/** The container of Office documents that are locked with a password, and of those from before 2007. */
export const isOleContainer = (head: Uint8Array): boolean => has(head, OLE)
