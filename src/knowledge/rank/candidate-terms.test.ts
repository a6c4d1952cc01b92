import { expect, test } from 'vitest'
import { candidateTerms } from './candidate-terms.ts'

/** Terms of as many words, by their numbers. */
const terms = (rows: Record<number, number>) =>
  Object.entries(rows).map(([term, count], word) => ({
    term: Number(term),
    word,
    weight: 1,
    rows: count,
    frequency: count,
  }))

test('the rarest terms look for candidates, with whole weights', () => {
  expect(candidateTerms(terms({ 7: 1_000, 8: 10, 9: 100 }), 100_000)).toEqual([
    { term: 8, weight: 9162 },
    { term: 9, weight: 6903 },
    { term: 7, weight: 4605 },
  ])
})

test('a form that few passages have says no more than its word, and a lighter term says less', () => {
  const [word, other] = [
    { word: 0, weight: 1, frequency: 50_000 },
    { word: 1, weight: 0.1, frequency: 10 },
  ]
  expect(
    candidateTerms(
      [
        { ...word, term: 1, rows: 49_990 },
        { ...word, term: 2, rows: 10 },
        { ...other, term: 3, rows: 10 },
      ],
      100_000,
    ),
  ).toEqual([
    { term: 3, weight: 916 },
    { term: 1, weight: 693 },
    { term: 2, weight: 693 },
  ])
})

test('terms that no passage has, and frequent ones behind 60,000 rows, do not look', () => {
  expect(candidateTerms(terms({ 1: 0, 2: 30_000, 3: 30_000, 4: 1 }), 100_000).map(({ term }) => term)).toEqual([4, 2])
  expect(candidateTerms(terms({ 1: 20_000, 2: 20_000, 3: 20_000 }), 100_000).map(({ term }) => term)).toEqual([1, 2, 3])
})

test('one term looks in any case, also one that every passage has', () => {
  expect(candidateTerms(terms({ 1: 90_000, 2: 100_000 }), 100_000)).toEqual([{ term: 1, weight: 105 }])
  expect(candidateTerms(terms({ 1: 5_000_000 }), 5_000_000)).toEqual([{ term: 1, weight: 1 }])
  expect(candidateTerms(terms({ 1: 0 }), 10)).toEqual([])
  expect(candidateTerms([], 10)).toEqual([])
})

test('terms that say as much are in the order of their numbers', () => {
  expect(candidateTerms(terms({ 9: 3, 2: 3, 5: 3 }), 10).map(({ term }) => term)).toEqual([2, 5, 9])
})
