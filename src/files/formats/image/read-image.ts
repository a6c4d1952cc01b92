import type { Extract } from '../../../domain/file.ts'
import { greyPicture } from './grey-picture.ts'
import type { Ocr } from './ocr.ts'
import { pictureWords } from './picture-words.ts'

/** Throws `file_unreadable` for a picture that is damaged or declares an enormous size. */
export async function readImage(path: string, ocr: Ocr): Promise<Extract> {
  const picture = await greyPicture(path)
  const text = await pictureWords(picture, ocr)
  const notes = [
    text === ''
      ? 'No text that can be read was found in the picture.'
      : 'The text was read from a picture and may hold mistakes.',
  ]
  if (picture.frames > 1)
    notes.push(`The picture is an animation: only the first of its ${picture.frames} frames was read.`)
  return { sections: text === '' ? [] : [{ label: '', text }], notes }
}
