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
  const [likely, ...others] = treatments(picture)
  // Nearly every page lies straight and is clean: it is read at once, and only what that does not read is looked at closer.
  let best = await ocr.recognize(await pngOf(picture, likely), { straighten: false })
  if (!isCertain(best)) {
    const { treatment, seen } = await bestTreatment(picture, [likely, ...others], ocr)
    for (const denoise of treatment.denoise ? [true] : [false, true]) {
      const again =
        denoise === treatment.denoise && seen !== null
          ? seen
          : await ocr.recognize(await pngOf(picture, { ...treatment, denoise }), { straighten: true })
      if (again.text !== '' && again.confidence > best.confidence) best = again
      if (isCertain(best) || seen !== null) break
    }
  }
  return best.confidence < GUESSED ? '' : best.text
}

/** A page without a word is all white to the engine, and it is quite certain of that. */
const isCertain = ({ text, confidence }: Recognized): boolean => text !== '' && confidence >= CERTAIN

/** A whole page takes seconds, so it is found out on a part of it. `seen`: when that was the whole picture. */
async function bestTreatment(
  picture: GreyPicture,
  all: readonly [Treatment, ...Treatment[]],
  ocr: Ocr,
): Promise<{ treatment: Treatment; seen: Recognized | null }> {
  let best: { treatment: Treatment; confidence: number; seen: Recognized | null } = {
    treatment: all[0],
    confidence: -1,
    seen: null,
  }
  for (const treatment of all) {
    const band = busiestBand(picture, treatment.angle)
    const part = await ocr.recognize(await pngOf(picture, treatment, band), { straighten: true })
    const confidence = part.text === '' ? 0 : part.confidence
    if (confidence > best.confidence) best = { treatment, confidence, seen: band === undefined ? part : null }
    if (best.confidence >= CERTAIN) break
  }
  return best
}

/** The likely ones first: most pictures need no second. */
function treatments(picture: GreyPicture): [Treatment, ...Treatment[]] {
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
