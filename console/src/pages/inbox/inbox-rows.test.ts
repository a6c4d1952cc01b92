import type { InboxItem } from 'quarterdeck/client'
import { describe, expect, test } from 'vitest'
import { fits, type InboxRows, NO_ROWS, takeFirstPage, takeNextPage, withoutGone } from './inbox-rows.ts'

/** An item that was asked at this second. */
function item(second: number): InboxItem {
  const created_at = new Date(second * 1_000).toISOString()
  const parts = {
    title: `Call ${second}`,
    agent: 'clerk',
    owner: 'ada',
    host: null,
    tool: 'send_mail',
    session_title: null,
    view: { title: 'send_mail', gist: 'to: bob' },
  }
  return { id: `id-${String(second).padStart(3, '0')}`, created_at, ...parts } as unknown as InboxItem
}
const page = (seconds: number[], next: string | null = null) => ({ items: seconds.map(item), next })
const shown = ({ rows, next }: InboxRows) => [
  ...rows.map((row) => `${row.item.title.slice(5)}${row.isGone ? ' gone' : ''}`),
  `next ${next}`,
]

describe('the rows of the inbox', () => {
  const two = takeNextPage(takeFirstPage(NO_ROWS, page([9, 8, 7], 'a')), page([6, 5, 4], 'b'))

  test('are the pages, one after the other', () => {
    expect(shown(two)).toEqual(['9', '8', '7', '6', '5', '4', 'next b'])
  })

  test('take new items in front and keep older pages', () => {
    expect(shown(takeFirstPage(two, page([10, 9, 8], 'c')))).toEqual(['10', '9', '8', '7', '6', '5', '4', 'next b'])
  })

  test('keep what was decided in its place', () => {
    expect(shown(takeFirstPage(two, page([9, 7, 6], 'c')))).toEqual(['9', '8 gone', '7', '6', '5', '4', 'next b'])
  })

  test('let go of what was decided when nobody looks, but not of the open one', () => {
    const list = takeFirstPage(two, page([9, 6, 5], 'c'))
    expect(shown(withoutGone(list, 'id-008'))).toEqual(['9', '8 gone', '6', '5', '4', 'next b'])
  })

  test('know that everything else is gone when the first page is also the last', () => {
    expect(shown(takeFirstPage(two, page([9])))).toEqual([
      '9',
      '8 gone',
      '7 gone',
      '6 gone',
      '5 gone',
      '4 gone',
      'next null',
    ])
  })

  test('begin anew if so much is new that something may be missing', () => {
    expect(shown(takeFirstPage(two, page([30, 29, 28], 'z')))).toEqual(['30', '29', '28', 'next z'])
  })

  test('are each there once, whatever the pages overlap', () => {
    expect(shown(takeNextPage(two, page([4, 3], null)))).toEqual(['9', '8', '7', '6', '5', '4', '3', 'next null'])
    expect(shown(takeFirstPage(two, page([9, 8, 7, 6, 5], 'q')))).toEqual(['9', '8', '7', '6', '5', '4', 'next b'])
  })

  test('an item that comes back is open again', () => {
    const gone = takeFirstPage(two, page([9, 7, 6], 'c'))
    expect(shown(takeFirstPage(gone, page([9, 8, 7], 'c')))).toEqual(['9', '8', '7', '6', '5', '4', 'next b'])
  })

  test('10,000 of them merge quickly', () => {
    const seconds = Array.from({ length: 10_000 }, (_, i) => 20_000 - i)
    const all = takeFirstPage(NO_ROWS, page(seconds))
    expect(takeFirstPage(all, page([20_001, ...seconds])).rows.length).toBe(10_001)
  })
})

test('a row is found by all words, in any of its names', () => {
  const row = { item: item(1), isGone: false }
  expect(fits(row, '')).toBe(true)
  expect(fits(row, 'ADA send')).toBe(true)
  expect(fits(row, 'ada eve')).toBe(false)
})

test('a row is found by what it shows', () => {
  const view = { title: 'Change src/two.ts', gist: '+1 −0' }
  const row = { item: { ...item(1), title: 'Safe!', view } as unknown as InboxItem, isGone: false }
  expect(['two.ts', '+1', 'safe', 'three.ts'].map((text) => fits(row, text))).toEqual([true, true, true, false])
})
