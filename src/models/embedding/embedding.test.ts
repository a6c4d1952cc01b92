import { expect, test } from 'vitest'
import { batchesOf } from './embedding.ts'

test('texts are sent in order, as many at a time as a request takes', () => {
  const most = { texts: 2, tokens: 10 }
  const long = 'x'.repeat(100)

  expect([...batchesOf(['a', 'b', 'c'], most)]).toEqual([['a', 'b'], ['c']])
  expect([...batchesOf(['a', long, 'b', 'c'], most)]).toEqual([['a'], [long], ['b', 'c']])
  expect([...batchesOf(['漢'.repeat(6), '漢'.repeat(4), '漢'], most)]).toEqual([
    ['漢'.repeat(6), '漢'.repeat(4)],
    ['漢'],
  ])
  expect([...batchesOf([], most)]).toEqual([])
})
