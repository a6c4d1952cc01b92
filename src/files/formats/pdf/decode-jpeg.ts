// Decodes the JPEGs in a PDF by libjpeg, in grey and no larger than OCR can use: a page at 600 dpi would be 140 MB of pixels.

import { MAX_PIXELS, oneChannel } from '../image/grey-picture.ts'

/** Most pixels of a drawn page. A PDF can declare a page as large as a house. */
export const MAX_DRAWN_PIXELS = 6_000_000

/** What pdf.js knows about a picture before it decodes it. */
export interface PdfImage {
  image: { bytes: Uint8Array; jpegOptions: { colorTransform: number | undefined } }
  numComps: number
  colorSpace: { name: string } | null
  smask: unknown
  mask: unknown
  needsDecode: boolean
  decode: unknown
  interpolate: unknown
}

interface DecodedImage {
  width: number
  height: number
  /** pdf.js's number for four bytes in each pixel. */
  kind: 3
  data: Uint8ClampedArray<ArrayBuffer>
  interpolate: unknown
}

const RGBA_32BPP = 3

/** Colour spaces that a JPEG describes itself. All others need tables in the PDF. */
const PLAIN_COLOURS = new Set(['DeviceGray', 'DeviceRGB', 'DeviceCMYK', 'CalGray', 'CalRGB', 'ICCBased'])

/** Null: pdf.js must decode the picture, because it is masked, in another colour space, or damaged. */
export async function decodeJpeg(picture: PdfImage): Promise<DecodedImage | null> {
  const { image, numComps, colorSpace, smask, mask, needsDecode, decode, interpolate } = picture
  if (smask || mask || colorSpace === null || !PLAIN_COLOURS.has(colorSpace.name)) return null
  if (image.jpegOptions.colorTransform !== undefined || (needsDecode && !isInverted(decode, numComps))) return null
  const bytes = Buffer.from(image.bytes.buffer, image.bytes.byteOffset, image.bytes.byteLength)
  const jpeg = bytes.subarray(Math.max(0, bytes.indexOf(START)))
  const { default: sharp } = await import('sharp')
  sharp.cache(false)
  try {
    const source = sharp(jpeg, { limitInputPixels: MAX_PIXELS, failOn: 'none' })
    const { width, height, channels } = await source.metadata()
    if (width * height > MAX_PIXELS) return null
    // libvips inverts four-colour JPEGs with Adobe's mark. A PDF says itself whether to invert.
    const isNegative = needsDecode !== (channels === 4 && jpeg.includes(ADOBE))
    const { data, info } = await source
      .resize({ width: Math.max(1, Math.floor(width / shrinkOf(width * height))) })
      .greyscale()
      .negate(isNegative ? { alpha: false } : false)
      .raw()
      .toBuffer({ resolveWithObject: true })
    const pixels = oneChannel(data, info.channels)
    return { width: info.width, height: info.height, kind: RGBA_32BPP, data: opaque(pixels), interpolate }
  } catch {
    return null
  }
}

/** Powers of two, which libjpeg applies while it unpacks. */
function shrinkOf(pixels: number): number {
  let shrink = 1
  while (pixels / (2 * shrink) ** 2 >= MAX_DRAWN_PIXELS) shrink *= 2
  return shrink
}

function opaque(grey: Uint8Array): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(grey.length * 4)
  for (let at = 0; at < grey.length; at++) {
    const value = grey[at] ?? 0
    pixels[4 * at] = value
    pixels[4 * at + 1] = value
    pixels[4 * at + 2] = value
    pixels[4 * at + 3] = 255
  }
  return pixels
}

const START = Buffer.from('ffd8', 'hex')
const ADOBE = Buffer.from('Adobe')

const isInverted = (decode: unknown, components: number): boolean =>
  Array.isArray(decode) &&
  decode.length === 2 * components &&
  decode.every((value, at) => value === (at % 2 === 0 ? 1 : 0))
