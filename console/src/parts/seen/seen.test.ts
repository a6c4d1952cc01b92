import { expect, test } from 'vitest'
import { ALL_SEEN, allSeen, createSeenAccount, NOTHING_SEEN } from './seen.ts'

const parts = [
  { key: 'a', size: 9, isEnd: false },
  { key: 'b', size: 19, isEnd: false },
  { key: 'c', size: 9, isEnd: true },
]

test('everything counts once, by its size', () => {
  const account = createSeenAccount(parts)
  expect(account.current()).toEqual(NOTHING_SEEN)
  expect(account.add(['a', 'unknown'])).toBe(true)
  expect(account.add(['a'])).toBe(false)
  expect(account.current()).toEqual({ hasEnd: false, fraction: 0.25 })
  account.add(['b', 'c'])
  expect(account.current()).toEqual(ALL_SEEN)
})

test('a jump to the end has seen the end, but not everything', () => {
  const account = createSeenAccount(parts)
  account.add(['c'])
  expect(account.current()).toEqual({ hasEnd: true, fraction: 0.25 })
})

test('several things have been seen when each of them has', () => {
  expect(allSeen([ALL_SEEN, { hasEnd: true, fraction: 0.5 }])).toEqual({ hasEnd: true, fraction: 0.75 })
  expect(allSeen([ALL_SEEN, NOTHING_SEEN]).hasEnd).toBe(false)
  expect(allSeen([])).toEqual(ALL_SEEN)
})
