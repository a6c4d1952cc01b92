import { expect, test } from 'vitest'
import { fillTemplate, parseTemplate } from './template.ts'

test.each([
  ['', []],
  ['plain', ['plain']],
  ['{a}', [{ argument: 'a' }]],
  ['x{a}y{b-c.d}', ['x', { argument: 'a' }, 'y', { argument: 'b-c.d' }]],
  ['{{a}}', ['{a}']],
  ['{{a}} and {a}', ['{a}', ' and ', { argument: 'a' }]],
  ['{"k":{a}}', ['{"k":', { argument: 'a' }, '}']],
  ['{{a}', ['{', { argument: 'a' }]],
  ['{ a }', ['{ a }']],
  ['{1}{}', ['{1}{}']],
])('%j is read as %j', (text, parts) => {
  expect(parseTemplate(text)).toEqual(parts)
})

test('braces in the value of an argument stay text', () => {
  expect(fillTemplate(parseTemplate('{a}{b}'), { a: '{b}', b: '$&' }, (text) => text)).toBe('{b}$&')
})

test('names that every object has, such as constructor, are not arguments', () => {
  expect(fillTemplate(parseTemplate('{constructor}'), {}, (text) => text)).toBeNull()
})
