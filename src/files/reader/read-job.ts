// What is said between the server and the child processes that read files. Words never travel here: the child writes them into a
// file (`extract-file.ts`), so that the server's event loop is not held up by one large message.

import type { FileType } from '../../domain/file.ts'

export interface ReadJob {
  path: string
  mimeType: FileType
  /** Where the child writes the extract. */
  resultPath: string
  /** After this much time the child is ended. Readers that can give a part stop well before. */
  timeMs: number
  /** After this much processor time without a turn of its event loop the child ends itself. */
  busyMs: number
  /** Of text, in the whole extract. */
  characters: number
  /** Of a picture: instead of its words, itself as a JPEG of at most so many bytes. */
  shrinkTo?: number
  /** Of a PDF: false leaves pages that are pictures unread, which takes seconds each. */
  scans: boolean
  /** Of a PDF: only these pages, in this order. */
  pages?: number[]
  languages: OcrLanguage[]
}

export interface OcrLanguage {
  /** As tesseract names it: `eng`, `chi_sim`. */
  name: string
  /** Absolute path of its `.traineddata.gz`. */
  path: string
}

export type ChildMessage =
  | { type: 'progress'; done: number; total: number }
  | { type: 'done' }
  /** `message` is a sentence for people; `cause` is for the log. `lasting`: the same bytes would fail again. */
  | { type: 'failed'; message: string; cause: string; lasting: boolean }

/** What a child says is not trusted: it reads hostile files. Null for anything else. */
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
