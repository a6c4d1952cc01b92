import { describe, expect, test } from 'vitest'
import { createManualClock } from '../testing/server-fixture.ts'
import { createWindowCounter } from './usage-limits.ts'

describe('window counter', () => {
  test('allows a key up to its limit, then says how long to wait, then starts again', () => {
    const clock = createManualClock()
    const counter = createWindowCounter({ limit: 2, windowMs: 60_000, clock })

    counter.hit('a')
    expect(counter.waitFor('a')).toBeNull()
    counter.hit('a')
    expect(counter.waitFor('a')).toBe(60)
    expect(counter.waitFor('b')).toBeNull()
    clock.advance(59_500)
    expect(counter.waitFor('a')).toBe(1)
    clock.advance(500)
    expect(counter.waitFor('a')).toBeNull()
  })

  test('forgets the oldest key when there are too many', () => {
    const counter = createWindowCounter({ limit: 1, windowMs: 60_000, clock: createManualClock(), maxKeys: 2 })

    for (const key of ['a', 'b', 'c']) counter.hit(key)

    expect(['a', 'b', 'c'].map((key) => counter.waitFor(key))).toEqual([null, 60, 60])
  })
})
