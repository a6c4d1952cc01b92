import { expect, test } from 'vitest'
import { isFiltered, questionOf, readFilters, writeFilters } from './audit-filters.ts'

const read = (query: string) => readFilters(new URLSearchParams(query))

test('filters go into the address and come back', () => {
  const filters = read('kind=decision&by=ada&session=s1&since=2026-11-01&until=2026-11-02')
  expect(writeFilters(filters).toString()).toBe('kind=decision&by=ada&session=s1&since=2026-11-01&until=2026-11-02')
  expect(isFiltered(filters)).toBe(true)
})

test('what is no day is left out', () => {
  expect(isFiltered(read('since=yesterday&until=2026-13-40'))).toBe(false)
})

test('an entry has an address of its own', () => {
  expect(questionOf(read('at=9990'))).toEqual({ before: '9991' })
  expect(isFiltered(read('at=0'))).toBe(false)
  expect(isFiltered(read('at=1e9'))).toBe(false)
})

test('a day reaches from its first moment to its last one', () => {
  const { since = '', until = '' } = questionOf(read('since=2026-11-01&until=2026-11-01'))
  expect(Date.parse(until) - Date.parse(since)).toBe(86_400_000 - 1)
  expect(questionOf(read(''))).toEqual({})
})
