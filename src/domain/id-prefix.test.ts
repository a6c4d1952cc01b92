import { expect, test } from 'vitest'
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

test('a short id is unique, has at least eight characters and does not end with a dash', () => {
  expect([...shortIds([...ids, '019b0000-0000-7000'])]).toEqual([
    ['019a1111-2222-7000', '019a1111-2222'],
    ['019a1111-2223-7000', '019a1111-2223'],
    ['019b', '019b'],
    ['019b0000-0000-7000', '019b0000'],
  ])
  expect([...shortIds(['12345678-a', '12345678-b', 'x'])].map(([, short]) => short)).toEqual([
    '12345678-a',
    '12345678-b',
    'x',
  ])
  expect(shortIds(['12345678a', '12345678-']).get('12345678-')).toBe('12345678-')
})
