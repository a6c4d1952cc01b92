import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutPosition } from './render-extract.ts'

const cut = (text: string, limit: number) => text.slice(0, cutPosition(text, limit))

test.each([
  ['a text that fits, whole', 'One. Two.', 9, 'One. Two.'],
  ['after a sentence', 'One is here. Two is not. Three', 25, 'One is here. Two is not. '],
  ['after a sentence in quotes', 'He said “it is.” And more of it', 25, 'He said “it is.” '],
  ['not after a number with a point', 'It costs 3.50 euros in all', 14, 'It costs 3.50 '],
  ['after a paragraph', 'one two three\n\nfour five six', 25, 'one two three\n'],
  ['after a row', '| a | b |\n| 1 | 2 |\n| 3 | 4 |', 26, '| a | b |\n| 1 | 2 |\n'.slice(0, 20)],
  ['after a list item', '- one thing\n- two things\n- three', 30, '- one thing\n- two things\n'],
  ['after a sentence without spaces', '一つ目です。二つ目です。三つ目', 14, '一つ目です。二つ目です。'],
  ['after a line if no sentence ends', 'one two\nthree four\nfive six', 22, 'one two\nthree four\n'],
  ['after a word if no line ends', 'one two three four', 12, 'one two '],
  ['at the limit if there is no border', 'x'.repeat(20), 12, 'x'.repeat(12)],
  ['not far back for a border', `One. ${'x'.repeat(30)}`, 20, `One. ${'x'.repeat(15)}`],
  ['not through a character', 'xxx😀😀😀', 6, 'xxx😀'],
])('cuts %s', (_, text, limit, expected) => {
  expect(cut(text, limit)).toBe(expected)
})

test('a cut never keeps more than fits, never splits a character, and keeps something if there is space', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 2, max: 100 }), (text, limit) => {
      const kept = cut(text, limit)
      expect(kept.length).toBeLessThanOrEqual(limit)
      expect(text.isWellFormed() && !kept.isWellFormed()).toBe(false)
      expect(kept === '' && text !== '').toBe(false)
    }),
  )
})
