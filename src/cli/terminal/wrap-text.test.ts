import { expect, test } from 'vitest'
import { wrapText } from './wrap-text.ts'

test('breaks text between words, and indents further lines', () => {
  expect(wrapText('12:30  one two three four', 14, 7)).toBe('12:30  one two\n       three\n       four')
  expect(wrapText('  short', 40, 2)).toBe('  short')
})

test('never breaks an address, however narrow the terminal', () => {
  expect(wrapText('go → http://127.0.0.1:8000/approvals', 12, 2)).toBe('go →\n  http://127.0.0.1:8000/approvals')
})
