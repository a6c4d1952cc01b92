import { expect, test } from 'vitest'
import { retryAfterSeconds } from './error-report.ts'

const now = Date.UTC(2026, 10, 15, 12, 0, 0)

test('retry-after may be seconds, milliseconds or a date, and nothing else', () => {
  expect(retryAfterSeconds({ 'retry-after': '7' }, now)).toBe(7)
  expect(retryAfterSeconds({ 'retry-after': '7', 'retry-after-ms': '250' }, now)).toBe(0.25)
  expect(retryAfterSeconds({ 'retry-after': 'Sun, 15 Nov 2026 12:00:30 GMT' }, now)).toBe(30)
  expect(retryAfterSeconds({ 'retry-after': 'Sun, 15 Nov 2026 11:00:00 GMT' }, now)).toBe(0)
  expect(retryAfterSeconds({ 'retry-after': 'soon' }, now)).toBeUndefined()
  expect(retryAfterSeconds({}, now)).toBeUndefined()
})
