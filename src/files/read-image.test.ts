import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readImage } from './read-image.ts'
import { createOcr, type Ocr } from './reader/ocr.ts'
import { findOcrLanguages } from './reader/ocr-languages.ts'
import { grainy, recall, scan, scannedWords } from './reader/testing/scan.ts'

let folder: string
let ocr: Ocr
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'read-image-'))
  ocr = createOcr({ languages: findOcrLanguages(['eng'], folder), folder })
})
afterAll(async () => {
  await ocr.close()
  await rm(folder, { recursive: true })
})

async function read(bytes: Uint8Array) {
  const path = join(folder, 'picture')
  await writeFile(path, bytes)
  return readImage(path, ocr)
}

const SLOW = 60_000

describe('the words of a picture', () => {
  test('a clean scan at 150 dpi gives at least 95 of 100 words', { timeout: SLOW }, async () => {
    const { sections, notes } = await read(await scan(scannedWords).jpeg().toBuffer())

    expect(recall(scannedWords, sections[0]?.text ?? '')).toBeGreaterThanOrEqual(0.95)
    expect(notes).toEqual(['The text was read from a picture and may hold mistakes.'])
  })

  test('a scan that is grainy and on its side is read as well', { timeout: SLOW }, async () => {
    const picture = await (await grainy(scan(scannedWords))).png().toBuffer()
    const { default: sharp } = await import('sharp')
    const { sections } = await read(await sharp(picture).rotate(270).png().toBuffer())

    expect(recall(scannedWords, sections[0]?.text ?? '')).toBeGreaterThanOrEqual(0.9)
  })

  test('a scan that is upside down is read as well', { timeout: SLOW }, async () => {
    const { sections } = await read(await scan(scannedWords).rotate(180).png().toBuffer())

    expect(recall(scannedWords, sections[0]?.text ?? '')).toBeGreaterThanOrEqual(0.95)
  })

  test('a picture without words says so', { timeout: SLOW }, async () => {
    const { default: sharp } = await import('sharp')
    const sky = sharp({ create: { width: 300, height: 200, channels: 3, background: '#7ab' } })

    expect(await read(await sky.webp().toBuffer())).toEqual({
      sections: [],
      notes: ['No text that can be read was found in the picture.'],
    })
  })
})

describe('a hostile picture', () => {
  test('that declares an enormous size is refused before it is unpacked', async () => {
    await expect(read(pngOfSize(60_000, 60_000))).rejects.toMatchObject({
      code: 'file_unreadable',
      message: 'The picture is too large: at most 40 megapixels are read. Make it smaller and attach it again.',
    })
  })

  test('that breaks off is refused', async () => {
    const whole = await scan(scannedWords).png().toBuffer()

    for (const bytes of [whole.subarray(0, whole.length / 2), whole.subarray(0, 20), new Uint8Array()]) {
      await expect(read(bytes)).rejects.toMatchObject({
        code: 'file_unreadable',
        message: 'The picture is damaged or broken off: save it anew and attach it again.',
      })
    }
  })
})

/** A head that declares a size, and hardly anything behind it. */
function pngOfSize(width: number, height: number): Buffer {
  const chunk = (name: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(name), data])
    const frame = Buffer.alloc(8)
    frame.writeUInt32BE(data.length)
    frame.writeUInt32BE(crc32(body), 4)
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
  }
  const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0])
  head.writeUInt32BE(width)
  head.writeUInt32BE(height, 4)
  const mark = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([mark, chunk('IHDR', head), chunk('IDAT', Buffer.from('x')), chunk('IEND', Buffer.alloc(0))])
}
