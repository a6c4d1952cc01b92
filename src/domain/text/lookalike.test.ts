import { describe, expect, test } from 'vitest'
import { lookalikeWarnings } from './lookalike.ts'

const warningOf = (word: string): string => `Look closely: "${word}" has letters that look like others.`

describe('a warning of letters that look like others', () => {
  test.each([
    ['a Cyrillic letter in a host', 'https://p\u0430ypal.com/login', 'https://p<U+0430>ypal.com/login'],
    [
      'a whole name of them in a host',
      '\u0440\u0430\u0443\u0440\u0430.com',
      '<U+0440><U+0430><U+0443><U+0440><U+0430>.com',
    ],
    ['a part of a path', 'src/\u0430pp.ts', 'src/<U+0430>pp.ts'],
    ['a Greek letter in a host', 'g\u03bfogle.com', 'g<U+03BF>ogle.com'],
    ['an Armenian letter', 'h\u0578st.org', 'h<U+0578>st.org'],
    ['a Cherokee letter', '\u13c0ithub.com', '<U+13C0>ithub.com'],
    ['a word of a command', 's\u0443do', 's<U+0443>do'],
    ['letters of full width', 'ex\uff41mple.com', 'ex<U+FF41>mple.com'],
    ['letters of mathematics', '/home/\u{1d41a}nn', '/home/<U+1D41A>nn'],
    ['a sign like a slash', 'example.com\u2215evil.com', 'example.com\u2215evil.com'],
    ['a sign like a dot', 'www.bank\u2024com', 'www.bank<U+2024>com'],
    ['an address', 'b\u043eb@example.com', 'b<U+043E>b@example.com'],
  ])('comes for %s', (_, text, marked) => {
    expect(lookalikeWarnings({ list: [{ text: `open ${text}, then go` }] })).toEqual([warningOf(marked)])
    expect(lookalikeWarnings({ [text]: 1 })).toEqual([warningOf(marked)])
  })

  test.each([
    'Привет, как дела? Он/она пишет т.е. сейчас.',
    'https://пример.рф/путь/к/файлу',
    '東京/大阪のデータを https://example.jp/検索 から取得。１０／２０',
    'Ελληνικά και α/β',
    'μm, Δt and σx in 10 m²/s, x²/2, ½ cup, 1º/2º, see …/foo, ™',
    'Grüße aus Łódź, café.txt, /home/josé/über.md',
    'IT-отдел пишет в PDF-файл',
    'naïve@exämple.de',
    'שלום.com/a عربي/b',
    '👩‍💻/❤️.png',
  ])('does not come for %s', (text) => {
    expect(lookalikeWarnings({ text })).toEqual([])
  })

  test('comes once for each word, and counts the rest', () => {
    const words = Array.from({ length: 8 }, (_, i) => `p\u0430th${i}/x`)
    const warnings = lookalikeWarnings([words.join(' '), words.join(' ')])
    expect(warnings).toHaveLength(6)
    expect(warnings.at(-1)).toBe('So have 3 more.')
    expect(lookalikeWarnings(`p\u0430${'x'.repeat(1_000)}`)[0]).toMatch(/… \(\d+ more characters\)" has letters/)
  })

  test('takes a moment for megabytes of any text', () => {
    expect(lookalikeWarnings('слово и дело '.repeat(200_000))).toEqual([])
    expect(lookalikeWarnings('p\u0430y '.repeat(200_000))).toHaveLength(1)
    expect(lookalikeWarnings(Array.from({ length: 100_000 }, (_, i) => `p\u0430y${i}`)).at(-1)).toBe(
      'So have 995 more, or even more.',
    )
  })
})
