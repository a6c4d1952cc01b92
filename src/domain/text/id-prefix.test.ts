import { expect, test } from 'vitest'
import { createIds } from '../ids.ts'
import { matchingIds, shortIds } from './id-prefix.ts'

const ids = ['019a1111-2222-7000', '019a1111-2223-7000', '019b0000-0000-7000', '019b']

const matching = (given: string) => matchingIds(ids, given, (id) => id)

test('an id is found by its first characters, in any case and without its dashes', () => {
  expect(matching('019A1111')).toEqual([ids[0], ids[1]])
  expect(matching('019a11112223')).toEqual([ids[1]])
  expect(matching('019a1111-2223')).toEqual([ids[1]])
  expect(matching('7')).toEqual([])
  expect(matching('-')).toEqual([])
})

test('a whole id means only itself, although another one begins with it', () => {
  expect(matching('019b')).toEqual(['019b'])
})

test('an id is found by its end, from four characters on', () => {
  expect(matching('2-7000')).toEqual([ids[0]])
  expect(matching('7000')).toEqual([ids[0], ids[1], ids[2]])
  expect(matching('000')).toEqual([])
})

test('a short id has four characters and means only its own id', () => {
  const now = () => 1_794_700_800_000
  const { uuid } = createIds(now)
  const all = Array.from({ length: 500 }, uuid)
  // As good as never in a list that a person reads: all of them end like another one.
  const alike = all.map((id, n) => `${id.slice(0, -4)}${(n % 50).toString(16).padStart(4, '0')}`)
  for (const list of [all, alike]) {
    const short = shortIds(list)
    expect(new Set(short.values()).size).toBe(list.length)
    for (const id of list) {
      const shown = short.get(id) ?? ''
      expect([shown.length, matchingIds(list, shown.toUpperCase(), (one) => one)]).toEqual([4, [id]])
    }
  }
})

test('four characters that two ids end with mean neither of them', () => {
  const two = ['019a1111-2222-7000-8000-00000000abcd', '019a1111-2222-7000-8000-11111111abcd']
  expect([...shortIds(two).values()]).toEqual(['0abc', '1abc'])
  expect(matchingIds(two, 'abcd', (id) => id)).toEqual(two)
})

test('an id without four characters to itself is shown whole', () => {
  expect([...shortIds(['x', '12345', '12345', '1111-11', '1111111'])]).toEqual([
    ['1111-11', '1111-11'],
    ['1111111', '1111111'],
    ['12345', '2345'],
    ['x', 'x'],
  ])
})
