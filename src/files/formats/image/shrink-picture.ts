import { pictureFailure } from './grey-picture.ts'
import { MAX_PIXELS } from './picture-limits.ts'

/** Of the longer side. Models look at less; the first still has the words of a photographed page. */
const SIDES = [2_560, 1_800, 1_200, 800]

/**
 * A JPEG of the first frame that is not larger than `maxBytes`: upright as its camera says, on white, without what the camera
 * wrote about place and time. Throws `file_unreadable`.
 */
export async function shrinkPicture(path: string, maxBytes: number): Promise<Buffer> {
  const { default: sharp } = await import('sharp')
  // Kept memory would count against the next file.
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
