// The installed pdf.js, without what makes it too slow for an ordinary scan. Two things are changed while it is loaded; a test says
// so when a new version no longer has what they change.

import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { decodePdfJpeg, type PdfImage } from './decode-jpeg.ts'

/** Text of pdf.js, what stands in its place, and how often it must be there. */
export interface TextChange {
  file: 'pdf.mjs' | 'pdf.worker.mjs'
  from: string
  to: string
  times: number
}

export const textChanges: readonly TextChange[] = [
  {
    // The rows of a picture are converted 16 at a time, and each time the rest loop runs over all the rows before as well: the
    // square of the height, minutes for a page at 300 dpi. Once for each byte order.
    file: 'pdf.mjs',
    from: 'for (let j = i * 4, jj = srcPos + len; j < jj; j += 3) {',
    to: 'for (let j = srcPos + i * 4, jj = srcPos + len; j < jj; j += 3) {',
    times: 2,
  },
  {
    // Its JPEG decoder is a script that lets no timer through: seconds for a page at 600 dpi.
    file: 'pdf.worker.mjs',
    from: 'export { WorkerMessageHandler };',
    to: 'export { WorkerMessageHandler, JpegStream, PDFImage };',
    times: 1,
  },
]

const ORIGINAL = Symbol.for('quarterdeck.createImageData')

/** `folder`: of the package. May be called again; the second time costs nothing. */
export async function loadPdfjs(folder: string): Promise<typeof import('unpdf/pdfjs')> {
  const addressOf = (file: string): string => pathToFileURL(join(folder, 'legacy', 'build', file)).href
  const changes = Map.groupBy(textChanges, ({ file }) => addressOf(file))
  const hooks = registerHooks({
    load(url, context, next) {
      const loaded = next(url, context)
      const wanted = changes.get(url)
      if (wanted === undefined || loaded.source == null) return loaded
      const text =
        typeof loaded.source === 'string' ? loaded.source : Buffer.from(loaded.source as Uint8Array).toString()
      return { ...loaded, source: wanted.reduce(changed, text) }
    },
  })
  try {
    // pdf.js takes the worker from here on by itself, without a thread.
    takeOurJpegDecoder(await import(addressOf('pdf.worker.mjs')))
    return await import(addressOf('pdf.mjs'))
  } finally {
    hooks.deregister()
  }
}

/** Another version is left as it is: it still reads text, and small scans. */
export const changed = (text: string, { from, to, times }: TextChange): string =>
  text.split(from).length - 1 === times ? text.replaceAll(from, to) : text

function takeOurJpegDecoder(worker: object): void {
  if (!('PDFImage' in worker && 'JpegStream' in worker)) return
  const { PDFImage, JpegStream } = worker
  if (typeof PDFImage !== 'function' || typeof JpegStream !== 'function' || ORIGINAL in PDFImage) return
  const original: unknown = PDFImage.prototype.createImageData
  if (typeof original !== 'function') return
  Object.defineProperty(PDFImage, ORIGINAL, { value: original })
  PDFImage.prototype.createImageData = async function (this: PdfImage, ...options: unknown[]) {
    const decoded = this.image instanceof JpegStream ? await decodePdfJpeg(this) : null
    return decoded ?? original.apply(this, options)
  }
}
