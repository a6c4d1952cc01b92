import type { FileType } from '../../src/domain/session/file.ts'
import { sampleReport } from '../../src/files/formats/office/testing/sample-text.ts'
import {
  type WrittenDocument,
  writeDocx,
  writePptx,
  writeXlsx,
} from '../../src/files/formats/office/testing/written-documents.ts'
import { byLibreOffice, byPandoc, csvOf, htmlOf, isInstalled } from './other-programs.ts'
import { drawScan, roughen, scannedPdf, writePdf } from './pages.ts'

export interface Case {
  type: string
  writer: string
  mimeType: FileType
  /** The share of words that must be found. Null: the result is only reported. */
  target: number | null
  /** A string says why the document cannot be written here. */
  write(folder: string): Promise<WrittenDocument | string>
}

const office = 'application/vnd.openxmlformats-officedocument'
const docx = `${office}.wordprocessingml.document` as const
const xlsx = `${office}.spreadsheetml.sheet` as const
const pptx = `${office}.presentationml.presentation` as const

const report = sampleReport(2026, 8)
const short = sampleReport(11, 2, true)

const needs =
  (program: string, packages: string, write: Case['write']): Case['write'] =>
  async (folder) =>
    (await isInstalled(program))
      ? await write(folder)
      : `needs ${program}: apt-get install -y --no-install-recommends ${packages}`

const libreOffice = (write: Case['write']) =>
  needs('soffice', 'libreoffice-writer libreoffice-calc libreoffice-impress', write)

const scan = async (change: (page: WrittenDocument) => Promise<WrittenDocument> = async (page) => page) => {
  const page = drawScan(short)
  return page === null ? 'needs a font: apt-get install -y fonts-dejavu-core' : await change(page)
}

export const cases: Case[] = [
  { type: 'docx', writer: 'docx (npm)', mimeType: docx, target: 0.99, write: () => writeDocx(report) },
  {
    type: 'docx',
    writer: 'pandoc',
    mimeType: docx,
    target: 0.99,
    write: needs('pandoc', 'pandoc', (folder) => byPandoc(report, folder, 'docx')),
  },
  {
    type: 'docx',
    writer: 'LibreOffice',
    mimeType: docx,
    target: 0.99,
    write: libreOffice(async (folder) =>
      byLibreOffice({ ...(await writeDocx(report)), ending: 'docx' }, folder, 'docx'),
    ),
  },
  { type: 'pptx', writer: 'pptxgenjs', mimeType: pptx, target: 0.99, write: () => writePptx(report) },
  {
    type: 'pptx',
    writer: 'pandoc',
    mimeType: pptx,
    target: 0.99,
    write: needs('pandoc', 'pandoc', (folder) => byPandoc(report, folder, 'pptx')),
  },
  {
    type: 'pptx',
    writer: 'LibreOffice',
    mimeType: pptx,
    target: 0.99,
    write: libreOffice(async (folder) =>
      byLibreOffice({ ...(await writePptx(report)), ending: 'pptx' }, folder, 'pptx'),
    ),
  },
  { type: 'xlsx', writer: 'write-excel-file', mimeType: xlsx, target: 0.99, write: () => writeXlsx(report) },
  {
    type: 'xlsx',
    writer: 'LibreOffice',
    mimeType: xlsx,
    target: 0.99,
    write: libreOffice(async (folder) =>
      byLibreOffice({ ...(await writeXlsx(report)), ending: 'xlsx' }, folder, 'xlsx'),
    ),
  },
  {
    type: 'xlsx',
    writer: 'LibreOffice, from CSV',
    mimeType: xlsx,
    target: 0.99,
    write: libreOffice((folder) => byLibreOffice({ ...csvOf(report), ending: 'csv' }, folder, 'xlsx')),
  },
  {
    type: 'pdf',
    writer: 'pdf-lib',
    mimeType: 'application/pdf',
    target: 0.99,
    write: () => writePdf(sampleReport(5, 8, true)),
  },
  {
    type: 'pdf',
    writer: 'LibreOffice',
    mimeType: 'application/pdf',
    target: 0.99,
    write: libreOffice((folder) => byLibreOffice({ ...htmlOf(report), ending: 'html' }, folder, 'pdf')),
  },
  { type: 'scan', writer: '150 dpi, clean', mimeType: 'image/png', target: 0.95, write: () => scan() },
  {
    type: 'scan',
    writer: '150 dpi, clean, in a PDF',
    mimeType: 'application/pdf',
    target: 0.95,
    write: () => scan(scannedPdf),
  },
  {
    type: 'scan',
    writer: '150 dpi, turned by 2° and grainy',
    mimeType: 'image/jpeg',
    target: null,
    write: () => scan(roughen),
  },
]
