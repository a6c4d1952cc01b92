import { expect, test } from 'vitest'
import { argumentLine, prettyJson } from './pretty-json.ts'

test('lays out JSON and leaves everything else alone', () => {
  expect(prettyJson('{"a":[1,2]}')).toBe('{\n  "a": [\n    1,\n    2\n  ]\n}')
  expect(prettyJson('{"a":')).toBe('{"a":')
  expect(prettyJson('plain text')).toBe('plain text')
  expect(prettyJson('42')).toBe('42')
})

test('says the arguments in one line', () => {
  expect(argumentLine('{"to":"ada","lines":"a\\nb","n":{"x":1}}')).toBe('to: ada, lines: a b, n: {"x":1}')
  expect(argumentLine('{}')).toBe('')
  expect(argumentLine('{"half":"wr')).toBe('{"half":"wr')
  expect(argumentLine(JSON.stringify({ a: 'x'.repeat(1_000_000) })).length).toBeLessThanOrEqual(120)
})
