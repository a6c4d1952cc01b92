import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOcr, type Ocr } from './ocr.ts'
import { findOcrLanguages } from './ocr-languages.ts'
import { readImage } from './read-image.ts'
import { hostilePictures } from './testing/hostile-pictures.ts'
import { grainy, recall, scan, scannedWords } from './testing/scan.ts'

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

const SLOW = 300_000

describe('the text of a picture', () => {
  test('a clean scan at 150 dpi gives at least 95 of 100 words', { timeout: SLOW }, async () => {
    const { sections, notes } = await read(await scan(scannedWords).jpeg().toBuffer())

    expect(recall(scannedWords, sections[0]?.text ?? '')).toBeGreaterThanOrEqual(0.95)
    expect(notes).toEqual(['The text was read from a picture and may contain mistakes.'])
  })

  test('a noisy scan that lies on its side is read', { timeout: SLOW }, async () => {
    // Only two lines: noise costs time for every pixel, and every orientation is tried.
    const words = scannedWords.split('\n').slice(0, 2).join('\n')
    const picture = await (await grainy(scan(words))).png().toBuffer()
    const { default: sharp } = await import('sharp')
    const { sections } = await read(await sharp(picture).rotate(270).png().toBuffer())

    expect(recall(words, sections[0]?.text ?? '')).toBeGreaterThanOrEqual(0.9)
  })

  test('a scan that is upside down is read', { timeout: SLOW }, async () => {
    const { sections } = await read(await scan(scannedWords).rotate(180).png().toBuffer())

    expect(recall(scannedWords, sections[0]?.text ?? '')).toBeGreaterThanOrEqual(0.95)
  })

  test('a picture without text gets a note that says so', { timeout: SLOW }, async () => {
    const { default: sharp } = await import('sharp')
    const sky = sharp({ create: { width: 300, height: 200, channels: 3, background: '#7ab' } })

    expect(await read(await sky.webp().toBuffer())).toEqual({
      sections: [],
      notes: ['No readable text was found in the picture.'],
    })
  })
})

describe('a picture too small for a letter', () => {
  const withoutWords = { sections: [], notes: ['No readable text was found in the picture.'] }

  test('is read and has no text: one pixel in each format', { timeout: SLOW }, async () => {
    const { default: sharp } = await import('sharp')
    const pixel = () => sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } })
    const pictures = await Promise.all([
      Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        'base64',
      ),
      pixel().png().toBuffer(),
      pixel().gif().toBuffer(),
      pixel().jpeg().toBuffer(),
      pixel().webp().toBuffer(),
    ])
    for (const bytes of pictures) expect(await read(bytes)).toEqual(withoutWords)
  })

  test.each([
    [2, 2],
    [3, 3],
    [5, 5],
    [6, 6],
    [3_000, 1],
    [1, 3_000],
    [200_000, 3],
    [200_000, 5],
  ])('is read and has no text: %i × %i', { timeout: SLOW }, async (width, height) => {
    const { default: sharp } = await import('sharp')
    const line = sharp({ create: { width, height, channels: 3, background: 'red' } })
    expect(await read(await line.png().toBuffer())).toEqual(withoutWords)
  })
})

describe('a hostile picture', () => {
  test.each(hostilePictures)('$name is refused before it is unpacked', async ({ bytes, refusal }) => {
    await expect(read(await bytes())).rejects.toMatchObject({
      code: 'file_unreadable',
      message: expect.stringMatching(new RegExp(`^${refusal}`)),
    })
  })

  test('of a few bytes or none is refused', async () => {
    const whole = await scan(scannedWords).png().toBuffer()

    for (const bytes of [whole.subarray(0, 20), new Uint8Array()]) {
      await expect(read(bytes)).rejects.toMatchObject({
        code: 'file_unreadable',
        message: 'The picture is damaged or incomplete: save it again and attach the new file.',
      })
    }
  })
})
