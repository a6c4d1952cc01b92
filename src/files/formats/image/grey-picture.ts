// Prepares a picture for OCR: upright as its camera says, on white, in grey, neither huge nor tiny.

import type { CreateRaw, Sharp, SharpInput } from 'sharp'
import type { ServerError } from '../../../domain/errors.ts'
import { unreadable } from '../unreadable.ts'

/** A larger picture is refused before it is unpacked: a few bytes can declare any size. Phones take pictures of 48 megapixels. */
export const MAX_PIXELS = 100_000_000
/** An A4 page at 300 dpi. More pixels take more time and give no better text. */
const ENOUGH_PIXELS = 9_000_000

export interface GreyPicture {
  /** One byte for each pixel; 0 is black. */
  pixels: Uint8Array
  width: number
  height: number
  /** More than one: the picture is an animation, and `pixels` is its first frame. */
  frames: number
}

/** `raw`: the input is plain pixels in this format. Throws `file_unreadable`. */
export async function greyPicture(input: SharpInput, raw?: CreateRaw): Promise<GreyPicture> {
  const { default: sharp } = await import('sharp')
  // Cached memory would count against the next file.
  sharp.cache(false)
  try {
    const image = sharp(input, { ...(raw && { raw }), limitInputPixels: MAX_PIXELS, failOn: 'truncated' })
    const { autoOrient, pages } = await image.metadata()
    const { width, height } = autoOrient
    // Reading the metadata alone does not check the limit.
    if (width * height > MAX_PIXELS) throw new Error(`Input image exceeds pixel limit: ${width} x ${height}`)
    const scale = Math.min(1, Math.sqrt(ENOUGH_PIXELS / (width * height)))
    const { data, info } = await image
      .autoOrient()
      .flatten({ background: 'white' })
      .greyscale()
      .resize({
        width: Math.max(1, Math.round(width * scale)),
        height: Math.max(1, Math.round(height * scale)),
        fit: 'inside',
      })
      .raw()
      .toBuffer({ resolveWithObject: true })
    return { pixels: oneChannel(data, info.channels), width: info.width, height: info.height, frames: pages ?? 1 }
  } catch (error) {
    throw pictureFailure(error)
  }
}

/** Turns an error of libvips into a sentence for people. */
export const pictureFailure = (error: unknown): ServerError =>
  error instanceof Error && /pixel limit/i.test(error.message)
    ? unreadable(
        `The picture is too large: at most ${MAX_PIXELS / 1_000_000} megapixels can be read. Make it smaller and attach it again.`,
        error,
      )
    : unreadable('The picture is damaged or incomplete: save it again and attach the new file.', error)

export function oneChannel(data: Uint8Array, channels: number): Uint8Array {
  if (channels === 1) return data
  return Uint8Array.from({ length: data.length / channels }, (_, at) => data[at * channels] ?? 0)
}

export interface Treatment {
  /** Degrees, clockwise. */
  angle: 0 | 90 | 180 | 270
  /** Removes single wrong pixels, but also thin strokes. */
  denoise: boolean
}

/** `band`: only these rows, counted after the picture is turned. */
export async function pngOf(
  picture: GreyPicture,
  { angle, denoise }: Treatment,
  band?: { top: number; height: number },
): Promise<Uint8Array> {
  const { default: sharp } = await import('sharp')
  const { width, height } = picture
  const raw = (pixels: Uint8Array, width: number, height: number): Sharp =>
    sharp(pixels, { raw: { width, height, channels: 1 } })
  const turned = raw(picture.pixels, width, height).rotate(angle)
  const first = await (denoise ? turned.median(3) : turned).greyscale().raw().toBuffer({ resolveWithObject: true })
  const { top, height: rows } = band ?? { top: 0, height: first.info.height }
  const factor = enlargement(width * height)
  return raw(first.data, first.info.width, first.info.height)
    .extract({ left: 0, top, width: first.info.width, height: rows })
    .resize({ width: Math.round(first.info.width * factor) })
    .greyscale()
    .png({ compressionLevel: 1 })
    .toBuffer()
}

/** Letters in a small picture are too small for Tesseract, which was trained at 300 dpi. */
function enlargement(pixels: number): number {
  if (pixels < 100_000) return 3
  return Math.max(1, Math.min(2, Math.sqrt(5_000_000 / pixels)))
}

/** Lines of text make the rows of a picture differ from each other, or its columns when the picture lies on its side. */
export function liesOnItsSide(picture: GreyPicture): boolean {
  return unrest(picture, false) < unrest(picture, true)
}

const STRIPS = 32

/** How much neighbouring lines of pixels differ. Measured in narrow strips, so that it works for tilted pages too. */
function unrest({ pixels, width, height }: GreyPicture, byColumn: boolean): number {
  const length = byColumn ? width : height
  const across = byColumn ? height : width
  const strip = Math.max(1, Math.floor(across / STRIPS))
  let sum = 0
  for (let from = 0; from + strip <= across; from += strip) {
    let before = -1
    for (let line = 0; line < length; line++) {
      let value = 0
      for (let at = from; at < from + strip; at++)
        value += pixels[byColumn ? at * width + line : line * width + at] ?? 0
      if (before !== -1) sum += ((value - before) / strip) ** 2
      before = value
    }
  }
  return sum / length
}

/** The sixth of the turned picture with the most contrast, for trying a treatment. Undefined: the picture is small, take all of it. */
export function busiestBand(
  picture: GreyPicture,
  angle: Treatment['angle'],
): { top: number; height: number } | undefined {
  const sideways = angle === 90 || angle === 270
  const rows = sideways ? picture.width : picture.height
  if (picture.width * picture.height < 500_000) return undefined
  const height = Math.floor(rows / 6)
  let best = { top: 0, ink: -1 }
  for (let band = 0; band < 6; band++) {
    const ink = contrast(picture, sideways, band * height, height)
    if (ink > best.ink) best = { top: band * height, ink }
  }
  const turnsOver = angle === 180 || angle === 270
  return { top: turnsOver ? rows - best.top - height : best.top, height }
}

function contrast({ pixels, width, height }: GreyPicture, columns: boolean, from: number, size: number): number {
  let sum = 0
  const across = columns ? height : width
  for (let line = from; line < from + size; line++) {
    for (let at = 1; at < across; at += 2) {
      const here = columns ? at * width + line : line * width + at
      sum += Math.abs((pixels[here] ?? 0) - (pixels[columns ? here - width : here - 1] ?? 0))
    }
  }
  return sum
}
