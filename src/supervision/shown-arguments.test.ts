import { describe, expect, test } from 'vitest'
import { looksSecret, shownArguments } from './shown-arguments.ts'

describe('arguments as a person reads them', () => {
  test('are one a line, texts as they are and the rest as JSON', () => {
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

  test('cannot pretend to be other arguments, nor turn the text around', () => {
    expect(shownArguments({ text: 'hi\nto: bob\u202e\u0000', 'a\nb': 1 })).toBe(
      'text: hi\\nto: bob\\u{202e}\\u{0}\na\\nb: 1',
    )
  })

  test('are bounded, and say what is left out', () => {
    expect(shownArguments({ text: 'x'.repeat(600) })).toBe(`text: ${'x'.repeat(500)}… (100 more characters)`)
    const many = shownArguments(Object.fromEntries(Array.from({ length: 45 }, (_, i) => [`n${i}`, i])))
    expect(many.split('\n').at(-1)).toBe('… and 5 more')
    const long = shownArguments(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`n${i}`, 'y'.repeat(400)])))
    expect(long).toMatch(/… \(\d+ more characters\)$/)
    expect(long.length).toBeLessThan(4_100)
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
