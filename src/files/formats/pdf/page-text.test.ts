import { expect, test } from 'vitest'
import { openPdf } from './open-pdf.ts'
import { composeAccents, pageText } from './page-text.ts'
import { pdfOfObjects, pdfStream } from './testing/pdf.ts'

async function textOf(content: string): Promise<string> {
  const pdf = await openPdf(
    pdfOfObjects([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
      pdfStream('', Buffer.from(`BT /F1 10 Tf 60 700 Td ${content} ET`, 'latin1')),
      '<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding << /Type /Encoding /BaseEncoding /WinAnsiEncoding /Differences [1 /dieresis /acute /grave /circumflex /tilde /caron /cedilla /ring /dotlessi] >> >>',
    ]),
  )
  try {
    return await pageText(await pdf.getPage(1))
  } finally {
    await pdf.loadingTask.destroy()
  }
}

test('accents that TeX draws over letters are joined with them', async () => {
  // In Courier each letter is 600 wide, so 600 moves back by a whole letter.
  const words = [
    String.raw`[(f\001)600(ur)] TJ 0 -20 Td`,
    String.raw`[(caf\002)600(e,)-600(tr\003)600(es)-600(b\004)600(ete)] TJ 0 -20 Td`,
    String.raw`[(ma\005)600(nana)-600(\006)600(Cesk\002)600(y)] TJ 0 -20 Td`,
    String.raw`[(gar)(c)600(\007on)-600(na\001)600(\011ve)] TJ 0 -20 Td`,
    // Over a capital the accent is raised.
    String.raw`1.5 Ts (\010) Tj 0 Ts [600 (Angstr\001)600(om)] TJ`,
  ]

  expect(await textOf(words.join('\n'))).toBe('für\ncafé, très bête\nmañana Český\ngarçon naïve\nÅngström')
})

test('accents beside letters stay as they are', async () => {
  const text = 'geht\\264s d\\264accord \\250u x^o ~user `e` 20 \\260C'

  expect(await textOf(`(${text}) Tj`)).toBe('geht´s d´accord ¨u x^o ~user `e` 20 °C')
})

test('an accent that fits no letter stays as it is', () => {
  const placed = (str: string, x: number) => ({ str, x, y: 0, width: 6 * str.length, height: 10 })

  expect(composeAccents([placed('ˆ', 0), placed('x + 1', 1)])).toEqual([placed('ˆ', 0), placed('x + 1', 1)])
  // A line that is drawn over another one.
  expect(composeAccents([placed('abc¨', 0), placed('u', 0)])).toHaveLength(2)
})
