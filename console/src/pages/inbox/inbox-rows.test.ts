import type { InboxItem } from 'quarterdeck/client'
import { describe, expect, test } from 'vitest'
import { groupTitle, rowsOf, takeList } from './inbox-rows.ts'

const item = (name: string, group: string | null = null): InboxItem =>
  ({ id: `id-${name}`, view: { title: name, group } }) as unknown as InboxItem
const items = (names: string): InboxItem[] => names.split('').map((name) => item(name))
const shown = (listed: ReturnType<typeof takeList>): string =>
  listed.map(({ item, isGone }) => (isGone ? `(${item.view.title})` : item.view.title)).join('')

describe('the rows of the inbox', () => {
  const list = takeList([], items('abcdef'), false)

  test('come in the server’s order, wherever new ones stand', () => {
    expect(shown(takeList(list, items('xabycdef'), false))).toBe('xabycdef')
  })

  test('keep what was decided in its place', () => {
    expect(shown(takeList(list, items('acdef'), false))).toBe('a(b)cdef')
    expect(shown(takeList(list, items('xdef'), false))).toBe('(a)(b)(c)xdef')
  })

  test('do not call something decided that more urgent things have pushed out of what was read', () => {
    expect(shown(takeList(list, items('xyabcd'), false))).toBe('xyabcd')
    expect(shown(takeList(list, items('xyabc'), true))).toBe('xyabc(d)(e)(f)')
  })

  test('an item that comes back is open again', () => {
    const gone = takeList(list, items('acdef'), false)
    expect(shown(takeList(gone, items('abcdef'), false))).toBe('abcdef')
  })

  test('show what is alike as one, in the place of the first, until it is decided', () => {
    const listed = takeList([], [item('a', 'g'), item('b'), item('c', 'g'), item('d', 'h')], true)
    const names = (rows: ReturnType<typeof rowsOf>) => rows.map((row) => row.items.map(({ view }) => view.title).join())
    expect(names(rowsOf(listed))).toEqual(['a,c', 'b', 'd'])
    const later = takeList(listed, [item('b'), item('c', 'g'), item('d', 'h')], true)
    expect(names(rowsOf(later))).toEqual(['a', 'b', 'c', 'd'])
    expect(groupTitle([item('npm test'), item('npm run lint')])).toBe('2 alike: npm test, npm run lint')
  })

  test('10,000 of them merge quickly', () => {
    const many = Array.from({ length: 10_000 }, (_, i) => item(String(i)))
    expect(takeList(takeList([], many, true), many.slice(1), true).length).toBe(10_000)
  })
})
