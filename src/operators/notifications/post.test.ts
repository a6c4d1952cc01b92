import { expect, test } from 'vitest'
import { retryAfterMs } from './post.ts'

test.each([
  ['7', 7_000],
  [' 120 ', 120_000],
  ['Thu, 01 Jan 1970 00:01:00 GMT', 50_000],
  ['Thu, 01 Jan 1970 00:00:05 GMT', 0],
  ['soon', 0],
  ['-3', 0],
])('Retry-After %j is %i ms', (text, ms) => {
  expect(retryAfterMs(text, 10_000)).toBe(ms)
})
