import { expect, test } from 'vitest'
import { boundedResult } from './call-records.ts'

test('a result never contains half a character, wherever it was cut', () => {
  expect(boundedResult('a😀b', 4)).toBe('a😀b')
  expect(boundedResult('a😀b', 2)).toBe('a\ufffd\n[The result was cut here: 2 of 4 characters are shown.]')
  expect(boundedResult('a\ud83d', 10)).toBe('a\ufffd')
  expect(boundedResult('a\ud83d', 2, true)).toBe(
    'a\ufffd\n[The result was cut here: 2 characters are shown, and there are more.]',
  )
})
