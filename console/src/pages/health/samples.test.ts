import type { Stats } from 'quarterdeck/client'
import { expect, test } from 'vitest'
import { HOUR_MS, type Sample, sparkPath, withSample } from './samples.ts'

const sample = (at: number): Sample => ({ at, stats: { at: new Date(at).toISOString() } as Stats })
const box = { width: 100, height: 20, until: 1_000, spanMs: 1_000, gapMs: 300 }

test('samples are kept for an hour', () => {
  const old = withSample([], sample(0))
  expect(withSample(old, sample(HOUR_MS - 1)).map(({ at }) => at)).toEqual([0, HOUR_MS - 1])
  expect(withSample(old, sample(HOUR_MS)).map(({ at }) => at)).toEqual([HOUR_MS])
})

test('the same answer is one sample, also if it is read twice', () => {
  const { stats } = sample(0)
  expect(withSample([{ at: 0, stats }], { at: 5, stats })).toHaveLength(1)
})

test('the line reaches from zero to the highest value', () => {
  const points = [
    { at: 500, value: 0 },
    { at: 750, value: 10 },
    { at: 1_000, value: 5 },
  ]
  expect(sparkPath(points, box)).toBe('M50 20h0L75 0L100 10')
})

test('where nothing was measured the line has a gap', () => {
  const points = [
    { at: 0, value: 4 },
    { at: 200, value: 4 },
    { at: 900, value: 4 },
  ]
  expect(sparkPath(points, box)).toBe('M0 0h0L20 0M90 0h0')
})

test('zeros lie on the ground, old points are left out, and no points are no path', () => {
  expect(sparkPath([{ at: 1_000, value: 0 }], box)).toBe('M100 20h0')
  expect(sparkPath([{ at: -1, value: 1 }], box)).toBe('')
  expect(sparkPath([], box)).toBe('')
})
