import { expect, test } from 'vitest'
import { tookLetter, tookWithin } from './usage.ts'

test('a time is known to an eighth, whatever it is', () => {
  for (const ms of [60, 400, 1_000, 2_345, 30_000, 59_999, 600_000, 3_000_000]) {
    const found = tookWithin(tookLetter(ms), 0.5) ?? 0
    expect(Math.abs(found - ms) / ms).toBeLessThan(0.13)
  }
  expect([tookLetter(-5), tookLetter(0), tookLetter(50), tookLetter(51), tookLetter(1e12)]).toEqual([
    ...['A', 'A', 'A', 'B', 'z'],
  ])
})

test('half of the runs, and 95 of 100, ended within it', () => {
  const took = tookLetter(1_000).repeat(90) + tookLetter(20_000).repeat(10)
  expect(tookWithin(took, 0.5)).toBe(tookWithin(tookLetter(1_000), 0.5))
  expect(tookWithin(took, 0.9)).toBe(tookWithin(tookLetter(1_000), 0.5))
  expect(tookWithin(took, 0.95)).toBe(tookWithin(tookLetter(20_000), 0.5))
  expect(tookWithin('', 0.5)).toBe(null)
})
