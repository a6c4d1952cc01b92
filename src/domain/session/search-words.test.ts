import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { excerptOf, hasTerms, indexedText, parseSearch } from './search-words.ts'

const found = (query: string, text: string): string[] => {
  const { text: shown, marks } = excerptOf(parseSearch(query), text)
  return marks.map(([from, to]) => shown.slice(from, to))
}

describe('words', () => {
  test.each([
    ['Straße, ŁÓDŹ & Ærø', 'strasse lodz aero'],
    ['snake_case x.y/z-1', 'snake case x y z 1'],
    ['ｆｕｌｌ ½ ﬁne', 'full 12 fine'],
    ['東京タワー2号', '東 京 タ ワ ー2 号'],
    ['서울 가', '서 울 가'],
    ['שָׁלוֹם مَرْحَبًا', 'שלום مرحبا'],
    ['Ὀδυσσεύς', 'οδυσσευσ'],
    ['\u200B "quoted" (x)', 'quoted x'],
    ['', ''],
  ])('of %j', (text, words) => {
    expect(indexedText(text)).toBe(words)
  })

  test('are cut when they are long, so an encoded file does not fill the index', () => {
    expect(indexedText('a'.repeat(100_000))).toBe('a'.repeat(64))
    expect(indexedText(`é ${'A1'.repeat(100)}`)).toBe(`e ${'a1'.repeat(32)}`)
  })

  test('are the same in the index and in a query, whatever the text is', () => {
    const pieces = [
      'Ab',
      'x'.repeat(70),
      '9',
      '_',
      ' ',
      '\u0000',
      '~',
      'é',
      'e\u0301',
      'İ',
      'K',
      '½',
      '東',
      '가',
      '\ud800',
      '😀',
    ]
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 20 }).map((all) => all.join(''))
    fc.assert(
      fc.property(text, (any) => {
        const asked = parseSearch(`"${any}"`).flatMap(({ words }) => words)
        expect(
          indexedText(any)
            .split(' ')
            .filter((word) => word !== ''),
        ).toEqual(asked)
      }),
    )
  })
})

describe('a query', () => {
  test.each([
    [
      'one two',
      [
        { words: ['one'], isPrefix: false },
        { words: ['two'], isPrefix: true },
      ],
    ],
    [
      'one two ',
      [
        { words: ['one'], isPrefix: false },
        { words: ['two'], isPrefix: false },
      ],
    ],
    [
      '"one two" thr* x',
      [
        { words: ['one', 'two'], isPrefix: false },
        { words: ['thr'], isPrefix: true },
        { words: ['x'], isPrefix: false },
      ],
    ],
    ['src/app.ts', [{ words: ['src', 'app', 'ts'], isPrefix: false }]],
    ['"open', [{ words: ['open'], isPrefix: false }]],
    ['" * ( ^ "', []],
  ])('of %j', (text, terms) => {
    expect(parseSearch(text)).toEqual(terms)
  })

  test('needs all of its terms', () => {
    expect(hasTerms(parseSearch('a "b c" '), 'c b c a')).toBe(true)
    expect(hasTerms(parseSearch('a "b c" '), 'c b a c')).toBe(false)
    expect(hasTerms(parseSearch('qua'), 'the Quarter')).toBe(true)
  })
})

describe('an excerpt', () => {
  test('marks what was found, also where characters are made visible', () => {
    expect(found('needle thread', 'A \u202Eneedle\u0000 and\u200B thread, needle')).toEqual([
      'needle',
      'thread',
      'needle',
    ])
    expect(excerptOf(parseSearch('b '), 'a\r\n\u202Eb').text).toBe('a\n<U+202E>b')
    expect(found('東京', '明日は東京で')).toEqual(['東京'])
    expect(found('quar', 'Quarterdeck!')).toEqual(['Quarterdeck'])
    expect(found('"a b" b ', 'a b b')).toEqual(['a b', 'b'])
  })

  test('has whole characters, and is short whatever the text is', () => {
    const long = excerptOf(parseSearch('xxx'), `${'😀'.repeat(500)} xxx${'y'.repeat(1_000)} ${'😀'.repeat(500)}`)
    expect(long.text.isWellFormed()).toBe(true)
    expect(long.text.length).toBeLessThan(300)
    expect(long.marks.length).toBe(1)
    expect(excerptOf(parseSearch('nowhere'), 'x'.repeat(1_000)).text.length).toBe(241)
    expect(excerptOf(parseSearch('a'), '')).toEqual({ text: '', marks: [] })
  })
})
