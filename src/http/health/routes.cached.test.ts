import { describe, expect, test } from 'vitest'
import { createManualClock } from '../testing/server-fixture.ts'
import { createCached } from './routes.ts'

describe('cached value', () => {
  test('loads once while the value is fresh, then again', async () => {
    const clock = createManualClock()
    let loads = 0
    const cached = createCached(async () => ++loads, { clock, maxAgeMs: 5_000 })

    expect(await Promise.all([cached.read(20), cached.read(20)])).toEqual([1, 1])
    clock.advance(4_999)
    expect(await cached.read(20)).toBe(1)
    clock.advance(1)
    expect(await cached.read(20)).toBe(2)
  })

  test('returns the last value if the next one takes too long, and the next one once it is there', async () => {
    const clock = createManualClock()
    const slow = Promise.withResolvers<string>()
    const loads = [Promise.resolve('old'), slow.promise]
    const cached = createCached(() => loads.shift() ?? Promise.reject(new Error('loaded too often')), {
      clock,
      maxAgeMs: 5_000,
    })
    await cached.read(20)
    clock.advance(5_000)

    const early = cached.read(20)
    clock.advance(20)
    expect(await early).toBe('old')
    const late = cached.read(20)
    slow.resolve('new')
    expect(await late).toBe('new')
  })

  test('waits longer for the first value than for later ones', async () => {
    const clock = createManualClock()
    const first = Promise.withResolvers<string>()
    const loads = [first.promise, new Promise<string>(() => {})]
    const cached = createCached(() => loads.shift() ?? Promise.reject(new Error('loaded too often')), {
      clock,
      maxAgeMs: 5_000,
    })

    const early = cached.read(20, 1_000)
    clock.advance(999)
    first.resolve('first')
    expect(await early).toBe('first')
    clock.advance(5_000)
    const late = cached.read(20, 1_000)
    clock.advance(20)
    expect(await late).toBe('first')
  })

  test('keeps the last value when loading fails', async () => {
    const clock = createManualClock()
    const loads = [Promise.resolve('old'), Promise.reject(new Error('down'))]
    loads[1]?.catch(() => {})
    const cached = createCached(() => loads.shift() ?? Promise.resolve('new'), { clock, maxAgeMs: 5_000 })
    await cached.read(20)
    clock.advance(5_000)

    expect(await cached.read(20)).toBe('old')
  })
})
