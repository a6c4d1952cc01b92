import { expect, test } from 'vitest'
import { inverseFrequency, rankByWords, worthOf } from './bm25.ts'

const totals = { passages: 4, length: 40 }

/** Terms of as many words. */
const words = (...frequencies: number[]) => frequencies.map((frequency, word) => ({ frequency, word, weight: 1 }))

test('the sum over the terms is that of the formula', () => {
  const [only] = rankByWords([{ id: 'a', length: 20, counts: [2, 0, 1] }], words(1, 3, 4), totals)

  // idf = ln(1 + (4 - n + 0.5) / (n + 0.5)); the passage is twice as long as the average.
  const long = 0.9 * (0.6 + 0.4 * 2)
  const expected = (Math.log(1 + 3.5 / 1.5) * 2 * 1.9) / (2 + long) + (Math.log(1 + 0.5 / 4.5) * 1.9) / (1 + long)
  expect(only?.id).toBe('a')
  expect(only?.score).toBeCloseTo(expected, 12)
})

test('a rare word, a word that occurs often and a short passage come first, and equals by their id', () => {
  const order = (...candidates: [id: string, length: number, ...counts: number[]][]) =>
    rankByWords(
      candidates.map(([id, length, ...counts]) => ({ id, length, counts })),
      words(1, 3),
      totals,
    ).map(({ id }) => id)

  expect(order(['frequent', 10, 0, 1], ['rare', 10, 1, 0])).toEqual(['rare', 'frequent'])
  expect(order(['once', 10, 1, 0], ['twice', 10, 2, 0])).toEqual(['twice', 'once'])
  expect(order(['long', 20, 1, 0], ['short', 5, 1, 0])).toEqual(['short', 'long'])
  expect(order(['b', 10, 1, 0], ['c', 10, 1, 0], ['a', 10, 1, 0])).toEqual(['a', 'b', 'c'])
  expect(order(['none', 10, 0, 0], ['one', 10, 0, 1])).toEqual(['one'])
})

test('an empty index has no scores, and no passage has a score that is not a number', () => {
  expect(rankByWords([], words(0), { passages: 0, length: 0 })).toEqual([])
  expect(
    rankByWords([{ id: 'a', length: 0, counts: [1] }], words(1), { passages: 1, length: 0 })[0]?.score,
  ).toBeGreaterThan(0)
  // A file that is put while its terms are counted.
  expect(inverseFrequency(5, 4)).toBeGreaterThan(0)
})

test('of the forms of one word only the one that fits best counts, and a lighter word counts less', () => {
  const score = (counts: number[], terms: Parameters<typeof rankByWords>[1]) =>
    rankByWords([{ id: 'a', length: 10, counts }], terms, totals)[0]?.score ?? 0
  const form = (frequency: number, weight = 1) => ({ frequency, word: 0, weight })

  expect(score([1, 1], [form(1), form(2)])).toBe(score([0, 1], [form(1), form(2)]))
  expect(score([1], [form(1, 0.5)])).toBeCloseTo(score([1], [form(1)]) / 2, 12)
})

test('a word is as frequent as all its forms, so it says as much in each language', () => {
  const terms = [
    { frequency: 1, word: 0, weight: 1 },
    { frequency: 2, word: 0, weight: 1 },
  ]

  expect(worthOf(terms, 4)).toEqual([inverseFrequency(3, 4), inverseFrequency(3, 4)])
})
