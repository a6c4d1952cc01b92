import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import { createSchemaBudget } from './budget.ts'
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
  ])('%j agrees with the built-in engine', (source) => {
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

  test('agrees with the built-in engine for random patterns', () => {
    const piece = fc.constantFrom('a', 'b', '[ab]', '.', '^', '$', '\\b', '(a|b)', '(?:ab|)', '(a*b)')
    const times = fc.constantFrom('', '', '*', '+', '?', '{2}', '{0,2}', '{1,}')
    const pattern = fc
      .array(fc.tuple(piece, times), { maxLength: 5 })
      .map((parts) => parts.map(([one, many]) => (/^[\^$]|\\b/.test(one) ? one : one + many)).join(''))
    fc.assert(
      fc.property(pattern, fc.stringMatching(/^[ab ]{0,8}$/), (source, text) => {
        expect(found(source, text)).toBe(new RegExp(source, 'u').test(text))
      }),
      { numRuns: runs(2_000) },
    )
  })

  const astral = ['😀', '\ud83d', '\ude00', '😁', 'u', '\ud83da', '{1F600}', '\ud83d\ud83d\ude00']
  test.each([
    '^\\ud83d\\ude00$',
    '^[\\ud83d\\ude00]$',
    '^\\u{1F600}$',
    '^[\\u{1F600}-\\u{1F64F}]$',
    '^[\\ud83d\\ude00-\\ud83d\\ude4f]$',
    '\\ud83d',
    '^\\ude00',
    '[\\ud83d]',
    '^.$',
    '^[^a]$',
    '^\\ud83d\\u0061$',
    '^\\ud83d\\ud83d\\ude00$',
    '^\\u{d83d}\\u{de00}$',
    // Not Unicode-aware, because of the escaped letter: pairs are two characters, to both engines.
    '^\\ud83d\\ude00\\-?$',
    '\\-|^..$',
    '^[\\ud83d\\ude00\\y]$',
    '\\y|\\u{2}|^\\p{1}$',
  ])('%j takes characters outside of the basic plane as the built-in engine does', (source) => {
    const flags = (() => {
      try {
        return new RegExp(source, 'u').flags
      } catch {
        return ''
      }
    })()
    for (const text of astral) expect([text, found(source, text)]).toEqual([text, new RegExp(source, flags).test(text)])
  })

  test('agrees with the built-in engine about every kind of character', () => {
    const unit = fc.constantFrom(
      ...['a', 'z', '-', '\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '\\x41', '\\u00e4', '\\cJ', '\\t', '\\n', '\\0'],
      ...[
        '\\u{1F600}',
        '\\ud83d\\ude00',
        '\\ud83d',
        '\\ude00',
        '\\p{L}',
        '\\P{Lu}',
        '\\/',
        '\\]',
        '\\\\',
        '\\^',
        '\\-',
        '\\b',
      ],
      ...['.', '😀', 'ä', ' ', '^', '\\y', '\\1', '\\01', '\\c', '\\x4', '\\u12', '\\k', '\\_', '0', 'C', '{', '}'],
    )
    // Without \B: V8 finds it in the middle of a surrogate pair, where the standard does not look.
    const one = fc.oneof(
      unit,
      fc
        .tuple(fc.constantFrom('[', '[^'), fc.array(unit, { maxLength: 4 }))
        .map(([open, units]) => `${open}${units.join('')}]`),
      fc.tuple(unit, unit).map(([from, to]) => `[${from}-${to}]`),
      fc.constantFrom('(?:', '(', ')', '|', '*', '+?', '{2}', '{0,1}', '^', '$', '\\b'),
    )
    const text = fc.array(
      fc.constantFrom(
        'a',
        'A',
        'z',
        '0',
        '_',
        '-',
        ' ',
        '\n',
        '\0',
        '\x01',
        '\t',
        '\b',
        'ä',
        '😀',
        '\ud83d',
        '\ude00',
        '\u2028',
        '\u00a0',
        '\ufeff',
        'y',
        'c',
        '\\',
        '^',
        ']',
        '{',
      ),
      { maxLength: 5 },
    )
    let followed = 0
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 5 }), text, (parts, chars) => {
        const source = parts.join('')
        const builtIn = (() => {
          for (const flags of ['u', '']) {
            try {
              return new RegExp(source, flags)
            } catch {}
          }
          return null
        })()
        if (builtIn === null) {
          expect(() => createLinearPattern(source)).toThrow(SyntaxError)
          return
        }
        const verdict = found(source, chars.join(''))
        if (verdict === undefined) return
        followed += 1
        expect([source, chars.join(''), verdict]).toEqual([source, chars.join(''), builtIn.test(chars.join(''))])
      }),
      { numRuns: runs(5_000) },
    )
    expect(followed).toBeGreaterThan(runs(1_000))
  })

  test('takes work in proportion to the text when the built-in engine would take minutes', () => {
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
    `${'('.repeat(90)}a${'){99999999}'.repeat(90)}`,
    `a{${'9'.repeat(400)}}`,
    `(?=${'a'.repeat(1_000)})`,
  ])('%j cannot be followed, and says so', (source) => {
    expect(createLinearPattern(source)).toBeNull()
  })

  test('is counted before it is built, so that many large ones end with the budget', () => {
    const budget = createSchemaBudget()
    const made = Array.from({ length: 500 }, (_, i) => createLinearPattern(`(?:a{60}){60}${i}`, budget))
    const followed = made.filter((one) => one !== null)
    expect(followed.length).toBeGreaterThan(10)
    expect(followed.length).toBeLessThan(50)
    // What is small still has room.
    expect(createLinearPattern('^a$', budget)?.foundIn('a', free)).toBe(true)
  })

  test('is not given to the built-in engine when reading it would take too long', () => {
    const properties = (count: number) => `[${'\\p{L}'.repeat(count)}]`
    const budget = createSchemaBudget()
    expect(createLinearPattern(properties(100), budget)?.foundIn('é', free)).toBe(true)
    // The engine would refuse it if it saw it.
    expect(createLinearPattern(`${properties(100)}(`, budget)).toBeNull()
    expect(createLinearPattern(properties(2), budget)?.foundIn('é', free)).toBe(true)
  })

  test('is not read when there have been too many', () => {
    const budget = createSchemaBudget()
    const made = Array.from({ length: 1_001 }, () => createLinearPattern('a', budget))
    expect(made.slice(0, 1_000)).not.toContain(null)
    expect(made.at(-1)).toBeNull()
  })

  test('is built when it is first needed, and that counts as work', () => {
    let work = 0
    const spend = (more: number) => {
      work += more
    }
    const pattern = createLinearPattern('^(?:a{60}){60}$')
    expect(pattern?.foundIn('b', spend)).toBe(false)
    expect(work).toBeGreaterThan(3_600)
  })

  test.each(['(', '[', 'a**', '(?P<x>a)', '^a\\Z', '\\Aa\\z', '^[[:alpha:]_]+$'])(
    '%j is not a regular expression of JavaScript',
    (source) => {
      expect(() => createLinearPattern(source)).toThrow(SyntaxError)
    },
  )

  test('stops when it may not spend more', () => {
    expect(() =>
      createLinearPattern('b')?.foundIn('a'.repeat(100), () => {
        throw new Error('enough')
      }),
    ).toThrow('enough')
  })
})
