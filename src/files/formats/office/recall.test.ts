import { describe, expect, test } from 'vitest'
import type { Extract } from '../../../domain/session/file.ts'
import { readDocx } from './docx/read-docx.ts'
import { readPptx } from './pptx/read-pptx.ts'
import { sampleReport } from './testing/sample-text.ts'
import { withFile } from './testing/with-file.ts'
import { wordRecall } from './testing/word-recall.ts'
import { writeDocx, writePptx, writeXlsx } from './testing/written-documents.ts'
import { readXlsx } from './xlsx/read-xlsx.ts'

const report = sampleReport(7, 4)
const textOf = ({ sections }: Extract) => sections.map(({ text }) => text).join('\n')

describe('documents of other programs', () => {
  test.each([
    ['docx', writeDocx, readDocx],
    ['pptx', writePptx, readPptx],
    ['xlsx', writeXlsx, readXlsx],
  ])('every word of a %s is found again, in order', async (_, write, read) => {
    const { bytes, text } = await write(report)

    expect(wordRecall(text, textOf(await withFile(bytes, read)))).toBe(1)
  })

  test('slide numbers are not part of the text', async () => {
    const { bytes, text } = await writePptx(report)

    expect(wordRecall(textOf(await withFile(bytes, readPptx)), text)).toBe(1)
  })

  test('headers and footers of a document are left out', async () => {
    const { bytes } = await writeDocx(report)

    expect(textOf(await withFile(bytes, readDocx))).not.toMatch(/Confidential draft header|Page \d/)
  })
})

describe('wordRecall', () => {
  test('counts the words that are there in the same order', () => {
    expect([
      wordRecall('one two three four', '# one **two** x three four'),
      wordRecall('one two three four', 'four three two one'),
      wordRecall('one two three four', ''),
    ]).toEqual([1, 0.25, 0])
  })
})
