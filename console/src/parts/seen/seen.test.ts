import { expect, test } from 'vitest'
import { ALL_SEEN, allSeen, createLooks, createSeenAccount, NOTHING_SEEN } from './seen.ts'

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

test('a row counts when two looks, one after the other, find it on the screen', () => {
  const stayed = createLooks()
  // The end flashes by while the rows are measured.
  expect(stayed([0, 1, 2, 9])).toEqual([])
  expect(stayed([0, 1, 2])).toEqual([0, 1, 2])
  // It comes once more, again for one look: two looks with another one between them are not enough.
  expect(stayed([8, 9])).toEqual([])
  expect(stayed([1, 2])).toEqual([])
  expect(stayed([8, 9])).toEqual([])
  expect(stayed([7, 8, 9])).toEqual([8, 9])
})

test('an end that was on the screen for one look keeps the lock, and two looks open it', () => {
  const account = createSeenAccount(parts)
  const stayed = createLooks()
  const look = (...rows: number[]) => {
    account.add(stayed(rows).map((row) => parts[row]?.key ?? ''))
    return account.current()
  }
  expect(look(0, 1, 2)).toEqual(NOTHING_SEEN)
  expect(look(0, 1)).toEqual({ hasEnd: false, fraction: 0.75 })
  expect(look(2)).toEqual({ hasEnd: false, fraction: 0.75 })
  expect(look(2)).toEqual(ALL_SEEN)
})
