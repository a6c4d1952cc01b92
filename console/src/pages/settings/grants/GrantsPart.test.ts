import { expect, test } from 'vitest'
import { conditionWords, whereWords } from './GrantsPart.tsx'

test('each kind of condition has its words', () => {
  expect(conditionWords('ls')).toBe('is “ls”')
  expect(conditionWords({ equals: 5 })).toBe('is 5')
  expect(conditionWords(['a', null])).toBe('is one of “a”, null')
  expect(conditionWords({ one_of: ['a', true] })).toBe('is one of “a”, true')
  expect(conditionWords({ matches: '*@example.com' })).toBe('looks like *@example.com')
  expect(conditionWords({ path: 'src/**' })).toBe('is a path like src/**')
  expect(conditionWords({ above: 1 })).toBe('is above 1')
  expect(conditionWords({ not: { below: 2 } })).toBe('not: is below 2')
})

test('what is hidden is marked, and what is unknown is shown as it is', () => {
  expect(conditionWords('a\u202eb')).toBe('is “a<U+202E>b”')
  expect(conditionWords({ newer: 'x' })).toBe('{"newer":"x"}')
})

test('a count of arguments is said as one', () => {
  expect(whereWords('#', { equals: 2 })).toEqual({ argument: null, words: 'has 2 arguments' })
  expect(whereWords('to.#', { equals: 1 })).toEqual({ argument: 'to', words: 'has 1 entry' })
  expect(whereWords('to', { equals: 'bob' })).toEqual({ argument: 'to', words: 'is “bob”' })
})
