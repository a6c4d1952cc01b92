import { expect, test } from 'vitest'
import { everyDay, readRange } from './usage-range.ts'

const now = Date.parse('2026-11-16T23:30:00Z')
const read = (query: string) => readRange(new URLSearchParams(query), now)

test('an address without a range means the last thirty days, and today is one of them', () => {
  expect(read('')).toEqual({ since: '30d', until: '', from: '2026-10-18', to: '2026-11-16', problem: null })
  expect(read('since=7d')).toEqual({ since: '7d', until: '', from: '2026-11-10', to: '2026-11-16', problem: null })
  expect(read('since=999d')).toMatchObject({ from: '2025-10-13', problem: null })
})

test('own days are checked before the server is asked', () => {
  expect(read('since=2026-11-01&until=2026-11-01')).toMatchObject({ from: '2026-11-01', problem: null })
  expect(read('since=2026-11-02&until=2026-11-01').problem).toBe('The first day is after the last one.')
  expect(read('since=2026-02-30&until=2026-03-01').problem).toBe('Choose two days.')
  expect(read('since=&until=2026-03-01').problem).toBe('Choose two days.')
  expect(read('since=2025-10-13&until=2026-11-16').problem).toBe(null)
  expect(read('since=2025-10-12&until=2026-11-16').problem).toBe('Choose at most 400 days.')
})

test('days on which nothing happened are filled in', () => {
  const rows = [{ key: '2026-02-28', runs: 2 }]
  const empty = (key: string) => ({ key, runs: 0 })
  expect(everyDay(rows, { from: '2026-02-27', to: '2026-03-01' }, empty)).toEqual([
    { key: '2026-02-27', runs: 0 },
    { key: '2026-02-28', runs: 2 },
    { key: '2026-03-01', runs: 0 },
  ])
})
