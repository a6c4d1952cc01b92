import { expect, test } from 'vitest'
import { instantClock } from '../testing/test-io.ts'
import { onceWithin } from './once-within.ts'

test('what follows at once is the same, what comes later is another', () => {
  let now = 1000
  let heard = 0
  const call = onceWithin(500, { ...instantClock(), mono: () => now }, () => {
    heard += 1
  })
  const after = (ms: number) => {
    now += ms
    call()
    return heard
  }

  expect([after(0), after(3), after(499), after(500), after(1)]).toEqual([1, 1, 1, 2, 2])
})
