import { expect, test } from 'vitest'
import { csvOf } from './UsagePage.tsx'

test('commas, quotes and line breaks stay in their cell', () => {
  expect(
    csvOf([
      ['a', 1],
      ['b,c', 0.5],
      ['say "hi"\nnow', null],
    ]),
  ).toBe('a,1\r\n"b,c",0.5\r\n"say ""hi""\nnow",\r\n')
})

test('a text that begins like a formula stays a text', () => {
  expect(
    csvOf([
      ['=HYPERLINK("http://x")', -3],
      ['+1', '@a'],
    ]),
  ).toBe('"\'=HYPERLINK(""http://x"")",-3\r\n\'+1,\'@a\r\n')
})
