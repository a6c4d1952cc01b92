import { expect, test } from 'vitest'
import { choicesOf } from './question-choices.ts'

test('a question with a few allowed values has a whole answer for each', () => {
  const one = (field: object) => choicesOf({ type: 'object', properties: { go: field } })
  expect(one({ type: 'boolean' })).toEqual([
    { label: 'Answer: true', answer: { go: true } },
    { label: 'Answer: false', answer: { go: false } },
  ])
  expect(one({ oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] }).map(({ answer }) => answer)).toEqual([
    { go: 'a' },
    { go: 'b' },
  ])
  expect(choicesOf({ enum: [1, 'Reject'] })).toEqual([
    { label: 'Answer: 1', answer: 1 },
    { label: 'Answer: Reject', answer: 'Reject' },
  ])
  // Too many, too long, alike, or more than one field: the answer must be written.
  expect(one({ enum: [1, 2, 3, 4, 5, 6] })).toEqual([])
  expect(one({ enum: ['x'.repeat(100), 'y'] })).toEqual([])
  expect(one({ enum: ['1', 1] })).toEqual([])
  expect(choicesOf({ properties: { a: { type: 'boolean' }, b: { type: 'boolean' } } })).toEqual([])
})
