import { expect, test } from 'vitest'
import { PassingMap, PassingSet } from './passing.ts'

test('a map behaves like a Map, however much comes and goes', () => {
  const map = new PassingMap<number, string>()
  const real = new Map<number, string>()
  for (let i = 0; i < 1_000; i += 1) {
    map.set(i, `value ${i}`)
    real.set(i, `value ${i}`)
    if (i % 3 !== 0) expect(map.delete(i - 5)).toBe(real.delete(i - 5))
    expect(map.size).toBe(real.size)
  }

  expect([...map.keys()]).toEqual([...real.keys()])
  expect([...map.values()]).toEqual([...real.values()])
  expect([map.get(999), map.has(999), map.get(-1), map.has(-1)]).toEqual(['value 999', true, undefined, false])
  map.clear()
  expect(map.size).toBe(0)
})

test('a set that is walked shows what was there, also if all of it leaves meanwhile', () => {
  const set = new PassingSet<number>()
  for (let i = 0; i < 100; i += 1) set.add(i).add(i)
  expect(set.size).toBe(100)

  const seen: number[] = []
  for (const one of [...set]) {
    seen.push(one)
    set.delete(one)
  }

  expect([seen.length, set.size]).toEqual([100, 0])
})
