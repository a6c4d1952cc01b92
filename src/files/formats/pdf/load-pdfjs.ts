// Loads the installed pdf.js and changes two things in its code that make it too slow for ordinary scans. A test fails when a new
// version no longer contains the code that is changed.

import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { decodeJpeg, type PdfImage } from './decode-jpeg.ts'

interface TextChange {
  file: 'pdf.mjs' | 'pdf.worker.mjs'
  from: string
  to: string
  /** How often `from` must occur. */
  times: number
}

export const textChanges: readonly TextChange[] = [
  {
    // pdf.js converts the rows of a picture 16 at a time, and each time the loop runs over all earlier rows too. That takes time
    // quadratic in the height: minutes for a page at 300 dpi. The code exists once for each byte order.
    file: 'pdf.mjs',
    from: 'for (let j = i * 4, jj = srcPos + len; j < jj; j += 3) {',
    to: 'for (let j = srcPos + i * 4, jj = srcPos + len; j < jj; j += 3) {',
    times: 2,
  },
  {
    // Its JPEG decoder is JavaScript and blocks the event loop for seconds for a page at 600 dpi. We need it exported to replace it.
    file: 'pdf.worker.mjs',
    from: 'export { WorkerMessageHandler };',
    to: 'export { WorkerMessageHandler, JpegStream, PDFImage };',
    times: 1,
  },
]

const ORIGINAL = Symbol.for('quarterdeck.createImageData')

/** `folder` is the folder of the package. A second call costs nothing. */
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
    // Once the worker is loaded, pdf.js uses it without a thread.
    replaceJpegDecoder(await import(addressOf('pdf.worker.mjs')))
    return await import(addressOf('pdf.mjs'))
  } finally {
    hooks.deregister()
  }
}

/** Another version of pdf.js stays unchanged: it still reads text and small scans. */
export const changed = (text: string, { from, to, times }: TextChange): string =>
  text.split(from).length - 1 === times ? text.replaceAll(from, to) : text

function replaceJpegDecoder(worker: object): void {
  if (!('PDFImage' in worker && 'JpegStream' in worker)) return
  const { PDFImage, JpegStream } = worker
  if (typeof PDFImage !== 'function' || typeof JpegStream !== 'function' || ORIGINAL in PDFImage) return
  const original: unknown = PDFImage.prototype.createImageData
  if (typeof original !== 'function') return
  Object.defineProperty(PDFImage, ORIGINAL, { value: original })
  PDFImage.prototype.createImageData = async function (this: PdfImage, ...options: unknown[]) {
    const decoded = this.image instanceof JpegStream ? await decodeJpeg(this) : null
    return decoded ?? original.apply(this, options)
  }
}
