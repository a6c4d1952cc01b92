// Tesseract, offline: its engine and its language data come from installed packages and nothing is ever fetched.

import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OcrLanguage } from '../../reader/read-job.ts'
import { carriedFolder } from '../package-folder.ts'

export interface Ocr {
  /** `image` is a PNG. `straighten`: it may lie at a slant; costs an eighth more. `confidence` goes from 0 to 100. */
  recognize(image: Uint8Array, options: { straighten: boolean }): Promise<Recognized>
  close(): Promise<void>
}

export interface Recognized {
  text: string
  confidence: number
}

/** The engine starts with the first picture and is kept: its start costs half a second. `folder` is for its language data. */
export function createOcr(deps: { languages: readonly OcrLanguage[]; folder: string }): Ocr {
  let starting: ReturnType<typeof start> | null = null

  async function start() {
    const { createWorker, PSM } = await import('tesseract.js')
    // It looks for all languages in one folder; they come from one package each.
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
        // Without it an error that is also thrown to us would be thrown a second time, at nobody.
        errorHandler() {},
      },
    )
    // Finds columns; the default reads straight across them.
    await worker.setParameters({ tessedit_pageseg_mode: PSM.AUTO, ...QUIET })
    return worker
  }

  return {
    async recognize(image, { straighten }) {
      starting ??= start()
      const worker = await starting
      const { data } = await worker.recognize(Buffer.from(image), { rotateAuto: straighten })
      return { text: data.text.trim(), confidence: data.confidence }
    },
    async close() {
      const worker = await starting
      await worker?.terminate()
    },
  }
}

// It writes about guesses at the resolution and the like.
const QUIET = { debug_file: '/dev/null' }
