import { describe, expect, test } from 'vitest'
import { encodeText } from './testing/encode-text.ts'
import { heldOutTexts } from './testing/held-out-texts.ts'
import { type LanguageTexts, tunedTexts } from './testing/tuned-texts.ts'
import { textEncodingOf } from './text-encoding.ts'

/** Null: the encoding was not clear. */
function read(bytes: Uint8Array): string | null {
  const encoding = textEncodingOf(bytes)
  return encoding === null ? null : new TextDecoder(encoding).decode(bytes)
}

function judged(languages: LanguageTexts[]) {
  const wrong: string[] = []
  let right = 0
  let refused = 0
  for (const { language, encodings, texts } of languages) {
    for (const encoding of encodings) {
      for (const text of texts) {
        const found = read(encodeText(text, encoding))
        if (found === text) right += 1
        else if (found === null) refused += 1
        else wrong.push(`${language} in ${encoding} was read as ${found}`)
      }
    }
  }
  return { right, refused, wrong }
}

describe('old encodings', () => {
  test('no text is read wrongly, and few are refused', () => {
    expect(judged(tunedTexts)).toEqual({ right: 283, refused: 22, wrong: [] })
  })

  test('no text that the judge was not tuned on is read wrongly, and few are refused', () => {
    expect(judged(heldOutTexts)).toEqual({ right: 78, refused: 6, wrong: [] })
  })

  test.each([
    ['Polish', 'windows-1250', 'Proszę państwa, w środę będzie święto Łodzi.'],
    ['Polish of old', 'iso-8859-2', 'proszę państwa, w środę będzie święto łodzi'],
    ['Greek', 'windows-1253', 'Καλημέρα σας, το λιμάνι είναι κλειστό.'],
    ['Hebrew', 'windows-1255', 'שלום לכולם'],
    ['Turkish', 'windows-1254', 'Günaydın, çocuğun ağabeyi bugün İstanbul’a gidiyor mu?'],
    ['Japanese mail', 'iso-2022-jp', '港の事務所は船を記録しています。'],
    ['Mac Roman', 'macintosh', 'Die Hafenbehörde führt über jedes Schiff Buch; Grüße aus Köln.'],
    ['a single accent', 'windows-1252', 'café'],
    ['English quotation marks', 'windows-1252', 'It’s “fine” – really…'],
    ['an apostrophe', 'windows-1252', 'it’s'],
    ['an apostrophe of the Mac', 'macintosh', 'it’s'],
    ['units', 'windows-1252', '50 µg/l ± 2 °C'],
    ['names in kanji', 'shift_jis', '氏名,住所\n山田太郎,東京都港区\n'],
  ])('%s is read from %s', (_what, encoding, text) => {
    expect(read(encodeText(text, encoding))).toBe(text)
  })

  test('a text that is cut in the middle of a character is read', () => {
    const bytes = encodeText('港の事務所は、湾に入るすべての船を記録しています。', 'shift_jis')

    expect(textEncodingOf(bytes.subarray(0, -1))).toBe('shift_jis')
  })
})

describe('an unclear encoding is not guessed', () => {
  test.each([
    ['German of DOS', '477281e16520617573204d816e6368656e'],
    ['a table of DOS', '6e616d653b636974790a4d816c6c65723b4b946c6e0a'],
    ['Spanish of DOS', '456c206e69a46f20636f6d69a2207069a461732c20ad616469a273206d61a4616e6121'],
    ['Polish of the Mac', '5a61fd97b88d2067abe66c88206a6190c42c2070726f737aab207061c473747761'],
    ['Greek of the Mac', 'bae1ece8eddbf2e120f3e1f72c20f4ef20ece9edc0eee920e5ddeee1e920ebece5e9f3f4de2e'],
    ['a Japanese table without kana', 'b2f1bcd2ccbe2cc3b4c5f6bcd40ab3f4bcb0b2f1bcd2c0c4b6f52cc3e6c2bc0a'],
    ['Korean mail', '1b2429430e475738380f200e3b67392b3c5234420f'],
    ['a text of a mainframe', 'c88593939640e6969993846b40a38889a24089a2408140a385a7a3'],
    ['one accent that could be anything', '74616be8'],
  ])('%s', (_what, hex) => {
    expect(read(Buffer.from(hex, 'hex'))).toBe(null)
  })
})

describe('Unicode', () => {
  const everything = [...tunedTexts, ...heldOutTexts].flatMap(({ texts }) => texts)

  test.each(['utf-8', 'utf-16le', 'utf-16be'])('every text in %s with a mark is read', (encoding) => {
    for (const text of everything) expect(read(encodeText(`\uFEFF${text}`, encoding))).toBe(text)
  })

  test('every text in UTF-8 without a mark is read', () => {
    for (const text of everything) expect(read(encodeText(text, 'utf-8'))).toBe(text)
  })

  test('every table in UTF-16 without a mark is read', () => {
    const tables = everything.filter((text) => text.includes('\n'))

    for (const encoding of ['utf-16le', 'utf-16be']) {
      for (const text of tables) expect(read(encodeText(text, encoding))).toBe(text)
    }
  })

  test('a single zero does not make a text UTF-16', () => {
    expect(textEncodingOf(Buffer.from('hello\0 world'))).toBe('utf-8')
    expect(textEncodingOf(Buffer.from('Привет\0, мир'))).toBe('utf-8')
  })

  test('colours of a terminal are no Japanese mail', () => {
    expect(textEncodingOf(Buffer.from('\x1b[31mred\x1b[0m $5'))).toBe('utf-8')
  })
})
