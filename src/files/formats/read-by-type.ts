// Which reader reads what. Each is loaded when the first file of its type comes: together they weigh 100 MB.

import type { Extract, FileType } from '../../domain/file.ts'
import type { Ocr } from './image/ocr.ts'

export interface ReadSurroundings {
  ocr: Ocr
  timeLeft(): number
  onProgress(done: number, total: number): void
  characters: number
  scans: boolean
  pages?: readonly number[]
}

type Read = (path: string, around: ReadSurroundings) => Promise<Extract>

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
  'application/pdf': async (path, around) => (await import('./pdf/read-pdf.ts')).readPdf(path, around),
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': async (path) =>
    (await import('./office/docx/read-docx.ts')).readDocx(path),
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': async (path) =>
    (await import('./office/xlsx/read-xlsx.ts')).readXlsx(path),
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': async (path) =>
    (await import('./office/pptx/read-pptx.ts')).readPptx(path),
  'text/plain': text('text/plain'),
  'text/csv': text('text/csv'),
  'text/markdown': text('text/markdown'),
}
