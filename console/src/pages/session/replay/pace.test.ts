import { expect, test } from 'vitest'
import { nextPause } from './pace.ts'

const events = [0, 300, 10_000, 10_001, null].map((at, i) => ({
  seq: i + 1,
  at,
  event: { type: 'CUSTOM' as const, name: 'x', value: i },
}))

test('a pause is as long as it was, within limits', () => {
  expect([0, 1, 2, 3, 4].map((at) => nextPause(events, at, 1))).toEqual([16, 300, 1_000, 16, 16])
  expect(nextPause(events, 1, 2)).toBe(150)
})
