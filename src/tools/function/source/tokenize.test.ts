// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates are what is read here.

import { describe, expect, test } from 'vitest'
import { tokenize } from './tokenize.ts'

const textsOf = (source: string) => tokenize(source).map(({ text }) => text)
const kindsOf = (source: string) => tokenize(source).map(({ kind, text }) => [kind, text])

describe('tokenize', () => {
  test('keeps strings whole, whatever is in them', () => {
    expect(textsOf(`a = 'it\\'s // no comment' + "(\\"{" + '\\\n'`)).toEqual([
      'a',
      '=',
      `'it\\'s // no comment'`,
      '+',
      '"(\\"{"',
      '+',
      `'\\\n'`,
    ])
  })

  test('keeps a template whole, with templates, braces and strings in its expressions', () => {
    const template = "`a ${ { b: `}${'`'}` /* ` */ }.b } \\` \\${ c`"
    expect(kindsOf(`x(${template})`)).toEqual([
      ['name', 'x'],
      ['punctuation', '('],
      ['template', template],
      ['punctuation', ')'],
    ])
  })

  test.each([
    ['x = /[/"]\\/(/g.test(y)', '/[/"]\\/(/g'],
    ["return /'/", "/'/"],
    ['if (a) /"/.test(b)', '/"/'],
    ['{ a } /`/.test(b)', '/`/'],
    ['for (;;) { a() }\n/{/u.exec(b)', '/{/u'],
    ['(a, /(/)', '/(/'],
    ['x = !/}/.test(y)', '/}/'],
    ['() => /"/', '/"/'],
    ['a.b ? /"/ : 1', '/"/'],
  ])('sees the regular expression in %s', (source, regex) => {
    expect(kindsOf(source)).toContainEqual(['regex', regex])
  })

  test.each([
    "a / b / 'c'",
    "f(x) / 2 / 'c'",
    "a[0] / 2 / 'c'",
    "i++ / 2 / 'c'",
    "x! / 2 / 'c'",
    "x = { a: 1 } / 2 / 'c'",
    "a.return / 2 / 'c'",
    "1 / 2 / 'c'",
    "a.if(x) / 2 / 'c'",
  ])('sees division in %s', (source) => {
    const tokens = tokenize(source)
    expect(tokens.filter(({ kind }) => kind === 'regex')).toEqual([])
    expect(tokens.at(-1)?.text).toBe("'c'")
  })

  test('gives a JSDoc comment to the token behind it, and no other comment', () => {
    const tokens = tokenize('/** one */ /* two */ // three\na /* four */ b /**/ c /** five */ /** six */ d')
    expect(tokens.map(({ text, doc }) => [text, doc])).toEqual([
      ['a', '/** one */'],
      ['b', null],
      ['c', null],
      ['d', '/** six */'],
    ])
  })

  test('knows which bracket belongs to which, and where lines begin', () => {
    expect(tokenize('f({ a: [\n1] })').map(({ text, pair, newline }) => [text, pair, newline])).toEqual([
      ['f', -1, false],
      ['(', 9, false],
      ['{', 8, false],
      ['a', -1, false],
      [':', -1, false],
      ['[', 7, false],
      ['1', -1, true],
      [']', 5, false],
      ['}', 2, false],
      [')', 1, false],
    ])
  })

  test('takes angle brackets one by one, and arrows and dots together', () => {
    expect(textsOf('a: Map<string, Array<number>> = (...b) => c?.d')).toEqual(
      'a : Map < string , Array < number > > = ( ... b ) => c ? . d'.split(' '),
    )
  })

  test('reads numbers and names of every kind', () => {
    expect(kindsOf('0xFF_F 1_000.5e-3 .5 10n größe $_ #own @dec')).toEqual([
      ['number', '0xFF_F'],
      ['number', '1_000.5e-3'],
      ['number', '.5'],
      ['number', '10n'],
      ['name', 'größe'],
      ['name', '$_'],
      ['name', '#own'],
      ['name', '@dec'],
    ])
  })

  test('leaves out a line for the shell and a byte order mark', () => {
    expect(textsOf("#!/usr/bin/env -S node '\na")).toEqual(['a'])
    expect(textsOf('\ufeffa')).toEqual(['a'])
  })

  test.each([
    ["a = 'b", 4, 'a string does not end'],
    ['a `b ${c', 7, 'a template string does not end'],
    ['/* a', 0, 'a comment does not end'],
    ['a(b', 1, 'a ( is not closed'],
    ['a)', 1, 'a ) closes nothing'],
    ['(a]', 2, 'a ] closes a ('],
  ])('refuses %s', (source, position, message) => {
    expect(() => tokenize(source)).toThrow(expect.objectContaining({ name: 'Unreadable', position, message }))
  })
})
