import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLinearPattern } from './linear-pattern.ts'

const free = () => {}
const found = (source: string, text: string) => createLinearPattern(source)?.foundIn(text, free)

describe('a pattern of a schema', () => {
  test.each([
    '^[a-z0-9]+(?:-[a-z0-9]+)*$',
    '^\\d{4}-\\d{2}-\\d{2}$',
    '^(a|b)*c?$',
    'b',
    '^$',
    '',
    '^.$',
    'a{2}',
    'a{2,}b',
    '^a{0,2}$',
    '^(?<year>\\d+)$',
    '\\bfoo\\b',
    'o\\B',
    '^[^/\\]]+$',
    '^[\\w-.]+$',
    '^\\p{Lu}',
    '^\\u0041\\x42\\u{43}$',
    '(a*)*b',
    '((a?)?)+$',
    'a|^b|c$',
    '^(?!\\s*$).+',
    '^(?=.*\\d)(?=.*[a-z]).{3,}$',
    '^https?://[^\\s]+$',
    'a+?b',
    '[a-c]{1,3}?$',
    '\\/x\\.y',
    '^😀+$',
    '^[😀a]$',
  ])('%j says what the built-in engine says', (source) => {
    const flags = (() => {
      try {
        return new RegExp(source, 'u').flags
      } catch {
        return ''
      }
    })()
    const builtIn = new RegExp(source, flags)
    const pieces = [
      '',
      'a',
      'b',
      'c',
      'aab',
      'x-y',
      '2026-01-31',
      'foo',
      'a foo b',
      ' ',
      '/',
      ']',
      '-.',
      'ABC',
      '😀',
      '1',
      'ab1',
      '/x.y',
      'http://x',
      '\n',
    ]
    for (const one of pieces) {
      for (const other of pieces) {
        expect([one + other, found(source, one + other)]).toEqual([one + other, builtIn.test(one + other)])
      }
    }
  })

  test('says what the built-in engine says, for patterns that nobody thought of', () => {
    const piece = fc.constantFrom('a', 'b', '[ab]', '.', '^', '$', '\\b', '(a|b)', '(?:ab|)', '(a*b)')
    const times = fc.constantFrom('', '', '*', '+', '?', '{2}', '{0,2}', '{1,}')
    const pattern = fc
      .array(fc.tuple(piece, times), { maxLength: 5 })
      .map((parts) => parts.map(([one, many]) => (/^[\^$]|\\b/.test(one) ? one : one + many)).join(''))
    fc.assert(
      fc.property(pattern, fc.stringMatching(/^[ab ]{0,8}$/), (source, text) => {
        expect(found(source, text)).toBe(new RegExp(source, 'u').test(text))
      }),
      { numRuns: 2_000 },
    )
  })

  test('takes work in proportion to the text where the built-in engine would take minutes', () => {
    for (const source of ['^(a+)+$', '^(a|a)*$', '(a*)*b', '^(a|aa)+$', 'a*a*a*a*b']) {
      let work = 0
      expect(
        createLinearPattern(source)?.foundIn(`${'a'.repeat(1_000)}!`, (more) => {
          work += more
        }),
      ).toBe(false)
      expect(work).toBeLessThan(40_000)
    }
  })

  test.each([
    '(?<=a)b',
    'a(?=b)',
    '(a)\\1',
    '(?<x>a)\\k<x>',
    'a{3000}b{3000}',
    '^(?!a)b|c',
    '((a{99}){99}){99}',
    '(((){999}){999}){999}',
  ])('%j cannot be followed, and says so', (source) => {
    expect(createLinearPattern(source)).toBeNull()
  })

  test.each(['(', '[', 'a**', '(?P<x>a)'])('%j is no regular expression', (source) => {
    expect(() => createLinearPattern(source)).toThrow(SyntaxError)
  })

  test('stops when it may not go on', () => {
    expect(() =>
      createLinearPattern('b')?.foundIn('a'.repeat(100), () => {
        throw new Error('enough')
      }),
    ).toThrow('enough')
  })
})
