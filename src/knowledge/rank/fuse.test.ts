import { expect, test } from 'vitest'
import { fuse } from './fuse.ts'

test('a passage that both lists have comes before one that leads only one of them', () => {
  expect(fuse(['word', 'both'], ['meaning', 'both'])).toEqual([
    { id: 'both', score: 1 / 62 + 1 / 62, byWords: 2, byMeaning: 2 },
    { id: 'meaning', score: 1 / 61, byWords: null, byMeaning: 1 },
    { id: 'word', score: 1 / 61, byWords: 1, byMeaning: null },
  ])
})

test('places that only change sides are worth the same, and equals are in the order of their ids', () => {
  expect(fuse(['b', 'a', 'c'], ['a', 'b']).map(({ id }) => id)).toEqual(['a', 'b', 'c'])
})

test('without meaning the words keep their order', () => {
  expect(fuse(['c', 'a', 'b'], []).map(({ id, byWords, byMeaning }) => [id, byWords, byMeaning])).toEqual([
    ['c', 1, null],
    ['a', 2, null],
    ['b', 3, null],
  ])
  expect(fuse([], [])).toEqual([])
})
