import { readFile } from 'node:fs/promises'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import type { PDFDocumentProxy } from 'unpdf/pdfjs'
import type { Extract } from '../../../domain/file.ts'
import type { Ocr } from '../image/ocr.ts'
import { damaged, unreadable } from '../unreadable.ts'
import { openPdf } from './open-pdf.ts'
import { pageAnnotations } from './page-annotations.ts'
import { pageText } from './page-text.ts'
import { leaveScans, readPdfScans } from './scanned-pages.ts'

export interface PdfSurroundings {
  ocr: Ocr
  /** Milliseconds after which what has been read so far is given; the rest is `unread`. */
  timeLeft(): number
  onProgress(done: number, total: number): void
  characters: number
  /** False: pages that are pictures are left `unread`. */
  scans: boolean
  /** Only these, in this order. */
  pages?: readonly number[]
}

const MAX_PAGES = 2_000

/** One section a page. Throws `file_unreadable`: locked, damaged, nothing to read in it. */
export async function readPdf(path: string, around: PdfSurroundings): Promise<Extract> {
  const pdf = await open(path)
  try {
    const last = Math.min(pdf.numPages, MAX_PAGES)
    const wanted = around.pages?.filter((number) => number >= 1 && number <= last) ?? upTo(last)
    const { pages, isFull } = await readPages(pdf, wanted, around)
    const broken = pages.filter(({ text }) => text === null).length
    if (broken === pages.length) throw around.timeLeft() > 0 ? damaged(pages[0]?.failure) : outOfTime()
    const wordless = pages.flatMap(({ number, text }) => (text === '' ? [number] : []))
    const scans = around.scans ? await readPdfScans(pdf, wordless, around) : await leaveScans(pdf, wordless)
    // With no room for more words, what follows is cut for good; what there was no time for can be asked for.
    const late = isFull ? [] : wanted.slice(pages.length)
    const unread = [...scans.unread, ...late].map(labelOf)
    const sections = [
      ...pages.map(({ number, text, added }) => ({
        label: labelOf(number),
        text: joined(text || (scans.texts.get(number) ?? ''), added),
      })),
      ...late.map((number) => ({ label: labelOf(number), text: '' })),
    ]
    const notes = [...scans.notes]
    if (around.pages === undefined && sections.length < pdf.numPages) {
      notes.push(`The PDF has ${pdf.numPages} pages; only the first ${sections.length} can be read.`)
    }
    if (broken > 0)
      notes.push(
        broken === 1
          ? 'One page is damaged and could not be read.'
          : `${broken} pages are damaged and could not be read.`,
      )
    if (around.pages === undefined && unread.length + notes.length === 0 && sections.every(({ text }) => text === '')) {
      notes.push('The PDF holds no text.')
    }
    return { sections, notes, ...(unread.length > 0 && { unread }) }
  } finally {
    await pdf.loadingTask.destroy()
  }
}

const joined = (...parts: string[]): string => parts.filter((part) => part !== '').join('\n\n')
const upTo = (last: number): number[] => Array.from({ length: last }, (_, at) => at + 1)
const labelOf = (number: number): string => `page ${number}`

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
  /** Fields, comments, links. */
  added: string
  failure?: unknown
}

/** How fast the machine was decided it, not the file: the cause says so. */
const outOfTime = () =>
  unreadable(
    'Not one page of the PDF could be read in the time there is for a file: split it, or try again later.',
    new DOMException('out of time', 'TimeoutError'),
  )

async function readPages(
  pdf: PDFDocumentProxy,
  wanted: readonly number[],
  around: PdfSurroundings,
): Promise<{ pages: PageRead[]; isFull: boolean }> {
  const pages: PageRead[] = []
  let characters = 0
  for (const number of wanted) {
    if (around.timeLeft() <= 0) break
    const page = await readPage(pdf, number)
    characters += (page.text?.length ?? 0) + page.added.length
    if (characters > around.characters && pages.length > 0) return { pages, isFull: true }
    pages.push(page)
    // Pages follow each other without one otherwise, and whoever watches takes a long book for a loop.
    await turnOfTheLoop()
    around.onProgress(pages.length, wanted.length)
  }
  return { pages, isFull: false }
}

async function readPage(pdf: PDFDocumentProxy, number: number): Promise<PageRead> {
  try {
    const page = await pdf.getPage(number)
    const text = await pageText(page)
    const added = await pageAnnotations(page, text)
    page.cleanup()
    return { number, text, added }
  } catch (failure) {
    // The other pages are worth having.
    return { number, text: null, added: '', failure }
  }
}
