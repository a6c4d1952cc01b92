// Which reader reads which type. Each is loaded with the first file of its type: all of them together take 100 MB.

import { type Extract, type FileType, UNREADABLE } from '../../domain/session/file.ts'
import type { Ocr } from './image/ocr.ts'
import { unreadable } from './unreadable.ts'

export interface ReadContext {
  ocr: Ocr
  /** Milliseconds until a reader should return what it has. What it did not read goes into `unread`. */
  timeLeft(): number
  onProgress(done: number, total: number): void
  /** Most characters in the extract. */
  characters: number
  /** For a PDF: false leaves pages that are pictures `unread`, because OCR takes seconds for each. */
  scans: boolean
  /** For a PDF: reads only these pages, in this order. */
  pages?: readonly number[]
}

type Read = (path: string, context: ReadContext) => Promise<Extract>

const text =
  (mimeType: FileType): Read =>
  async (path, { characters }) =>
    (await import('./text/read-text.ts')).readText(path, mimeType, characters)

const image: Read = async (path, { ocr }) => (await import('./image/read-image.ts')).readImage(path, ocr)

export const readByType: Record<FileType, Read> = {
  'image/png': image,
  'image/jpeg': image,
  'image/gif': image,
  'image/webp': image,
  'application/pdf': async (path, context) => (await import('./pdf/read-pdf.ts')).readPdf(path, context),
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': async (path) =>
    (await import('./office/docx/read-docx.ts')).readDocx(path),
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': async (path) =>
    (await import('./office/xlsx/read-xlsx.ts')).readXlsx(path),
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': async (path) =>
    (await import('./office/pptx/read-pptx.ts')).readPptx(path),
  'text/plain': text('text/plain'),
  'text/csv': text('text/csv'),
  'text/markdown': text('text/markdown'),
  [UNREADABLE]: async () => {
    throw unreadable(
      'Only pictures (PNG, JPEG, GIF, WebP), PDF, Word, Excel and PowerPoint files since 2007, and text in a known encoding are read.',
    )
  },
}
