import { expect, test } from 'vitest'
import { argumentLine, prettyJson, withoutSecrets } from './pretty-json.ts'

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

test('masks secrets by their names, also while the arguments are still coming', () => {
  expect(withoutSecrets('{"path":"/a","api_key":"s3\\"x","in":{"password" : "p"}}')).toBe(
    '{"path":"/a","api_key":"[masked]","in":{"password" : "[masked]"}}',
  )
  expect(withoutSecrets('{"path":"/a","token":"hal')).toBe('{"path":"/a","token":"[masked]"')
  expect(withoutSecrets('{"token":"half\\')).toBe('{"token":"[masked]"')
  expect(withoutSecrets('{"max_tokens":"5","text":"token: x"}')).toBe('{"max_tokens":"5","text":"token: x"}')
})
