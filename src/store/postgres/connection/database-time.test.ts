import { expect, test } from 'vitest'
import { createManualClock } from '../../../http/testing/server-fixture.ts'
import type { Sql } from '../sql.ts'
import { createDatabaseTime } from './database-time.ts'

const settle = () => new Promise((resolve) => setImmediate(resolve))

/** A database whose clock is set by hand. */
function openTime() {
  const clock = createManualClock()
  const state = { ahead: 0, jump: 0, writersMade: 1, asked: 0, takesMs: 0 }
  const reads: Sql = {
    async rows<Row extends readonly unknown[]>() {
      state.asked += 1
      clock.advance(state.takesMs)
      return [[clock.now() + state.ahead]] as unknown as Row[]
    },
  }
  const database = {
    reads,
    get writersMade() {
      return state.writersMade
    },
  }
  const own = { mono: clock.mono, now: () => clock.now() + state.jump }
  const time = createDatabaseTime(database, own)
  return {
    clock,
    state,
    time,
    /** As a server does it: it asks every second. */
    async pass(seconds: number) {
      for (let i = 0; i < seconds; i += 1) {
        clock.advance(1_000)
        await time.offset()
        await settle()
      }
    },
  }
}

test('the database is asked every few seconds, and a clock that is set over there counts when it has stayed so', async () => {
  const { state, time, pass } = openTime()
  state.ahead = 3_000
  expect([await time.offset(), await time.offset(), state.asked]).toEqual([3_000, 3_000, 1])

  // This machine's clock is set: that changes nothing over there.
  state.jump = -60_000
  expect([await time.offset(), state.asked]).toEqual([63_000, 1])

  state.ahead = 8_000
  await pass(15)
  expect([await time.offset(), state.asked]).toEqual([63_000, 4])
  await pass(5)
  expect([await time.offset(), state.asked]).toEqual([68_000, 5])
})

test.each([-60_000, 60_000])('a clock that is %i ms off for ten seconds misleads nobody', async (off) => {
  const { state, time, pass } = openTime()
  await pass(20)
  state.ahead = off
  // Also where the server asks at once, because it has a new connection.
  state.writersMade += 1
  await pass(10)
  expect(await time.offset()).toBe(0)
  // Somebody who was started meanwhile goes by it, and is not taken for dead.
  expect(await time.offsetForOthers()).toBe(Math.min(0, off))
  state.ahead = 0
  await pass(10)
  expect([await time.offset(), await time.offsetForOthers()]).toEqual([0, Math.min(0, off)])
  await pass(30)
  expect([await time.offset(), await time.offsetForOthers()]).toEqual([0, 0])
})

test('whoever was started while the clock was back has the time as soon as it is right', async () => {
  const { clock, state, time } = openTime()
  const machine = () => clock.now() - clock.mono()
  state.ahead = -60_000
  expect((await time.lead(false, machine())) - machine()).toBe(-60_000)
  state.ahead = 0
  clock.advance(5_000)
  await time.lead(false, machine())
  await settle()
  expect((await time.lead(false, machine())) - machine()).toBe(0)
})

test('an answer that took long is not a change of the clock', async () => {
  const { state, time, pass } = openTime()
  await pass(1)
  state.takesMs = 20_000
  await pass(30)
  expect([await time.offset(), await time.offsetForOthers()]).toEqual([0, 0])
})

test('a clock that is set while the database is asked does not spoil the answer', async () => {
  const { state, time } = openTime()
  state.ahead = 3_000
  const asked = time.offset()
  state.jump = -60_000
  expect([await asked, await time.offset()]).toEqual([63_000, 63_000])
})

test.each([10_000, -10_000])(
  'after a failover to a server whose clock is %i ms ahead, no lease is over too early',
  async (ahead) => {
    const { state, time, pass } = openTime()
    expect([await time.offset(), await time.offsetForOthers()]).toEqual([0, 0])
    const earlier = Math.min(0, ahead)

    state.ahead = ahead
    state.writersMade = 2
    // Others go by the new time before this process does, or after it.
    expect([await time.offset(), await time.offsetForOthers()]).toEqual([0, earlier])
    await pass(16)
    expect([await time.offset(), await time.offsetForOthers()]).toEqual([ahead, earlier])
    await pass(30)
    expect([await time.offset(), await time.offsetForOthers()]).toEqual([ahead, ahead])
  },
)
