import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { openPdf, textChanges } from './open-pdf.ts'
import { pdfOf } from './testing/pdf.ts'

const pdfjs = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'))

test.each(textChanges)('$file contains the code that is changed: $from', async ({ file, from, times }) => {
  const text = await readFile(join(pdfjs, 'legacy', 'build', file), 'utf8')

  expect(text.split(from).length - 1).toBe(times)
})

/** What pdf.js is given to draw. */
async function pictureIn(bytes: Uint8Array, width: number, height: number, more: string) {
  const picture = { bytes, width, height, filter: 'DCTDecode', more }
  const pdf = await openPdf(pdfOf([{ picture }]))
  try {
    const page = await pdf.getPage(1)
    const { argsArray } = await page.getOperatorList()
    const [[name]] = argsArray.filter((args) => typeof args?.[0] === 'string' && args[0].startsWith('img_'))
    return await new Promise<{ width: number; height: number; kind: number; data: Uint8Array }>((resolve) => {
      page.objs.get(name, resolve)
    })
  } finally {
    await pdf.loadingTask.destroy()
  }
}

const plain = (width: number, height: number, background: string) =>
  sharp({ create: { width, height, channels: 3, background } })

test.each([
  ['grey', 'DeviceGray', 'b-w', ''],
  ['colour', 'DeviceRGB', 'srgb', ''],
  ['four colours', 'DeviceCMYK', 'cmyk', '/Decode [1 0 1 0 1 0 1 0]'],
])('a JPEG in %s is not decoded by JavaScript', async (_what, space, pipeline, more) => {
  const jpeg = await plain(64, 96, '#eee').toColourspace(pipeline).jpeg().toBuffer()
  const { width, height, kind, data } = await pictureIn(jpeg, 64, 96, `/ColorSpace /${space} ${more}`)

  expect([width, height, kind]).toEqual([64, 96, 3])
  expect(Math.abs((data[0] ?? 0) - 0xee)).toBeLessThan(16)
  expect(data[3]).toBe(255)
})

test('a JPEG with more pixels than a drawn page is shrunk while it is decoded', async () => {
  const jpeg = await plain(4_000, 6_000, '#eee').toColourspace('b-w').jpeg().toBuffer()
  const { width, height } = await pictureIn(jpeg, 4_000, 6_000, '')

  expect([width, height]).toEqual([2_000, 3_000])
})

test('a JPEG that the PDF inverts is inverted', async () => {
  const jpeg = await plain(64, 64, '#fff').toColourspace('b-w').jpeg().toBuffer()

  expect((await pictureIn(jpeg, 64, 64, '/Decode [1 0]')).data[0]).toBe(0)
})
