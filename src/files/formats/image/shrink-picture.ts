import { MAX_PIXELS, pictureFailure } from './grey-picture.ts'

/** Lengths of the longer side to try. Models use fewer pixels, but the first keeps the text of a photographed page readable. */
const SIDES = [2_560, 1_800, 1_200, 800]

/**
 * Makes a JPEG of at most `maxBytes` from the first frame: upright as its camera says, on white, and without the place and time
 * that the camera stored. Throws `file_unreadable`.
 */
export async function shrinkPicture(path: string, maxBytes: number): Promise<Buffer> {
  const { default: sharp } = await import('sharp')
  // Cached memory would count against the next file.
  sharp.cache(false)
  try {
    const source = sharp(path, { limitInputPixels: MAX_PIXELS, failOn: 'truncated' })
    for (const side of SIDES) {
      const smaller = await source
        .clone()
        .autoOrient()
        .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
        .flatten({ background: 'white' })
        .jpeg({ quality: 85 })
        .toBuffer()
      if (smaller.length <= maxBytes) return smaller
    }
    throw new Error(`It cannot be made smaller than ${maxBytes} bytes.`)
  } catch (error) {
    throw pictureFailure(error)
  }
}
