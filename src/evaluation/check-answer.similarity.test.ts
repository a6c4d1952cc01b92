import { describe, expect, test } from 'vitest'
import { similarity } from './check-answer.ts'

describe('similarity', () => {
  test.each([
    ['the same words, whatever their case and punctuation', 'Paris is the capital.', 'paris IS the capital', 1],
    ['no word in common', 'Paris', 'Rome', 0],
    ['half of the words of both', 'red green', 'red blue', 0.5],
    ['an answer that says more than the truth', 'It is Paris', 'Paris', 0.5],
    [
      'the same words in another order count as far as the order holds',
      'one two three four',
      'four one two three',
      0.75,
    ],
    ['nothing and nothing', ' … ', '', 1],
    ['nothing and something', '', 'Paris', 0],
    ['Chinese has words without spaces', '法国的首都是巴黎', '法国的首都是罗马', (2 * 4) / 10],
  ])('%s', (_, one, other, expected) => {
    expect(similarity(one, other)).toBeCloseTo(expected, 5)
    expect(similarity(other, one)).toBeCloseTo(expected, 5)
  })

  test('long texts are compared in bounded time', () => {
    const text = Array.from({ length: 50_000 }, (_, index) => `word${index % 7}`).join(' ')

    expect(similarity(text, text)).toBe(1)
  })
})
