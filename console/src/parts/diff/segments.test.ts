import { expect, test } from 'vitest'
import { changedWords } from './changed-words.ts'
import { segmentsOf } from './segments.ts'

test('marks and changed words stand apart, and together the segments are the line', () => {
  const line = 'compute(3<U+202E>00) // now'
  const segments = segmentsOf(line, [
    [8, 12],
    [24, 27],
  ])
  expect(segments).toEqual([
    { text: 'compute(', isMark: false, isChanged: false },
    { text: '3', isMark: false, isChanged: true },
    { text: '<U+202E>', isMark: true, isChanged: true },
    { text: '00) // ', isMark: false, isChanged: false },
    { text: 'now', isMark: false, isChanged: true },
  ])
  expect(segments.map(({ text }) => text).join('')).toBe(line)
})

test('changed words are found on both sides', () => {
  expect(changedWords('const limit = 10', 'const limit = 20')).toEqual({ before: [[14, 16]], after: [[14, 16]] })
})

test('lines that have nothing in common are not compared word by word', () => {
  expect(changedWords('a b c d', 'w x y z')).toBe(null)
  expect(changedWords('x'.repeat(10_000), 'y')).toBe(null)
})
