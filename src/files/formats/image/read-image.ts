// Reads the text of a picture by OCR, whichever way up the picture is and however noisy it is.

import type { Extract } from '../../../domain/session/file.ts'
import { busiestBand, type GreyPicture, greyPicture, liesOnItsSide, pngOf, type Treatment } from './grey-picture.ts'
import type { Ocr, Recognized } from './ocr.ts'

/** Throws `file_unreadable` for a picture that is damaged or too large. */
export async function readImage(path: string, ocr: Ocr): Promise<Extract> {
  const picture = await greyPicture(path)
  const text = await pictureText(picture, ocr)
  const notes = [
    text === ''
      ? 'No readable text was found in the picture.'
      : 'The text was read from a picture and may contain mistakes.',
  ]
  if (picture.frames > 1)
    notes.push(`The picture is an animation: only the first of its ${picture.frames} frames was read.`)
  return { sections: text === '' ? [] : [{ label: '', text }], notes }
}

/** Confidence of text that is really there. Text that OCR sees in leaves or clouds has less. */
const CERTAIN = 80
/** Text with less confidence is not used. */
const GUESSED = 40
/** No letter fits into fewer pixels, and the treatments need some space. */
const MIN_SIDE = 6

/** Empty when the picture has no readable text. */
export async function pictureText(picture: GreyPicture, ocr: Ocr): Promise<string> {
  if (Math.min(picture.width, picture.height) < MIN_SIDE) return ''
  const [likely, ...others] = treatments(picture)
  // Nearly every page is straight and clean, so it is read at once. Only if that fails are other treatments tried.
  let best = await ocr.recognize(await pngOf(picture, likely), { straighten: false })
  if (!isCertain(best)) {
    const { treatment, wholeResult } = await bestTreatment(picture, [likely, ...others], ocr)
    for (const denoise of treatment.denoise ? [true] : [false, true]) {
      const again =
        denoise === treatment.denoise && wholeResult !== null
          ? wholeResult
          : await ocr.recognize(await pngOf(picture, { ...treatment, denoise }), { straighten: true })
      if (again.text !== '' && again.confidence > best.confidence) best = again
      if (isCertain(best) || wholeResult !== null) break
    }
  }
  return best.confidence < GUESSED ? '' : best.text
}

/** The engine has high confidence in an empty result too. */
const isCertain = ({ text, confidence }: Recognized): boolean => text !== '' && confidence >= CERTAIN

/** Tries the treatments on a part of the picture, because a whole page takes seconds. `wholeResult`: set if the part was everything. */
async function bestTreatment(
  picture: GreyPicture,
  all: readonly [Treatment, ...Treatment[]],
  ocr: Ocr,
): Promise<{ treatment: Treatment; wholeResult: Recognized | null }> {
  let best: { treatment: Treatment; confidence: number; wholeResult: Recognized | null } = {
    treatment: all[0],
    confidence: -1,
    wholeResult: null,
  }
  for (const treatment of all) {
    const band = busiestBand(picture, treatment.angle)
    const result = await ocr.recognize(await pngOf(picture, treatment, band), { straighten: true })
    const confidence = result.text === '' ? 0 : result.confidence
    if (confidence > best.confidence) {
      best = { treatment, confidence, wholeResult: band === undefined ? result : null }
    }
    if (best.confidence >= CERTAIN) break
  }
  return best
}

/** The likely ones first: most pictures need only one. */
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
