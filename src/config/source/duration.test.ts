import { describe, expect, test } from 'vitest'
import { duration, secondsOf, spanOf } from './schema-key.ts'

describe('a time span', () => {
  test.each([
    [30, 30],
    [0.25, 0.25],
    ['300ms', 0.3],
    ['30s', 30],
    ['1.5m', 90],
    ['15 m', 900],
    ['2h', 7200],
    ['7d', 604_800],
  ])('%j means %d seconds', (written, seconds) => {
    expect(secondsOf(written)).toBe(seconds)
  })

  test.each([
    [1, '1s'],
    [90, '90s'],
    [900, '15m'],
    [5_400, '90m'],
    [604_800, '7d'],
  ])('%d seconds are written %s', (seconds, written) => {
    expect(spanOf(seconds)).toBe(written)
  })

  const positive = duration('', '30s')

  test.each([
    '',
    '30',
    '30 sec',
    '-1s',
    's',
    '1h30m',
    'forever',
    -1,
    0,
    '0s',
    Number.POSITIVE_INFINITY,
    '25d',
    null,
    true,
  ])('%j is refused if the time must be positive', (written) => {
    expect(positive.safeParse(written).success).toBe(false)
  })

  test('0 is accepted if it has a special meaning', () => {
    const zero = duration('', '30s', true)
    expect([zero.parse(0), zero.parse('0s'), zero.safeParse(-1).success]).toEqual([0, 0, false])
  })

  test('no accepted time span overflows a Node timer', () => {
    expect(positive.parse('24d') * 1000).toBeLessThan(2 ** 31)
  })
})
