// OCR by Tesseract, offline: its engine and its language data come from installed packages, and nothing is downloaded.

import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface OcrLanguage {
  /** Tesseract's name: `eng`, `chi_sim`. */
  name: string
  /** Absolute path of its `.traineddata.gz`. */
  path: string
}

import { carriedFolder } from '../package-folder.ts'

export interface Recognized {
  text: string
  /** 0 to 100. */
  confidence: number
}

/** The engine starts with the first picture and is kept, because a start takes half a second. `folder` is for its language data. */
export function createOcr(deps: { languages: readonly OcrLanguage[]; folder: string }) {
  let starting: ReturnType<typeof start> | null = null

  async function start() {
    const { createWorker, PSM } = await import('tesseract.js')
    // Tesseract looks for all languages in one folder, but each comes from its own package.
    for (const { name, path } of deps.languages) await copyFile(path, join(deps.folder, `${name}.traineddata.gz`))
    const carried = carriedFolder('tesseract.js')
    const worker = await createWorker(
      deps.languages.map(({ name }) => name),
      1,
      {
        langPath: deps.folder,
        gzip: true,
        cacheMethod: 'none',
        ...(carried === null ? {} : { workerPath: join(carried, 'worker.cjs') }),
        // Without a handler Tesseract throws each error a second time, where nobody can catch it.
        errorHandler() {},
      },
    )
    // This mode finds columns. The default reads straight across them.
    await worker.setParameters({ tessedit_pageseg_mode: PSM.AUTO, ...QUIET })
    return worker
  }

  return {
    /** `image` is a PNG. `straighten` corrects a tilted image and takes an eighth more time. */
    async recognize(image: Uint8Array, { straighten }: { straighten: boolean }): Promise<Recognized> {
      starting ??= start()
      const worker = await starting
      const { data } = await worker.recognize(Buffer.from(image), { rotateAuto: straighten })
      return { text: data.text.trim(), confidence: data.confidence }
    },
    async close(): Promise<void> {
      const worker = await starting
      await worker?.terminate()
    },
  }
}

export type Ocr = ReturnType<typeof createOcr>

// Otherwise Tesseract writes messages to stderr, for example about the resolution.
const QUIET = { debug_file: '/dev/null' }
