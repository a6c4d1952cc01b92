import { expect, test } from 'vitest'
import { candidateTerms } from './candidate-terms.ts'

test('the rarest terms look for candidates, with whole weights', () => {
  expect(candidateTerms([7, 8, 9], [1_000, 10, 100], 100_000)).toEqual([
    { term: 8, weight: 9162 },
    { term: 9, weight: 6903 },
    { term: 7, weight: 4605 },
  ])
})

test('terms that no passage has, and frequent ones behind 60,000 rows, do not look', () => {
  expect(candidateTerms([1, 2, 3, 4], [0, 30_000, 30_000, 1], 100_000).map(({ term }) => term)).toEqual([4, 2])
  expect(candidateTerms([1, 2, 3], [20_000, 20_000, 20_000], 100_000).map(({ term }) => term)).toEqual([1, 2, 3])
})

test('one term looks in any case, also one that every passage has', () => {
  expect(candidateTerms([1, 2], [90_000, 100_000], 100_000)).toEqual([{ term: 1, weight: 105 }])
  expect(candidateTerms([1], [5_000_000], 5_000_000)).toEqual([{ term: 1, weight: 1 }])
  expect(candidateTerms([1], [0], 10)).toEqual([])
  expect(candidateTerms([], [], 10)).toEqual([])
})

test('equally rare terms are in the order of their numbers, whatever the order of the question', () => {
  expect(candidateTerms([9, 2, 5], [3, 3, 3], 10).map(({ term }) => term)).toEqual([2, 5, 9])
})
