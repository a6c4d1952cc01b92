// Pages as a scanner would produce them, drawn with a font of pdf.js because this machine may have no fonts.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createCanvas, GlobalFonts } from '@napi-rs/canvas'
import sharp, { type Sharp } from 'sharp'

export const scannedWords = `The harbour office keeps a ledger of every vessel that enters the bay.
In March the northern quay was closed for repairs, and the pilots had
to bring larger ships in at high water only. Captain Ingrid Halvorsen
wrote to the board: "We lose about 3,250 euros a day."`

/** As wide as A4 and as high as its lines, with a font of 11 points. */
export function scan(text: string, dpi = 150): Sharp {
  registerFont()
  const size = (11 * dpi) / 72
  const lines = text.split('\n')
  const canvas = createCanvas(Math.round(8.27 * dpi), Math.round(size * 1.5 * (lines.length + 3)))
  const context = canvas.getContext('2d')
  context.fillStyle = '#fff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.fillStyle = '#1a1a1a'
  context.font = `${size}px Scanned`
  for (const [at, line] of lines.entries()) context.fillText(line, dpi * 0.8, size * 1.5 * (at + 2))
  return sharp(canvas.toBuffer('image/png')).greyscale()
}

function registerFont(): void {
  if (GlobalFonts.has('Scanned')) return
  const pdfjs = createRequire(import.meta.url).resolve('pdfjs-dist/package.json')
  GlobalFonts.registerFromPath(join(pdfjs, '..', 'standard_fonts', 'LiberationSans-Regular.ttf'), 'Scanned')
}

/** Adds noise: every hundredth pixel is black or white, and all others are a little off. Always the same ones. */
export async function grainy(picture: Sharp): Promise<Sharp> {
  const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true })
  let state = 12_345
  const random = (): number => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    return state / 0x7fffffff
  }
  for (const [at, value] of data.entries()) {
    const dust = random()
    data[at] = dust < 0.01 ? 0 : dust < 0.02 ? 255 : Math.max(0, Math.min(255, value + (random() - 0.5) * 80))
  }
  return sharp(data, { raw: { width: info.width, height: info.height, channels: info.channels } })
}

/** The share of the words that were found again, in their order. */
export function recall(wanted: string, found: string): number {
  const words = (text: string): string[] => text.match(/\S+/g) ?? []
  const right = words(found)
  let before = new Array<number>(right.length + 1).fill(0)
  for (const word of words(wanted)) {
    const row = [0]
    for (const [at, other] of right.entries()) {
      row.push(word === other ? (before[at] ?? 0) + 1 : Math.max(before[at + 1] ?? 0, row[at] ?? 0))
    }
    before = row
  }
  return (before.at(-1) ?? 0) / words(wanted).length
}
