import { join, sep } from 'node:path'
import type { PDFDocumentProxy } from 'unpdf/pdfjs'
import { MAX_PIXELS } from '../image/grey-picture.ts'
import { packageFolder } from '../package-folder.ts'
import { damaged, unreadable } from '../unreadable.ts'
import { loadPdfjs } from './load-pdfjs.ts'

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
