import { describe, expect, test } from 'vitest'
import { formPairs, type QueryStyle, queryPairs, simpleText } from './parameter-style.ts'

const list = ['blue', 'black&white', 3]
const object = { R: 100, G: 'a b', B: null }

describe('a value in a query', () => {
  const cases: [QueryStyle, boolean, unknown, string][] = [
    ['form', true, 'a&b', 'c=a%26b'],
    ['form', true, list, 'c=blue&c=black%26white&c=3'],
    ['form', false, list, 'c=blue,black%26white,3'],
    ['form', true, object, 'R=100&G=a%20b'],
    ['form', false, object, 'c=R,100,G,a%20b'],
    ['form', true, false, 'c=false'],
    ['form', true, '', 'c='],
    ['form', true, null, ''],
    ['form', true, undefined, ''],
    ['form', true, [], ''],
    ['form', false, [], ''],
    ['form', false, {}, ''],
    ['form', true, [{ a: 1 }], 'c=%7B%22a%22%3A1%7D'],
    ['spaceDelimited', false, list, 'c=blue%20black%26white%203'],
    ['pipeDelimited', false, list, 'c=blue%7Cblack%26white%7C3'],
    ['deepObject', true, object, 'c%5BR%5D=100&c%5BG%5D=a%20b'],
    ['deepObject', true, { a: { b: [1, 2] } }, 'c%5Ba%5D%5Bb%5D%5B0%5D=1&c%5Ba%5D%5Bb%5D%5B1%5D=2'],
    ['deepObject', true, 'x', 'c=x'],
  ]
  test.each(cases)('%s, explode %s: %j', (style, explode, value, query) => {
    expect(queryPairs('c', value, style, explode).join('&')).toBe(query)
  })

  test('has its name encoded too', () => {
    expect(queryPairs('a[]&b', [1], 'form', true)).toEqual(['a%5B%5D%26b=1'])
  })
})

test.each([
  ['x', 'n=x'],
  [[1, 'a b'], 'n=1&n=a%20b'],
  [{ a: [1] }, 'n=%7B%22a%22%3A%5B1%5D%7D'],
  [null, ''],
])('in a form %j is %s', (value, text) => {
  expect(formPairs('n', value).join('&')).toBe(text)
})

test.each([
  ['a/b', true, 'a%2Fb'],
  [list, false, 'blue,black%26white,3'],
  [object, false, 'R,100,G,a%20b'],
  [object, true, 'R=100,G=a%20b'],
])('in a path %j, explode %s, is %s', (value, explode, text) => {
  expect(simpleText(value, explode, encodeURIComponent)).toBe(text)
})
