import { expect, test } from 'vitest'
import { oncePerKeypress } from './once-per-keypress.ts'
import { instantClock } from './testing/test-io.ts'

test('what npm passes on is the same Ctrl-C, what comes later is another', () => {
  let now = 1000
  let heard = 0
  const interrupt = oncePerKeypress({ ...instantClock(), mono: () => now }, () => {
    heard += 1
  })
  const after = (ms: number) => {
    now += ms
    interrupt()
    return heard
  }

  expect([after(0), after(3), after(499), after(500), after(1)]).toEqual([1, 1, 1, 2, 2])
})
