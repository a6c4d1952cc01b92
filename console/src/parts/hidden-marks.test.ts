import { expect, test } from 'vitest'
import { markHidden } from './hidden-marks.ts'

test('marks what turns or hides text, and leaves languages and emoji alone', () => {
  expect(markHidden('pay(3\u202e00)\u200b\u{e0041}')).toBe('pay(3<U+202E>00)<U+200B><U+E0041>')
  const fine = 'مرحبا 👩‍💻 می‌خواهم naïve\ttab\nline'
  expect(markHidden(fine)).toBe(fine)
})
