import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compactJson } from './call-service.ts'

test('removes only the whitespace between tokens', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 2, '\t', ' \n'), (text, space) => {
      const value: unknown = JSON.parse(text)
      expect(compactJson(JSON.stringify(value, null, space))).toBe(JSON.stringify(value))
    }),
  )
})

test('keeps every digit', () => {
  expect(compactJson('{ "id": 1234567890123456789, "n": 1.10 }')).toBe('{"id":1234567890123456789,"n":1.10}')
})

test('keeps spaces, quotes and backslashes inside strings', () => {
  expect(compactJson(String.raw`[ "a \" b", "\\", " ]" ]`)).toBe(String.raw`["a \" b","\\"," ]"]`)
})

test('is null for text that is not JSON', () => {
  expect(['', '{', 'text', '{"a":1} x'].map(compactJson)).toEqual([null, null, null, null])
})
