import { registerHooks } from 'node:module'
import { join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PDFDocumentProxy } from 'unpdf/pdfjs'
import { MAX_PIXELS } from '../image/grey-picture.ts'
import { packageFolder } from '../package-folder.ts'
import { damaged, unreadable } from '../unreadable.ts'
import { decodeJpeg, type PdfImage } from './decode-jpeg.ts'

/**
 * The caller ends with `loadingTask.destroy()`. Nothing in the file is executed, and nothing that it points at is fetched. Throws
 * `file_unreadable` when the PDF is locked or damaged.
 */
export async function openPdf(bytes: Uint8Array): Promise<PDFDocumentProxy> {
  try {
    return await open(bytes)
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') {
      throw unreadable('The PDF is locked with a password: save it without a password and attach it again.', error)
    }
    throw damaged(error)
  }
}

async function open(bytes: Uint8Array): Promise<PDFDocumentProxy> {
  const { createIsomorphicCanvasFactory, definePDFJSModule, getDocumentProxy } = await import('unpdf')
  // The pdf.js inside unpdf cannot decode fax, JBIG2 and JPEG 2000 pictures, which most scanners write.
  const pdfjs = packageFolder('pdfjs-dist')
  await definePDFJSModule(() => loadPdfjs(pdfjs))
  return getDocumentProxy(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
    verbosity: 0,
    enableXfa: false,
    // A page may declare a picture of any size. Larger ones are left out.
    maxImageSize: MAX_PIXELS,
    CanvasFactory: await createIsomorphicCanvasFactory(() => import('@napi-rs/canvas')),
    ...dataFolders(pdfjs),
  })
}

/** As paths: pdf.js on Node cannot load the URLs that unpdf gives it. */
const dataFolders = (pdfjs: string) => ({
  // How East Asian fonts number their characters.
  cMapUrl: join(pdfjs, 'cmaps') + sep,
  cMapPacked: true,
  // Fonts that a PDF may use without containing them.
  standardFontDataUrl: join(pdfjs, 'standard_fonts') + sep,
  wasmUrl: join(pdfjs, 'wasm') + sep,
})

interface TextChange {
  file: 'pdf.mjs' | 'pdf.worker.mjs'
  from: string
  to: string
  /** How often `from` must occur. */
  times: number
}

/**
 * What is changed in the code of the installed pdf.js, because it is too slow for ordinary scans. A test fails when a new version no
 * longer contains the code that is changed.
 */
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
async function loadPdfjs(folder: string): Promise<typeof import('unpdf/pdfjs')> {
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
const changed = (text: string, { from, to, times }: TextChange): string =>
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
