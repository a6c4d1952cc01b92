import { expect, test } from 'vitest'
import { candidateWords } from './candidate-words.ts'

/** Each of these a word of one form. */
const wordsOf = (terms: readonly number[], frequencies: readonly number[], weight = 1) =>
  terms.map((term, word) => ({ term, word, weight, frequency: frequencies[word] ?? 0 }))
const termsOf = (words: ReturnType<typeof candidateWords>): number[] => words.flatMap(({ terms }) => terms)

test('the rarest words look for candidates, with whole weights', () => {
  expect(candidateWords(wordsOf([7, 8, 9], [1_000, 10, 100]), 100_000)).toEqual([
    { terms: [8], weight: 9162 },
    { terms: [9], weight: 6903 },
    { terms: [7], weight: 4605 },
  ])
})

test('words that no passage has, and frequent ones behind 60,000 rows, do not look', () => {
  expect(termsOf(candidateWords(wordsOf([1, 2, 3, 4], [0, 30_000, 30_000, 1]), 100_000))).toEqual([4, 2])
  expect(termsOf(candidateWords(wordsOf([1, 2, 3], [20_000, 20_000, 20_000]), 100_000))).toEqual([1, 2, 3])
})

test('one word looks in any case, also one that every passage has', () => {
  expect(candidateWords(wordsOf([1, 2], [90_000, 100_000]), 100_000)).toEqual([{ terms: [1], weight: 105 }])
  expect(candidateWords(wordsOf([1], [5_000_000]), 5_000_000)).toEqual([{ terms: [1], weight: 1 }])
  expect(candidateWords(wordsOf([1], [0]), 10)).toEqual([])
  expect(candidateWords([], 10)).toEqual([])
})

test('the forms of a word look together, and a word is as frequent as they all are', () => {
  const forms = [
    { term: 1, word: 0, weight: 1, frequency: 900 },
    { term: 2, word: 0, weight: 1, frequency: 100 },
    { term: 3, word: 0, weight: 1, frequency: 0 },
    { term: 4, word: 1, weight: 1, frequency: 1_000 },
  ]

  const [one, other] = candidateWords(forms, 100_000)
  expect([one?.terms, other?.terms]).toEqual([[1, 2], [4]])
  expect(one?.weight).toBe(other?.weight)
})

test('a word that every text has looks only where there is no other one', () => {
  const stop = { term: 1, word: 0, weight: 0.1, frequency: 5 }
  const telling = { term: 2, word: 1, weight: 1, frequency: 500 }

  expect(termsOf(candidateWords([stop, telling], 1_000))).toEqual([2])
  expect(termsOf(candidateWords([stop, { ...telling, frequency: 0 }], 1_000))).toEqual([1])
})
