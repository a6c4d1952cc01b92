import { describe, expect, test } from 'vitest'
import * as server from '../../../domain/visible-text.ts'
import { shownArguments, visibleJson, visibleText } from './visible.js'

describe('the call that the page shows', () => {
  test('makes every unusual character visible, as the server does', () => {
    // All characters that are not letters, and some letters.
    const isOdd =
      /[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\u{1d159}\u{13441}\u{13442}\u{16fe4}]/u
    const codes = [0, 1, 14].flatMap((plane) => Array.from({ length: 0x10000 }, (_, i) => plane * 0x10000 + i))
    const chars = codes.map((code) => String.fromCodePoint(code)).filter((char, i) => i % 61 === 0 || isOdd.test(char))
    expect(chars.length).toBeGreaterThan(8_000)

    const differ = chars.filter(
      (char) => visibleText(char) !== server.visibleText(char) || visibleJson(char) !== server.visibleJson(char),
    )

    expect(differ).toEqual([])
  })

  test.each([
    `${' '.repeat(39)}x${' '.repeat(57)}`,
    `a${'\u0301'.repeat(9)}`,
    '👩‍💻 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 a\ufe0f 1️⃣',
    'C:\\new\\table\t\r\n',
    '\ud800 \udfff',
    'compute(3\u202e00',
  ])('the same for %j', (text) => {
    expect(visibleText(text)).toBe(server.visibleText(text))
    expect(visibleJson(text)).toBe(server.visibleJson(text))
  })

  test('is complete, line by line, and never ambiguous', () => {
    const long = 'x'.repeat(10_000)
    const args = {
      text: 'one\ntwo\\n',
      n: 1,
      s: '1',
      list: ['a\n', '\u200b'],
      end: 'a\n"b ',
      empty: '',
      long,
      'a\u202eb': null,
    }

    expect(shownArguments(args)).toEqual([
      ['text', 'one\\n\ntwo\\\\n'],
      ['n', '1'],
      ['s', '"1"'],
      ['list', '["a\\n","\\u200b"]'],
      ['end', '"a\\n\n\\"b "'],
      ['empty', '""'],
      ['long', long],
      ['a<U+202E>b', 'null'],
    ])
  })
})
