import { expect, test } from 'vitest'
import { writeFilters } from '../../data/list-filters.ts'
import { countSessionFilters, noFilters, questionOf, readSessionFilters } from './session-filters.ts'

test('filters survive the way through the address', () => {
  const filters = {
    ...noFilters,
    q: 'a "b c" & ü',
    agent: 'assistant',
    status: 'waiting',
    since: '2026-11-01',
    until: '2026-11-16',
  }

  expect(readSessionFilters(new URLSearchParams(writeFilters(filters).toString()))).toEqual(filters)
})

test('what is empty or not a day filters nothing', () => {
  expect(readSessionFilters(new URLSearchParams('owner=&since=yesterday&until=2026-99-99'))).toEqual(noFilters)
  expect(writeFilters(noFilters).toString()).toBe('')
})

test('an address may say state', () => {
  expect(readSessionFilters(new URLSearchParams('state=failed'))).toEqual({ ...noFilters, status: 'failed' })
})

test('words and the order do not count as a filter', () => {
  expect(countSessionFilters({ ...noFilters, q: 'x', sort: 'tokens' })).toBe(0)
  expect(countSessionFilters({ ...noFilters, kind: 'chat', owner: 'ada' })).toBe(2)
})

test('the server is asked for everybody’s sessions, and for whole days', () => {
  const { owner, since, until } = questionOf({ ...noFilters, since: '2026-11-16', until: '2026-11-16' })

  expect(owner).toBe('*')
  expect(Date.parse(until ?? '') - Date.parse(since ?? '')).toBe(86_400_000 - 1)
})
