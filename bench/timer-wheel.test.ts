import { expect, test } from 'vitest'
import { createTimerWheel } from './timer-wheel.ts'

/** A clock that the test moves. It turns the wheel late, as a busy event loop would. */
function createHandClock() {
  let now = 0.4
  let turn: (() => void) | null = null
  const wheel = createTimerWheel(
    () => now,
    (callback) => {
      turn = callback
      return () => {
        turn = null
      }
    },
  )
  return {
    wheel,
    pass(ms: number) {
      now += ms
      turn?.()
    },
    ticking: () => turn !== null,
    now: () => Math.floor(now),
  }
}

test('fires at its rate until it returns false, and stops ticking when nothing is left', () => {
  const clock = createHandClock()
  const times: number[] = []
  clock.wheel.every(2.5, () => times.push(clock.now()) < 5)

  for (let ms = 0; ms < 30; ms += 1) clock.pass(1)

  expect(times).toEqual([3, 6, 8, 11, 13])
  expect(clock.ticking()).toBe(false)
})

test('makes up for late turns, even after more than a round of the wheel', () => {
  const clock = createHandClock()
  let fired = 0
  clock.wheel.every(100, () => {
    fired += 1
    return true
  })

  clock.pass(350)
  expect(fired).toBe(3)
  clock.pass(5000)
  for (let ms = 0; ms < 100; ms += 1) clock.pass(1)
  expect(fired).toBe(54)
})

test('refuses an interval that is too long', () => {
  expect(() => createHandClock().wheel.every(1500, () => true)).toThrow(
    'an interval of 1 to 1000 ms is possible, not 1500',
  )
})
