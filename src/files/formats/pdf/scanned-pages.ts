// Pages without text are drawn and read by OCR. That takes seconds for each page, so it stops when the time is over and says which
// pages are left.

import type { PDFDocumentProxy } from 'unpdf/pdfjs'
import { type GreyPicture, greyPicture } from '../image/grey-picture.ts'
import { pictureText } from '../image/read-image.ts'
import type { ReadContext } from '../read-by-type.ts'
import { MAX_DRAWN_PIXELS } from './decode-jpeg.ts'

interface ScannedPages {
  texts: ReadonlyMap<number, string>
  notes: string[]
  /** Pages that there was no time for. */
  unread: readonly number[]
}

const MAX_SCANS = 30
const DOTS_PER_INCH = 200

export async function readScans(
  pdf: PDFDocumentProxy,
  pages: readonly number[],
  { ocr, timeLeft, onProgress }: Pick<ReadContext, 'ocr' | 'timeLeft' | 'onProgress'>,
): Promise<ScannedPages> {
  const texts = new Map<number, string>()
  let tried = 0
  let slowest = 0
  for (const number of pages.slice(0, MAX_SCANS)) {
    const left = timeLeft()
    // The next page may take as long as the slowest page so far.
    if (left <= slowest) break
    const picture = await drawn(pdf, number)
    const text = picture === null || isBlank(picture) ? '' : await pictureText(picture, ocr)
    if (text !== '') texts.set(number, text)
    slowest = Math.max(slowest, left - timeLeft())
    onProgress(++tried, pages.length)
  }
  const notes =
    texts.size === 0
      ? []
      : [`The text of ${listOf([...texts.keys()])} was read from a picture and may contain mistakes.`]
  return { texts, notes, unread: pages.slice(tried) }
}

/** Leaves all pages unread if one of them is a scan. Pages that are white all over are not scans: there is nothing to read later. */
export async function skipScans(pdf: PDFDocumentProxy, pages: readonly number[]): Promise<ScannedPages> {
  const none = { texts: new Map<number, string>(), notes: [] }
  for (const number of pages) if (await isPainted(pdf, number)) return { ...none, unread: pages }
  return { ...none, unread: [] }
}

async function isPainted(pdf: PDFDocumentProxy, number: number): Promise<boolean> {
  try {
    const { getResolvedPDFJS } = await import('unpdf')
    const { OPS } = await getResolvedPDFJS()
    const page = await pdf.getPage(number)
    const { fnArray } = await page.getOperatorList({ annotationMode: WITHOUT_FIELDS })
    page.cleanup()
    const painting = Object.entries(OPS).flatMap(([name, operation]) => (PAINTING.test(name) ? [operation] : []))
    return fnArray.some((operation) => painting.includes(operation))
  } catch {
    return true
  }
}

/** Operators of pdf.js that draw text, pictures or paths. */
const PAINTING = /^(?:show\w+Text|shadingFill|showText|paint\w*Image\w*|constructPath|rawFillPath)$/

/** `page 3`, `pages 1-4 and 9`. */
function listOf(pages: readonly number[]): string {
  const ranges: { from: number; to: number }[] = []
  for (const page of pages) {
    const last = ranges.at(-1)
    if (last?.to === page - 1) last.to = page
    else ranges.push({ from: page, to: page })
  }
  const names = ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`))
  const shown = names.length > 20 ? [...names.slice(0, 20), 'others'] : names
  const list = shown.length > 1 ? `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}` : shown.join('')
  return `${pages.length === 1 ? 'page' : 'pages'} ${list}`
}

/** Null when the page cannot be drawn. */
async function drawn(pdf: PDFDocumentProxy, number: number): Promise<GreyPicture | null> {
  try {
    const { createCanvas } = await import('@napi-rs/canvas')
    const page = await pdf.getPage(number)
    const { width, height } = page.getViewport({ scale: 1 })
    const scale = Math.min(DOTS_PER_INCH / 72, Math.sqrt(MAX_DRAWN_PIXELS / (width * height)))
    const viewport = page.getViewport({ scale })
    const canvas = createCanvas(Math.max(1, Math.floor(viewport.width)), Math.max(1, Math.floor(viewport.height)))
    const canvasContext = canvas.getContext('2d')
    await page.render({ canvas, canvasContext, viewport, annotationMode: WITHOUT_FIELDS }).promise
    page.cleanup()
    return await greyPicture(canvas.data(), { width: canvas.width, height: canvas.height, channels: 4 })
  } catch {
    return null
  }
}

/** Annotation mode of pdf.js. Form fields are read as values, not from the picture. */
const WITHOUT_FIELDS = 2

function isBlank({ pixels }: GreyPicture): boolean {
  const first = pixels[0] ?? 255
  return pixels.every((pixel) => Math.abs(pixel - first) < 8)
}
