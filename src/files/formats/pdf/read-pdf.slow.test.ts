import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isLastingFailure } from '../../reader/child/job-failure.ts'
import type { Ocr } from '../image/ocr.ts'
import { createOcr } from '../image/ocr.ts'
import { findOcrLanguages } from '../image/ocr-languages.ts'
import { recall, scan, scannedWords } from '../image/testing/scan.ts'
import type { ReadContext } from '../read-by-type.ts'
import { readPdf } from './read-pdf.ts'
import { hostilePdfs } from './testing/hostile-pdfs.ts'
import { pdfOf } from './testing/pdf.ts'

let folder: string
let ocr: Ocr
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'read-pdf-'))
  ocr = createOcr({ languages: findOcrLanguages(['eng'], folder), folder })
})
afterAll(async () => {
  await ocr.close()
  await rm(folder, { recursive: true })
})

async function read(bytes: Uint8Array, context: Partial<ReadContext> = {}) {
  const path = join(folder, 'file.pdf')
  await writeFile(path, bytes)
  return readPdf(path, { ocr, timeLeft: () => 60_000, onProgress() {}, characters: 1_000_000, scans: true, ...context })
}

async function scannedPage(text: string) {
  const { data, info } = await scan(text).jpeg({ quality: 90 }).toBuffer({ resolveWithObject: true })
  const picture = { bytes: data, width: info.width, height: info.height, filter: 'DCTDecode' }
  return { picture, size: [(info.width * 72) / 150, (info.height * 72) / 150] satisfies [number, number] }
}

describe('a PDF', () => {
  test('gives its pages one by one, and reports progress', async () => {
    const told: number[][] = []
    const pdf = pdfOf([{ lines: ['Report (draft)', 'Fuel  1,250 EUR'] }, { lines: ['The second page.'] }])

    expect(await read(pdf, { onProgress: (...step) => told.push(step) })).toEqual({
      sections: [
        { label: 'page 1', text: 'Report (draft)\nFuel 1,250 EUR' },
        { label: 'page 2', text: 'The second page.' },
      ],
      notes: [],
    })
    expect(told).toEqual([
      [1, 2],
      [2, 2],
    ])
  })

  test('is not called damaged because the machine was too slow for its first page', async () => {
    const reading = read(pdfOf([{ lines: ['Report'] }]), { timeLeft: () => 0 })

    const error = await reading.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'file_unreadable', message: expect.stringMatching(/^Not one page /) })
    expect(isLastingFailure(error)).toBe(false)
  })

  test('that was written from the bottom up is read from the top down', async () => {
    const lines = ['one', 'two', 'three', 'four', 'five', 'six']

    expect((await read(pdfOf([{ lines, bottomUp: true }]))).sections).toEqual([
      { label: 'page 1', text: lines.join('\n') },
    ])
  })

  test('with a scanned page is read from the picture', { timeout: 300_000 }, async () => {
    const { sections, notes } = await read(
      pdfOf([{ lines: ['Cover'] }, await scannedPage(scannedWords), { lines: ['End'] }]),
    )

    expect(sections.map(({ label }) => label)).toEqual(['page 1', 'page 2', 'page 3'])
    expect([sections[0]?.text, sections[2]?.text]).toEqual(['Cover', 'End'])
    expect(recall(scannedWords, sections[1]?.text ?? '')).toBeGreaterThanOrEqual(0.95)
    expect(notes).toEqual(['The text of page 2 was read from a picture and may contain mistakes.'])
  })

  test('whose scans would take too long says which pages are unread', async () => {
    const page = await scannedPage('Ahoy')
    let asked = 0
    // Enough for the text of four pages, and then for none of the pictures.
    const timeLeft = () => (++asked > 4 ? 0 : 1_000)

    expect(await read(pdfOf([{ lines: ['Cover'] }, page, page, page]), { timeLeft })).toEqual({
      sections: [1, 2, 3, 4].map((number) => ({ label: `page ${number}`, text: number === 1 ? 'Cover' : '' })),
      notes: [],
      unread: ['page 2', 'page 3', 'page 4'],
    })
  })

  test('that is too long is read up to the limit', async () => {
    const pdf = pdfOf(Array.from({ length: 9 }, (_, at) => ({ lines: [`Page ${at + 1} has twenty four letters`] })))

    expect(await read(pdf, { characters: 70 })).toEqual({
      sections: [
        { label: 'page 1', text: 'Page 1 has twenty four letters' },
        { label: 'page 2', text: 'Page 2 has twenty four letters' },
      ],
      notes: ['The PDF has 9 pages; only the first 2 can be read.'],
    })
  })

  test('is read without its scans on request, and an empty page is not a scan', async () => {
    const scanned = await scannedPage('Ahoy')
    const some = { scans: false }

    expect(await read(pdfOf([{ lines: ['Cover'] }, scanned, {}]), some)).toMatchObject({ unread: ['page 2', 'page 3'] })
    expect(await read(pdfOf([{ lines: ['Letter'] }, {}]), some)).toEqual({
      sections: [
        { label: 'page 1', text: 'Letter' },
        { label: 'page 2', text: '' },
      ],
      notes: [],
    })
  })

  test.each([
    ['a mark', '\xef\xbb\xbf'],
    ['blank lines', '\r\n\r\n'],
    ['what a printer is told', '\x1b%-12345X@PJL JOB\r\n@PJL ENTER LANGUAGE=PDF\r\n'],
  ])('with %s before it is read', async (_what, before) => {
    const pdf = Buffer.concat([
      Buffer.from(before, 'latin1'),
      pdfOf([{ lines: ['Ahoy'] }]),
      Buffer.from('\x1b%-12345X'),
    ])

    expect((await read(pdf)).sections).toEqual([{ label: 'page 1', text: 'Ahoy' }])
  })

  test('gives only the requested pages', async () => {
    const pdf = pdfOf(['one', 'two', 'three'].map((word) => ({ lines: [word] })))

    expect(await read(pdf, { pages: [3, 1, 9] })).toEqual({
      sections: [
        { label: 'page 3', text: 'three' },
        { label: 'page 1', text: 'one' },
      ],
      notes: [],
    })
  })

  test('that exceeds its time says which pages are unread', async () => {
    let asked = 0
    const timeLeft = () => (++asked > 2 ? 0 : 1_000)
    const pdf = pdfOf(['one', 'two', 'three', 'four'].map((word) => ({ lines: [word] })))

    expect(await read(pdf, { timeLeft })).toEqual({
      sections: ['one', 'two', '', ''].map((text, at) => ({ label: `page ${at + 1}`, text })),
      notes: [],
      unread: ['page 3', 'page 4'],
    })
  })

  test('without text gets a note that says so', async () => {
    expect(await read(pdfOf([{}]))).toEqual({
      sections: [{ label: 'page 1', text: '' }],
      notes: ['The PDF contains no text.'],
    })
  })
})

const startingWith = (text: string) => expect.stringMatching(new RegExp(`^${text}`))

describe('a hostile PDF', () => {
  test.each(hostilePdfs)('$name is refused with a sentence, or does no harm', async ({ bytes, refusal }) => {
    const reading = read(bytes())

    if (refusal === null)
      expect((await reading).sections).toEqual([{ label: 'page 1', text: expect.stringMatching(/./) }])
    else await expect(reading).rejects.toMatchObject({ code: 'file_unreadable', message: startingWith(refusal) })
  })

  test('that is empty is refused', async () => {
    await expect(read(Buffer.alloc(0))).rejects.toMatchObject({ code: 'file_unreadable' })
  })

  test('with a page as large as a city is not drawn at that size', async () => {
    expect((await read(pdfOf([{ size: [1_000_000, 1_000_000] }]))).notes).toEqual(['The PDF contains no text.'])
  })

  test('that declares too many pages gives the pages it has', async () => {
    const text = pdfOf([{ lines: ['Only one'] }])
      .toString('latin1')
      .replace('/Count 1 ', '/Count 9e9')
    const { sections } = await read(Buffer.from(text, 'latin1')).catch((error) => ({ sections: error.code }))

    expect([[{ label: 'page 1', text: 'Only one' }], 'file_unreadable']).toContainEqual(sections)
  })
})
