import { readFile } from 'node:fs/promises'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import type { PDFDocumentProxy } from 'unpdf/pdfjs'
import type { Extract } from '../domain/file.ts'
import { damaged, unreadable } from './office/unreadable.ts'
import { openPdf } from './read-pdf-document.ts'
import { readPdfScans } from './read-pdf-scans.ts'
import { pageText } from './read-pdf-text.ts'
import type { Ocr } from './reader/ocr.ts'

export interface PdfSurroundings {
  ocr: Ocr
  /** Milliseconds after which what has been read so far is given, with a note. */
  timeLeft(): number
  onProgress(done: number, total: number): void
  characters: number
}

const MAX_PAGES = 2_000

/** One section a page. Throws `file_unreadable`: locked, damaged, nothing to read in it. */
export async function readPdf(path: string, around: PdfSurroundings): Promise<Extract> {
  const pdf = await open(path)
  try {
    const pages = await readPages(pdf, around)
    const broken = pages.filter(({ text }) => text === null).length
    if (broken === pages.length) throw around.timeLeft() > 0 ? damaged(pages[0]?.failure) : outOfTime()
    const scans = await readPdfScans(
      pdf,
      pages.flatMap(({ number, text }) => (text === '' ? [number] : [])),
      around,
    )
    const sections = pages.map(({ number, text }) => ({
      label: `page ${number}`,
      text: text || (scans.texts.get(number) ?? ''),
    }))
    const notes = [...scans.notes]
    if (pages.length < pdf.numPages) {
      notes.push(`The PDF has ${pdf.numPages} pages; only the first ${pages.length} were read.`)
    }
    if (broken > 0)
      notes.push(
        broken === 1
          ? 'One page is damaged and could not be read.'
          : `${broken} pages are damaged and could not be read.`,
      )
    if (notes.length === 0 && sections.every(({ text }) => text === '')) notes.push('The PDF holds no text.')
    return { sections, notes }
  } finally {
    await pdf.loadingTask.destroy()
  }
}

async function open(path: string): Promise<PDFDocumentProxy> {
  try {
    return await openPdf(await readFile(path))
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') {
      throw unreadable('The PDF is locked with a password: save it without one and attach it again.', error)
    }
    throw damaged(error)
  }
}

interface PageRead {
  number: number
  /** Null: damaged. Empty: a scan, or an empty page. */
  text: string | null
  failure?: unknown
}

/** How fast the machine was decided it, not the file: the cause says so. */
const outOfTime = () =>
  unreadable(
    'Not one page of the PDF could be read in the time there is for a file: split it, or try again later.',
    new DOMException('out of time', 'TimeoutError'),
  )

async function readPages(pdf: PDFDocumentProxy, around: PdfSurroundings): Promise<PageRead[]> {
  const pages: PageRead[] = []
  const last = Math.min(pdf.numPages, MAX_PAGES)
  let characters = 0
  for (let number = 1; number <= last && around.timeLeft() > 0; number++) {
    const page = await readPage(pdf, number)
    characters += page.text?.length ?? 0
    if (characters > around.characters && pages.length > 0) break
    pages.push(page)
    // Pages follow each other without one otherwise, and whoever watches takes a long book for a loop.
    await turnOfTheLoop()
    around.onProgress(number, last)
  }
  return pages
}

async function readPage(pdf: PDFDocumentProxy, number: number): Promise<PageRead> {
  try {
    const page = await pdf.getPage(number)
    const text = await pageText(page)
    page.cleanup()
    return { number, text }
  } catch (failure) {
    // The other pages are worth having.
    return { number, text: null, failure }
  }
}
