// The words of a picture, whichever way up it lies and however grainy it is.

import { busiestBand, type GreyPicture, liesOnItsSide, pngOf, type Treatment } from './grey-picture.ts'
import type { Ocr, Recognized } from './ocr.ts'

/** Words that were really there come with more than this, words made up from leaves or clouds with less. */
const CERTAIN = 80
const GUESSED = 40
/** No letter fits into less, and the treatments need room of their own. */
const MIN_SIDE = 6

/** Empty when there are none that can be read. */
export async function pictureWords(picture: GreyPicture, ocr: Ocr): Promise<string> {
  if (Math.min(picture.width, picture.height) < MIN_SIDE) return ''
  const { treatment, seen } = await bestTreatment(picture, ocr)
  let whole = seen ?? (await ocr.recognize(await pngOf(picture, treatment)))
  if (seen === null && whole.confidence < CERTAIN && !treatment.denoise) {
    const cleaner = await ocr.recognize(await pngOf(picture, { ...treatment, denoise: true }))
    if (cleaner.confidence > whole.confidence) whole = cleaner
  }
  return whole.confidence < GUESSED ? '' : whole.text
}

/** A whole page takes seconds, so it is found out on a part of it. `seen`: when that was the whole picture. */
async function bestTreatment(
  picture: GreyPicture,
  ocr: Ocr,
): Promise<{ treatment: Treatment; seen: Recognized | null }> {
  let best: { treatment: Treatment; confidence: number; seen: Recognized | null } | null = null
  for (const treatment of treatments(picture)) {
    const band = busiestBand(picture, treatment.angle)
    const part = await ocr.recognize(await pngOf(picture, treatment, band))
    // A page without a word is all white to the engine, and it is quite certain of that.
    const confidence = part.text === '' ? 0 : part.confidence
    if (best === null || confidence > best.confidence) {
      best = { treatment, confidence, seen: band === undefined ? part : null }
    }
    if (best.confidence >= CERTAIN) break
  }
  return best ?? { treatment: { angle: 0, denoise: false }, seen: null }
}

/** The likely ones first: most pictures need no second. */
function treatments(picture: GreyPicture): Treatment[] {
  const [up, down] = liesOnItsSide(picture) ? ([90, 270] as const) : ([0, 180] as const)
  const [left, right] = up === 0 ? ([90, 270] as const) : ([0, 180] as const)
  return [
    { angle: up, denoise: false },
    { angle: down, denoise: false },
    { angle: up, denoise: true },
    { angle: down, denoise: true },
    { angle: left, denoise: false },
    { angle: right, denoise: false },
  ]
}
