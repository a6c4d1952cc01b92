import { join, sep } from 'node:path'
import type { PDFDocumentProxy } from 'unpdf/pdfjs'
import { MAX_PIXELS } from '../image/picture-limits.ts'
import { packageFolder } from '../package-folder.ts'
import { loadPdfjs } from './load-pdfjs.ts'

/** Ends with `loadingTask.destroy()`. Nothing in the file is run, and nothing it points at is fetched. */
export async function openPdf(bytes: Uint8Array): Promise<PDFDocumentProxy> {
  const { createIsomorphicCanvasFactory, definePDFJSModule, getDocumentProxy } = await import('unpdf')
  // The pdf.js inside unpdf has no decoders for fax, JBIG2 and JPEG 2000 pictures, which is what most scanners write.
  const pdfjs = packageFolder('pdfjs-dist')
  await definePDFJSModule(() => loadPdfjs(pdfjs))
  return getDocumentProxy(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
    verbosity: 0,
    enableXfa: false,
    // A page may hold a picture of any declared size; a larger one is left out.
    maxImageSize: MAX_PIXELS,
    CanvasFactory: await createIsomorphicCanvasFactory(() => import('@napi-rs/canvas')),
    ...dataOf(pdfjs),
  })
}

/** As paths: pdf.js on Node cannot load the addresses that unpdf finds by itself. */
const dataOf = (pdfjs: string) => ({
  // How East Asian fonts number their characters.
  cMapUrl: join(pdfjs, 'cmaps') + sep,
  cMapPacked: true,
  // Fonts that every PDF may use without bringing them.
  standardFontDataUrl: join(pdfjs, 'standard_fonts') + sep,
  wasmUrl: join(pdfjs, 'wasm') + sep,
})
