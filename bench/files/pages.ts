// PDF pages and scans of the sample report.

import { createCanvas, GlobalFonts } from '@napi-rs/canvas'
import { PDFDocument, StandardFonts } from 'pdf-lib'
import sharp from 'sharp'
import { type Report, reportText } from '../../src/files/formats/office/testing/sample-text.ts'
import type { WrittenDocument } from '../../src/files/formats/office/testing/written-documents.ts'

const lines = (report: Report, fits: (line: string) => boolean): string[] =>
  reportText(report)
    .split('\n')
    .flatMap((paragraph) => {
      const wrapped: string[] = []
      for (const word of paragraph.split(' ')) {
        const longer = wrapped.length === 0 ? word : `${wrapped.at(-1)} ${word}`
        if (wrapped.length > 0 && fits(longer)) wrapped[wrapped.length - 1] = longer
        else wrapped.push(word)
      }
      return [...wrapped, '']
    })

/** Pages with text by pdf-lib. */
export async function writePdf(report: Report): Promise<WrittenDocument> {
  const pdf = await PDFDocument.create()
  const font = await pdf.embedFont(StandardFonts.TimesRoman)
  const text = lines(report, (line) => font.widthOfTextAtSize(line, 11) < 480)
  for (let at = 0; at < text.length; at += 48) {
    const page = pdf.addPage([595, 842])
    for (const [row, line] of text.slice(at, at + 48).entries())
      page.drawText(line, { x: 57, y: 780 - row * 15, size: 11, font })
  }
  return { bytes: Buffer.from(await pdf.save()), text: reportText(report) }
}

const hasFonts = (): boolean => GlobalFonts.families.length > 0

/** An A4 page at 150 dpi with a font of 11 points. Null: the machine has no fonts. */
export function drawScan(report: Report): WrittenDocument | null {
  if (!hasFonts()) return null
  const canvas = createCanvas(1240, 1754)
  const page = canvas.getContext('2d')
  page.fillStyle = '#fdfdfb'
  page.fillRect(0, 0, 1240, 1754)
  page.fillStyle = '#151515'
  page.font = `23px "${GlobalFonts.families.find(({ family }) => /serif/i.test(family))?.family ?? 'sans-serif'}"`
  const text = lines(report, (line) => page.measureText(line).width < 1000).slice(0, 50)
  for (const [row, line] of text.entries()) page.fillText(line, 120, 120 + row * 32)
  return { bytes: canvas.toBuffer('image/png'), text: text.join('\n') }
}

/** The same page as a bad scan: turned by two degrees, noisy and a little blurred. */
export async function roughen(scan: WrittenDocument): Promise<WrittenDocument> {
  const grain = await sharp({
    create: {
      width: 1240,
      height: 1754,
      channels: 3,
      background: '#808080',
      noise: { type: 'gaussian', mean: 128, sigma: 25 },
    },
  })
    .png()
    .toBuffer()
  const turned = await sharp(scan.bytes)
    .rotate(2, { background: '#fdfdfb' })
    .resize(1240, 1754, { fit: 'fill' })
    .blur(0.6)
    .toBuffer()
  const bytes = await sharp(turned)
    .composite([{ input: grain, blend: 'soft-light' }])
    .jpeg({ quality: 80 })
    .toBuffer()
  return { bytes, text: scan.text }
}

/** A PDF with nothing but the picture of a page. */
export async function scannedPdf(scan: WrittenDocument): Promise<WrittenDocument> {
  const pdf = await PDFDocument.create()
  pdf.addPage([595, 842]).drawImage(await pdf.embedPng(scan.bytes), { x: 0, y: 0, width: 595, height: 842 })
  return { bytes: Buffer.from(await pdf.save()), text: scan.text }
}
