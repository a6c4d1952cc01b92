import { expect, test } from 'vitest'
import { localTime } from './terminal-text.ts'

test.each([
  ['UTC', '2026-11-15 09:04:10'],
  ['Asia/Kolkata', '2026-11-15 14:34:10'],
  ['America/Los_Angeles', '2026-11-15 01:04:10'],
])('a time in %s', (zone, shown) => {
  expect(localTime('2026-11-15T09:04:10.125Z', zone)).toBe(shown)
  expect(localTime(Date.UTC(2026, 10, 15, 9, 4, 10), zone)).toBe(shown)
})

test('midnight begins a day, and summer time counts', () => {
  expect(localTime('2026-11-15T23:00:00Z', 'Europe/Berlin')).toBe('2026-11-16 00:00:00')
  expect(localTime('2026-07-15T23:00:00Z', 'Europe/Berlin')).toBe('2026-07-16 01:00:00')
})

test('what is not a time is a question mark', () => {
  expect(localTime('yesterday')).toBe('?')
})
