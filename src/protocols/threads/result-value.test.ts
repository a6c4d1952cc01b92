import { expect, test } from 'vitest'
import { resultValue } from './chat-message.ts'

test.each([
  ['{"a":[1,null]}', { a: [1, null] }],
  [' [1.5] ', [1.5]],
  ['21', 21],
  ['true', true],
  ['null', null],
  ['"red"', 'red'],
  ['Fog.', 'Fog.'],
  ['', ''],
  ['{"a":', '{"a":'],
  ['12 monkeys', '12 monkeys'],
  // Nothing that would come out as something else.
  ['12345678901234567890', '12345678901234567890'],
  ['1e999', '1e999'],
  ['['.repeat(200) + ']'.repeat(200), '['.repeat(200) + ']'.repeat(200)],
])('%s', (text, value) => {
  expect(resultValue(text)).toEqual(value)
})
