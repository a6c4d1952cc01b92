import { expect, test } from 'vitest'
import { createSteadyTime } from './clock.ts'

const MINUTE = 60_000

/** Two clocks that are set by hand. */
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

test('steady time is the wall clock, to the second, while nothing jumps', () => {
  const clock = openClock()
  const steady = createSteadyTime(clock, 30 * MINUTE)

  clock.pass(90 * MINUTE + 123)

  expect(clock.now() - steady()).toBeLessThan(1_000)
})

test('a jump ahead counts after the window; until then, time passes as before', () => {
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

test('a jump back counts at once, also after a jump ahead', () => {
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

test('steady time has no fractions, as what is stored', () => {
  const clock = openClock()
  const steady = createSteadyTime(clock, 30 * MINUTE)

  clock.pass(0.7)

  expect(Number.isInteger(steady())).toBe(true)
})
