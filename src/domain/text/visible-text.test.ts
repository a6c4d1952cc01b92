import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import { hidesCharacters, visibleCode, visibleJson, visibleProse, visibleText } from './visible-text.ts'

/** Each stands between two letters: code point, and whether it raises the risk of a call. */
const probes: [code: number, name: string, raises: boolean][] = [
  [0xe0100, 'variation selector 17', true],
  [0x3164, 'Hangul filler', true],
  [0x2800, 'Braille blank', true],
  [0x1d159, 'null notehead', true],
  [0x13441, 'full blank of hieroglyphs', true],
  [0x13442, 'half blank of hieroglyphs', true],
  [0x16fe4, 'Khitan filler', true],
  [0xffff, 'no character', true],
  [0x00a0, 'no-break space', false],
  [0x200b, 'zero width space', true],
  [0x200c, 'zero width non-joiner', true],
  [0x200d, 'zero width joiner', true],
  [0x200e, 'left-to-right mark', true],
  [0x200f, 'right-to-left mark', true],
  [0x202a, 'left-to-right embedding', true],
  [0x202e, 'right-to-left override', true],
  [0x2060, 'word joiner', true],
  [0x2063, 'invisible separator', true],
  [0x2066, 'left-to-right isolate', true],
  [0x2069, 'pop directional isolate', true],
  [0xfeff, 'byte order mark', true],
  [0x00ad, 'soft hyphen', true],
  [0x180e, 'Mongolian vowel separator', true],
  [0x180b, 'Mongolian variation selector', true],
  [0x115f, 'Hangul choseong filler', true],
  [0x1160, 'Hangul jungseong filler', true],
  [0xffa0, 'halfwidth Hangul filler', true],
  [0x034f, 'combining grapheme joiner', true],
  [0x061c, 'Arabic letter mark', true],
  [0x17b4, 'Khmer inherent vowel', true],
  [0xe0041, 'tag A', true],
  [0xe0001, 'language tag', true],
  [0x1d173, 'musical begin beam', true],
  [0xfff9, 'annotation anchor', true],
  [0x2028, 'line separator', true],
  [0x2029, 'paragraph separator', true],
  [0x3000, 'ideographic space', false],
  [0x2003, 'em space', false],
  [0x202f, 'narrow no-break space', false],
  [0x1680, 'Ogham space', false],
  [0x0085, 'next line', true],
  [0x0000, 'null', true],
  [0x001b, 'escape', true],
  [0x007f, 'delete', true],
  [0x009b, 'control sequence introducer', true],
  [0xd800, 'half of a character', true],
  [0xfe00, 'variation selector 1', true],
  [0xfe0f, 'emoji selector', false],
  [0xfe0e, 'text selector', false],
  [0x000d, 'carriage return', false],
  [0xe000, 'private use', false],
  [0x100000, 'private use of the last plane', false],
]

/** Ranges of which every character is marked, in every kind of text. */
const ranges: [name: string, first: number, last: number][] = [
  ['controls before the line breaks', 0x00, 0x08],
  ['other controls', 0x0e, 0x1f],
  ['delete and the second set of controls', 0x7f, 0x9f],
  ['zero width characters and marks of direction', 0x200b, 0x200f],
  ['line and paragraph separator', 0x2028, 0x2029],
  ['embeddings and overrides of direction', 0x202a, 0x202e],
  ['invisible operators', 0x2060, 0x2064],
  ['isolates of direction and deprecated formats', 0x2066, 0x206f],
  ['Hangul fillers', 0x115f, 0x1160],
  ['Mongolian selectors and vowel separator', 0x180b, 0x180f],
  ['variation selectors', 0xfe00, 0xfe0f],
  ['interlinear annotations', 0xfff9, 0xfffb],
  ['private use', 0xe000, 0xf8ff],
  ['tags', 0xe0000, 0xe007f],
  ['more variation selectors', 0xe0100, 0xe01ef],
]

test.each(ranges)('%s are marked in text, code and prose', (_, first, last) => {
  const codes = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  const marks = codes.map((code) => `a<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`)
  const text = codes.map((code) => `a${String.fromCodePoint(code)}`)

  expect(text.map(visibleText)).toEqual(marks)
  expect(visibleCode(text)).toEqual(marks)
  expect(text.map(visibleProse)).toEqual(marks)
})

test('piles of marks are cut before they cover other lines', () => {
  expect(visibleText(`Z${'\u0301'.repeat(8)}`)).toBe(`Z${'\u0301'.repeat(6)}<U+0301><U+0301>`)
  for (const word of ['Việt Nam'.normalize('NFD'), 'נִקּוּד', 'བསྒྲུབས', 'ที่นี่']) expect(visibleText(word)).toBe(word)
})

describe.each(probes)('U+%s', (code, name, raises) => {
  const char = String.fromCodePoint(code)
  const text = `a${char}b`
  const marked = `a<U+${code.toString(16).toUpperCase().padStart(4, '0')}>b`

  test(`${name} is visible in text, in JSON and in its names`, () => {
    expect(visibleText(text)).toBe(marked)
    const json = visibleJson(JSON.stringify({ [text]: [text] }))
    expect(json).toMatch(/^[!-~]+$/)
    expect(JSON.parse(json)).toEqual({ [text]: [text] })
  })

  test(`${name} is visible in code`, () => {
    expect(visibleCode([text])).toEqual([marked])
  })

  test(`${name} raises the risk: ${raises}`, () => {
    expect(hidesCharacters({ list: [{ text }] })).toBe(raises)
    expect(hidesCharacters({ [text]: 1 })).toBe(raises)
  })
})

describe('visible text', () => {
  test('keeps letters of every script, marks on letters, and emoji with their joiners', () => {
    const text = 'Grüße, שלום, 日本, नमस्ते, e\u0301 👩‍💻 ❤️ 👍🏽 1️⃣ 🇩🇪 🏴󠁧󠁢󠁥󠁮󠁧󠁿'
    expect([visibleText(text), visibleJson(text), visibleProse(text), hidesCharacters(text)]).toEqual([
      text,
      text,
      text,
      false,
    ])
  })

  test('an emoji does not hide a mark that is not its own', () => {
    expect(visibleText('👩\u200dx 💻\u{e0067}')).toBe('👩<U+200D>x 💻<U+E0067>')
    expect(hidesCharacters('👩‍💻\u200d')).toBe(true)
  })

  test('counts a long row of spaces and leaves a shorter one alone', () => {
    expect(visibleText(`a${' '.repeat(39)}b`)).toBe(`a${' '.repeat(39)}b`)
    expect(visibleText(`a${' '.repeat(40)}b`)).toBe('a<U+0020×40>b')
    expect(JSON.parse(visibleJson(`"a${' '.repeat(40)}b"`))).toBe(`a${' '.repeat(40)}b`)
    expect(visibleJson(`"a${' '.repeat(40)}b"`)).not.toContain(' ')
    expect(hidesCharacters(' '.repeat(100))).toBe(false)
  })

  test('escapes line breaks and tabs, but not the same letters written out', () => {
    expect(visibleText('a\nb\tc')).toBe('a\\nb\\tc')
    expect(visibleText('a\\nb<U+202E>')).toBe('a\\\\nb<U+003C>U+202E>')
  })

  test('two different texts never look the same', () => {
    const unit = fc.constantFrom(
      'a',
      'n',
      't',
      '<',
      'U',
      '+',
      '>',
      '2',
      '0',
      '×',
      '\\',
      '\n',
      '\t',
      '\u202e',
      ' '.repeat(40),
    )
    fc.assert(
      fc.property(fc.string({ unit }), fc.string({ unit }), (one, other) => {
        expect(visibleText(one) === visibleText(other)).toBe(one === other)
      }),
      { numRuns: runs(2_000) },
    )
  })

  test('JSON keeps its value, whatever it contains', () => {
    fc.assert(
      fc.property(fc.json(), fc.string({ unit: 'binary' }), (json, text) => {
        expect(JSON.parse(visibleJson(json))).toEqual(JSON.parse(json))
        expect(JSON.parse(visibleJson(JSON.stringify(text)))).toBe(text)
      }),
    )
  })

  test('prose keeps its lines, its spaces and the joiners of its language', () => {
    const text = 'Bonjour\u00a0!\n\tمی\u200cخواهم'
    expect(visibleProse(text)).toBe(text)
    expect(visibleProse('a\r\nb\u202ec\u3164d\x1b[2J')).toBe('a\nb<U+202E>c<U+3164>d<U+001B>[2J')
  })

  test('prose marks joiners and selectors that join nothing', () => {
    const needed = 'می\u200cخواهم क्\u200dष ☎\ufe0e 👩‍💻'
    expect(visibleProse(needed)).toBe(needed)
    expect(visibleProse('rm\u200d a\ufe0fb م\u200c\u200c')).toBe('rm<U+200D> a<U+FE0F>b م\u200c<U+200C>')
  })

  test('prose that has been shown stays the same when it is shown again', () => {
    const shown = visibleProse('a\u202eb <U+202E>')
    expect([shown, visibleProse(shown)]).toEqual(['a<U+202E>b <U+202E>', 'a<U+202E>b <U+202E>'])
  })

  test('the longest text that a model can write is checked quickly', () => {
    expect(hidesCharacters({ text: '日本'.repeat(500_000) })).toBe(false)
    expect(hidesCharacters({ text: '👩‍💻'.repeat(500_000) })).toBe(true)
    expect(hidesCharacters({ texts: Array.from({ length: 20 }, () => `👩‍💻${'1'.repeat(10_000)}`) })).toBe(true)
  })
})

describe('visible code', () => {
  test('looks like the code that it is', () => {
    const lines = ["\tif (a < b) return 'C:\\\\n' // Grüße, 日本", '👩‍💻 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿', '']
    expect(visibleCode(lines)).toEqual(lines)
  })

  test('counts long rows of spaces, and marks text that looks like a mark', () => {
    expect(visibleCode([`a${' '.repeat(10_000)}b`, '<U+202E>', '< U+'])).toEqual([
      'a<U+0020×10000>b',
      '<U+003C>U+202E>',
      '< U+',
    ])
  })

  test('two different texts never look the same', () => {
    const unit = fc.constantFrom(
      '<',
      'U',
      '+',
      '2',
      '0',
      '×',
      '>',
      'E',
      '\t',
      '\r',
      '\u202e',
      '\u{e0041}',
      ' '.repeat(40),
    )
    fc.assert(
      fc.property(fc.string({ unit }), fc.string({ unit }), (one, other) => {
        expect(visibleCode([one])[0] === visibleCode([other])[0]).toBe(one === other)
      }),
    )
  })

  test('megabytes of emoji take a moment, and hide nothing', () => {
    const shown = visibleCode(Array.from({ length: 200_000 }, () => '👩‍💻'))
    expect([shown[0], shown.at(-1)]).toEqual(['👩‍💻', '👩<U+200D>💻'])
  })
})
