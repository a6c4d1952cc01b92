import { readFile } from 'node:fs/promises'
import { setImmediate as nextLoopTurn } from 'node:timers/promises'
import type { PDFDocumentProxy } from 'unpdf/pdfjs'
import type { Extract } from '../../../domain/session/file.ts'
import type { ReadContext } from '../read-by-type.ts'
import { damaged, unreadable } from '../unreadable.ts'
import { openPdf } from './open-pdf.ts'
import { pageAnnotations } from './page-annotations.ts'
import { pageText } from './page-text.ts'
import { readScans, skipScans } from './scanned-pages.ts'

const MAX_PAGES = 2_000

/** Gives one section for each page. Throws `file_unreadable` when the PDF is locked or damaged, or when no page can be read. */
export async function readPdf(path: string, context: ReadContext): Promise<Extract> {
  const pdf = await openPdf(await readFile(path))
  try {
    const lastPage = Math.min(pdf.numPages, MAX_PAGES)
    const wanted = context.pages?.filter((number) => number >= 1 && number <= lastPage) ?? upTo(lastPage)
    const { pages, isFull } = await readPages(pdf, wanted, context)
    const broken = pages.filter(({ text }) => text === null).length
    if (broken === pages.length) throw context.timeLeft() > 0 ? damaged(pages[0]?.failure) : outOfTime()
    const withoutText = pages.flatMap(({ number, text }) => (text === '' ? [number] : []))
    const scans = context.scans ? await readScans(pdf, withoutText, context) : await skipScans(pdf, withoutText)
    // When the extract is full, the rest is left out for good. When the time is over, the rest can be read later.
    const late = isFull ? [] : wanted.slice(pages.length)
    const unread = [...scans.unread, ...late].map(labelOf)
    const sections = [
      ...pages.map(({ number, text, annotations }) => ({
        label: labelOf(number),
        text: joined(text || (scans.texts.get(number) ?? ''), annotations),
      })),
      ...late.map((number) => ({ label: labelOf(number), text: '' })),
    ]
    const notes = [...scans.notes, ...(context.pages === undefined ? cutNotes(pdf, sections.length) : [])]
    if (broken > 0) notes.push(brokenNote(broken))
    if (
      context.pages === undefined &&
      unread.length + notes.length === 0 &&
      sections.every(({ text }) => text === '')
    ) {
      notes.push('The PDF contains no text.')
    }
    return { sections, notes, ...(unread.length > 0 && { unread }) }
  } finally {
    await pdf.loadingTask.destroy()
  }
}

const joined = (...parts: string[]): string => parts.filter((part) => part !== '').join('\n\n')
const upTo = (last: number): number[] => Array.from({ length: last }, (_, at) => at + 1)
const labelOf = (number: number): string => `page ${number}`

const cutNotes = ({ numPages }: PDFDocumentProxy, shown: number): string[] =>
  shown < numPages ? [`The PDF has ${numPages} pages; only the first ${shown} can be read.`] : []

const brokenNote = (count: number): string =>
  count === 1 ? 'One page is damaged and could not be read.' : `${count} pages are damaged and could not be read.`

/** The cause says that the speed of the machine decided this, not the file. */
const outOfTime = () =>
  unreadable(
    'Not one page of the PDF could be read in the time limit: split the PDF, or try again later.',
    new DOMException('out of time', 'TimeoutError'),
  )

interface PageRead {
  number: number
  /** Null: the page is damaged. Empty: it is a scan, or an empty page. */
  text: string | null
  /** Form fields, comments and links. */
  annotations: string
  failure?: unknown
}

async function readPages(
  pdf: PDFDocumentProxy,
  wanted: readonly number[],
  context: ReadContext,
): Promise<{ pages: PageRead[]; isFull: boolean }> {
  const pages: PageRead[] = []
  let characters = 0
  for (const number of wanted) {
    if (context.timeLeft() <= 0) break
    const page = await readPage(pdf, number)
    characters += (page.text?.length ?? 0) + page.annotations.length
    if (characters > context.characters && pages.length > 0) return { pages, isFull: true }
    pages.push(page)
    // Without this the event loop makes no turn between pages, and the watchdog takes a long book for an endless loop.
    await nextLoopTurn()
    context.onProgress(pages.length, wanted.length)
  }
  return { pages, isFull: false }
}

async function readPage(pdf: PDFDocumentProxy, number: number): Promise<PageRead> {
  try {
    const page = await pdf.getPage(number)
    const text = await pageText(page)
    const annotations = await pageAnnotations(page, text)
    page.cleanup()
    return { number, text, annotations }
  } catch (failure) {
    // The other pages are still worth reading.
    return { number, text: null, annotations: '', failure }
  }
}
