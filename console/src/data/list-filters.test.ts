import { expect, test } from 'vitest'
import { firstDayOf, momentsOf, readFilters } from './list-filters.ts'

const now = new Date(2026, 10, 2, 23, 59)

test('the last days begin where the reader is, and today is one of them', () => {
  expect(firstDayOf('1d', now)).toBe('2026-11-02')
  expect(firstDayOf('7d', now)).toBe('2026-10-27')
  expect(firstDayOf('2026-01-31', now)).toBe('2026-01-31')
})

test('an address may name the last days, and nothing else that is no day', () => {
  const read = (query: string) => readFilters(new URLSearchParams(query), ['since', 'until'])
  expect(read('since=30d&until=7d')).toEqual({ since: '30d', until: '' })
  expect(read('since=0d')).toEqual({ since: '', until: '' })
  expect(momentsOf({ since: '1d', until: '' })).toEqual({
    since: new Date(`${firstDayOf('1d')}T00:00:00`).toISOString(),
  })
})
