import { expect, test } from 'vitest'
import { countFilters, writeFilters } from '../../data/list-filters.ts'
import { questionOf, readAuditFilters } from './audit-filters.ts'

const read = (query: string) => readAuditFilters(new URLSearchParams(query))

test('filters go into the address and come back', () => {
  const filters = read('kind=decision&by=ada&session=s1&since=2026-11-01&until=2026-11-02')
  expect(writeFilters(filters).toString()).toBe('kind=decision&by=ada&session=s1&since=2026-11-01&until=2026-11-02')
  expect(countFilters(filters)).toBe(5)
})

test('what is not a day is left out', () => {
  expect(countFilters(read('since=yesterday&until=2026-13-40'))).toBe(0)
})

test('an entry has an address of its own', () => {
  expect(questionOf(read('at=9990'))).toEqual({ before: '9991' })
  expect(countFilters(read('at=0'))).toBe(0)
  expect(countFilters(read('at=1e9'))).toBe(0)
})

test('a day reaches from its first moment to its last one', () => {
  const { since = '', until = '' } = questionOf(read('since=2026-11-01&until=2026-11-01'))
  expect(Date.parse(until) - Date.parse(since)).toBe(86_400_000 - 1)
  expect(questionOf(read('kind=all'))).toEqual({})
})

test('the trail opens on what people decided, and an address about one thing on everything', () => {
  expect(questionOf(read(''))).toEqual({ kind: expect.stringMatching(/^decision,.*grant_made/) })
  expect(questionOf(read('')).kind).not.toContain('operator_read')
  expect(questionOf(read('kind=shown'))).toEqual({ kind: 'shown' })
  expect(questionOf(read('session=s1'))).toEqual({ session: 's1' })
})
