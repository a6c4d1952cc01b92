import { expect, test } from 'vitest'
import { questionAnswer } from './question-answer.ts'

const field = (schema: object) => ({ type: 'object', properties: { it: schema } })
const size = { type: 'string', enum: ['S', 'L', 'l'] }
const two = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } } }

test.each([
  [field({ type: 'string' }), ' a b ', { value: { it: 'a b' } }],
  [{ type: 'string' }, 'hi', { value: 'hi' }],
  [field({ type: 'number' }), '3.5', { value: { it: 3.5 } }],
  [field({ type: 'integer' }), '-3', { value: { it: -3 } }],
  [field({ type: 'integer' }), 'three', null],
  [field({ type: 'number' }), '', null],
  [field({ type: 'number' }), '0x10', null],
  [field({ type: 'boolean' }), 'Yes', { value: { it: true } }],
  [field({ type: 'boolean' }), 'false', { value: { it: false } }],
  [field({ type: 'boolean' }), 'maybe', null],
  [field(size), 's', { value: { it: 'S' } }],
  // Two values look alike, so only the exact one counts.
  [field(size), 'l', { value: { it: 'l' } }],
  [field(size), 'XL', null],
  [field({ oneOf: [{ const: 1, title: 'one' }, { const: 'two' }] }), '1', { value: { it: 1 } }],
  [field({ enum: [null, 2] }), 'null', { value: { it: null } }],
  [field({ type: 'array' }), '[1]', { value: { it: [1] } }],
  [field({ type: 'array' }), 'one', null],
  [two, '{"a":"x","b":1}', { value: { a: 'x', b: 1 } }],
  [two, 'x 1', null],
  [two, '[1]', null],
])('%j answered with %j', (schema, text, answer) => {
  expect(questionAnswer(schema, text)).toEqual(answer)
})
