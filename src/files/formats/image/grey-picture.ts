// A picture as OCR wants it: upright as its camera says, on white, in grey, neither huge nor tiny.

import type { CreateRaw, Sharp, SharpInput } from 'sharp'
import type { ServerError } from '../../../domain/errors.ts'
import { unreadable } from '../unreadable.ts'
import { ENOUGH_PIXELS, MAX_PIXELS } from './picture-limits.ts'

export interface GreyPicture {
  /** One byte a pixel, 0 is black. */
  pixels: Uint8Array
  width: number
  height: number
  /** More than one: an animation, of which only the first picture is here. */
  frames: number
}

/** `raw`: the input is nothing but pixels. Throws `file_unreadable`. */
export async function greyPicture(input: SharpInput, raw?: CreateRaw): Promise<GreyPicture> {
  const { default: sharp } = await import('sharp')
  // Kept memory would count against the next file.
  sharp.cache(false)
  try {
    const image = sharp(input, { ...(raw && { raw }), limitInputPixels: MAX_PIXELS, failOn: 'truncated' })
    const { autoOrient, pages } = await image.metadata()
    const { width, height } = autoOrient
    // Asked here because a reader of the header alone does not ask it.
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

/** What libvips says of a picture, as a sentence for people. */
export const pictureFailure = (error: unknown): ServerError =>
  error instanceof Error && /pixel limit/i.test(error.message)
    ? unreadable(
        `The picture is too large: at most ${MAX_PIXELS / 1_000_000} megapixels are read. Make it smaller and attach it again.`,
        error,
      )
    : unreadable('The picture is damaged or broken off: save it anew and attach it again.', error)

export function oneChannel(data: Uint8Array, channels: number): Uint8Array {
  if (channels === 1) return data
  return Uint8Array.from({ length: data.length / channels }, (_, at) => data[at * channels] ?? 0)
}

export interface Treatment {
  /** Clockwise. */
  angle: 0 | 90 | 180 | 270
  /** Takes single wrong pixels away; costs fine strokes. */
  denoise: boolean
}

/** `band`: only these rows, counted after turning. */
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

/** Letters of a small picture are too small to be told apart: tesseract was taught with 300 dpi. */
function enlargement(pixels: number): number {
  if (pixels < 100_000) return 3
  return Math.max(1, Math.min(2, Math.sqrt(5_000_000 / pixels)))
}

/** Text lines make the rows of a picture differ from each other, or its columns when it lies on its side. */
export function liesOnItsSide(picture: GreyPicture): boolean {
  return unrest(picture, false) < unrest(picture, true)
}

const STRIPS = 32

/** How much neighbouring lines of pixels differ. Taken in narrow strips, so that a page at a slant shows its lines as well. */
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

/** The part of a turned picture in which most happens, for a first look. */
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
