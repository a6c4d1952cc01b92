// The messages between the server and the child processes that read files. They never contain the text of a file: the child writes
// it to disk (`extract-file.ts`), so that no large message blocks the server's event loop.

import type { FileType } from '../../domain/session/file.ts'
import type { OcrLanguage } from '../formats/image/ocr.ts'

export interface ReadJob {
  path: string
  mimeType: FileType
  /** Where the child writes the extract. */
  resultPath: string
  /** After this time the child is killed. Readers that can return a part stop well before. */
  timeMs: number
  /** After this much processor time without a turn of its event loop the child ends itself. */
  busyMs: number
  /** Most characters in the extract. */
  characters: number
  /** For a picture: makes a JPEG of at most this many bytes instead of reading the text. */
  shrinkTo?: number
  /** For a PDF: false leaves pages that are pictures unread, because OCR takes seconds for each. */
  scans: boolean
  /** For a PDF: reads only these pages, in this order. */
  pages?: number[]
  languages: OcrLanguage[]
}

export type ChildMessage =
  | { type: 'progress'; done: number; total: number }
  | { type: 'done' }
  /** `message` is a sentence for people, `cause` is for the log. `lasting`: the same bytes would fail again. */
  | { type: 'failed'; message: string; cause: string; lasting: boolean }

/** Checks a message, because a child reads hostile files and is not trusted. Null: it is not a message of ours. */
export function childMessageOf(value: unknown): ChildMessage | null {
  if (typeof value !== 'object' || value === null || !('type' in value)) return null
  if (value.type === 'done') return { type: 'done' }
  if (value.type === 'progress' && 'done' in value && 'total' in value) {
    const { done, total } = value
    return typeof done === 'number' && typeof total === 'number' ? { type: 'progress', done, total } : null
  }
  if (value.type === 'failed' && 'message' in value && 'cause' in value) {
    const { message, cause } = value
    if (typeof message !== 'string' || typeof cause !== 'string') return null
    return { type: 'failed', message, cause, lasting: 'lasting' in value && value.lasting === true }
  }
  return null
}
