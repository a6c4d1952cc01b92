import { expect, test } from 'vitest'
import { createSteadyTime } from './steady-time.ts'

const MINUTE = 60_000

/** Both clocks by hand. */
function openClock() {
  const time = { wall: 1_800_000_000_000, mono: 5_000 }
  return {
    now: () => time.wall,
    mono: () => time.mono,
    pass(ms: number) {
      time.wall += ms
      time.mono += ms
    },
    jump(ms: number) {
      time.wall += ms
    },
  }
}

test('while nothing jumps it is the wall clock, to the second', () => {
  const clock = openClock()
  const steady = createSteadyTime(clock, 30 * MINUTE)

  clock.pass(90 * MINUTE + 123)

  expect(clock.now() - steady()).toBeLessThan(1_000)
})

test('a jump ahead is believed when it has stood for the window, and until then time passes as before', () => {
  const clock = openClock()
  const steady = createSteadyTime(clock, 30 * MINUTE)
  const began = steady()

  clock.jump(60 * MINUTE)
  expect(steady() - began).toBe(0)
  clock.pass(29 * MINUTE)
  expect(steady() - began).toBe(29 * MINUTE)
  clock.pass(MINUTE)
  expect(steady() - began).toBe(90 * MINUTE)
})

test('a jump back is believed at once, and so is the way back from a jump ahead', () => {
  const clock = openClock()
  const steady = createSteadyTime(clock, 30 * MINUTE)
  const began = steady()

  clock.jump(60 * MINUTE)
  steady()
  clock.jump(-90 * MINUTE)
  expect(steady() - began).toBe(-30 * MINUTE)
  clock.pass(30 * MINUTE)
  expect(steady() - began).toBe(0)
})
