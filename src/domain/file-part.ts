// Attached files as parts of a message: what is stored names the record, never the bytes.

import { type FileRecord, isImage } from './file.ts'
import type { ContentPart } from './message.ts'

/** The words, and behind them the files. */
export function contentWith(words: string, files: readonly FileRecord[]): string | ContentPart[] {
  if (files.length === 0) return words
  return [...(words === '' ? [] : [{ type: 'text' as const, text: words }]), ...files.map(filePart)]
}

export const filePart = ({ id, mimeType, name }: FileRecord): ContentPart => ({
  type: isImage(mimeType) ? 'image' : 'document',
  source: { type: 'file', value: id, mimeType },
  metadata: { filename: name },
})
