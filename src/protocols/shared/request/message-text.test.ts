import { describe, expect, test } from 'vitest'
import { isLonger } from './message-limits.ts'

describe('the length of a message', () => {
  test.each([
    ['abc', 3, false],
    ['abcd', 3, true],
    ['😀😀😀', 3, false],
    ['😀😀😀a', 3, true],
    ['😀😀😀😀', 3, true],
    ['', 0, false],
  ])('%j is longer than %d characters: %s', (text, limit, longer) => {
    expect(isLonger(text, limit)).toBe(longer)
  })
})
