import { describe, expect, test } from 'vitest'
import { looksSecret } from '../../domain/text/secret-name.ts'
import { shownArguments } from './shown-arguments.ts'

describe('arguments as a person reads them', () => {
  test('are one per line: text as it is, and the rest as JSON', () => {
    expect(shownArguments({ to: 'ann', days: 3, list: ['a', { b: null }], none: null })).toBe(
      'to: ann\ndays: 3\nlist: ["a",{"b":null}]\nnone: null',
    )
    expect(shownArguments({})).toBe('without arguments')
  })

  test('show no secrets, at any depth', () => {
    const shown = shownArguments({
      password: 'p1',
      headers: { Authorization: 'Bearer p2', Accept: '*' },
      apiKey: 'p3',
      list: [{ access_token: 'p4' }],
    })
    expect(shown).toBe(
      'password: [masked]\nheaders: {"Authorization":"[masked]","Accept":"*"}\napiKey: [masked]\nlist: [{"access_token":"[masked]"}]',
    )
  })

  test('come after a warning of letters that look like others, which never quotes a secret', () => {
    expect(shownArguments({ host: 'p\u0430y.com', token: 'p\u0430y.org' })).toBe(
      'Look closely: "p<U+0430>y.com" has letters that look like others.\nhost: p\u0430y.com\ntoken: [masked]',
    )
  })

  test('cannot pretend to be other arguments, nor reverse the text', () => {
    expect(shownArguments({ text: 'hi\nto: bob\u202e\u0000', 'a\nb': 1 })).toBe(
      'text: hi\\nto: bob<U+202E><U+0000>\na\\nb: 1',
    )
  })

  test('cannot include the value of another one in their name', () => {
    expect(shownArguments({ 'to: ann': 'bob', to: 'ann: bob', '"to': 1 })).toBe(
      '"to: ann": bob\nto: ann: bob\n"\\"to": 1',
    )
  })

  test.each([
    ['long texts', 'y'.repeat(600)],
    ['long lists', ['y'.repeat(600)]],
    ['characters that are not seen', '\u200b'.repeat(600)],
    ['lists of them', ['\u{e0100}'.repeat(600)]],
  ])('cannot push one another out with %s', (_, value) => {
    const junk = Array.from({ length: 20 }, (_, i) => [`x${i}`, value])
    const shown = shownArguments({ ...Object.fromEntries(junk), command: 'rm -rf /' })
    expect(shown.split('\n')).toHaveLength(21)
    expect(shown).toMatch(/\ncommand: rm -rf \/$/)
    expect(shown.length).toBeLessThan(4_001)
  })

  test('show every character, in texts, lists and names', () => {
    expect(shownArguments({ path: 'C:\\new\u3164', list: ['a\u00a0b\u{e0100}'], 'b\u200bc': 1 })).toBe(
      'path: C:\\\\new<U+3164>\nlist: ["a\\u00a0b\\udb40\\udd00"]\nb<U+200B>c: 1',
    )
    expect(shownArguments({ text: `rm a${' '.repeat(60)}; rm b` })).toBe('text: rm a<U+0020×60>; rm b')
  })

  test('show whether a value is text or only looks like something else', () => {
    expect(shownArguments({ a: '3', b: 3, c: '["x"]', d: ['x'], e: '', f: 'x ', g: '"' })).toBe(
      'a: "3"\nb: 3\nc: "[\\"x\\"]"\nd: ["x"]\ne: ""\nf: "x "\ng: "',
    )
  })

  test('are never cut inside a character, and a cut is always shown', () => {
    expect(shownArguments({ text: `${'x'.repeat(499)}😀y` })).toBe(`text: ${'x'.repeat(499)}… (3 more characters)`)
    const deep = JSON.parse(`${'['.repeat(600)}1${']'.repeat(600)}`)
    expect(shownArguments({ deep })).toMatch(/^deep: \[{500}… \(\d+ more characters\)$/)
  })

  test('have a limit, and say what is left out', () => {
    expect(shownArguments({ text: 'x'.repeat(600) })).toBe(`text: ${'x'.repeat(500)}… (100 more characters)`)
    const many = shownArguments(Object.fromEntries(Array.from({ length: 45 }, (_, i) => [`n${i}`, i])))
    expect(many.split('\n').at(-1)).toBe('… and 5 more')
    const long = shownArguments(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`n${i}`, 'y'.repeat(400)])))
    expect(long).toMatch(/… \(\d+ more characters\)$/)
    expect(long.length).toBeLessThan(4_100)
    const full = Array.from({ length: 40 }, (_, i) => [`${i}${'n'.repeat(200)}`, 'y'.repeat(400)])
    const cut = shownArguments(Object.fromEntries(full))
    expect(cut).toMatch(/… \(\d+ more characters\)$/)
    expect(cut.length).toBeLessThan(4_100)
  })
})

test.each([
  ['password', true],
  ['dbPassword', true],
  ['API_KEY', true],
  ['api-key', true],
  ['apikey', true],
  ['clientSecret', true],
  ['Authorization', true],
  ['refresh_token', true],
  ['max_tokens', false],
  ['keyboard', false],
  ['key', false],
  ['secretary', false],
  ['author', false],
])('%s looks secret: %s', (name, expected) => {
  expect(looksSecret(name)).toBe(expected)
})
