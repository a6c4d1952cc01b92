import { expect, test } from 'vitest'
import { parseHeader } from './header-parameters.ts'

test.each<[string, string, Record<string, string>]>([
  ['text/plain', 'text/plain', {}],
  ['', '', {}],
  ['Multipart/Form-Data; Boundary=abc', 'multipart/form-data', { boundary: 'abc' }],
  [
    'multipart/form-data;boundary="a b;c"; charset=utf-8',
    'multipart/form-data',
    { boundary: 'a b;c', charset: 'utf-8' },
  ],
  ['multipart/form-data ; boundary = abc ', 'multipart/form-data', { boundary: 'abc' }],
  ['form-data; name="a"; filename="say \\"hi\\".txt"', 'form-data', { name: 'a', filename: 'say "hi".txt' }],
  ['form-data; name="a"; filename="C:\\dir\\b.txt"', 'form-data', { name: 'a', filename: 'C:\\dir\\b.txt' }],
  ["form-data; name=a; filename*=UTF-8''b%20c", 'form-data', { name: 'a', 'filename*': "UTF-8''b%20c" }],
  ['form-data; name="a"; name="b"', 'form-data', { name: 'a' }],
  ['form-data; ; =; x; name="a"', 'form-data', { name: 'a' }],
  ['form-data; name="no end', 'form-data', { name: '' }],
  ['form-data; __proto__="x"; name=""', 'form-data', { ['__proto__']: 'x', name: '' }],
])('%j', (text, value, parameters) => {
  const parsed = parseHeader(text)

  expect(parsed.value).toBe(value)
  expect([...parsed.parameters]).toEqual(Object.entries(parameters))
})

test('takes no longer for what is made to take long', () => {
  const startedAt = performance.now()

  parseHeader(`form-data${'; a="\\'.repeat(4_000)}`)
  parseHeader(`form-data; a="${'\\'.repeat(16_000)}`)
  parseHeader(`form-data;${' \t'.repeat(8_000)}`)

  expect(performance.now() - startedAt).toBeLessThan(500)
})
