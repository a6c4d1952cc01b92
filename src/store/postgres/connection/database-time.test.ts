import { expect, test } from 'vitest'
import { createManualClock } from '../../../http/testing/server-fixture.ts'
import type { Sql } from '../sql.ts'
import { createDatabaseTime } from './database-time.ts'

/** A database whose clock is set by hand. */
function openTime() {
  const clock = createManualClock()
  const state = { ahead: 0, jump: 0, writersMade: 1, asked: 0 }
  const reads: Sql = {
    async rows<Row extends readonly unknown[]>() {
      state.asked += 1
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
  return { clock, state, time: createDatabaseTime(database, own) }
}

test('the database is asked once, and again when its clock may have changed', async () => {
  const { clock, state, time } = openTime()
  state.ahead = 3_000
  expect([await time.offset(), await time.offset(), state.asked]).toEqual([3_000, 3_000, 1])

  // This machine's clock is set: that changes nothing over there.
  state.jump = -60_000
  expect([await time.offset(), state.asked]).toEqual([63_000, 1])

  // The database's clock is set. Nobody waits for the look that finds it.
  state.ahead = 8_000
  clock.advance(60_000)
  expect([await time.offset(), state.asked]).toEqual([63_000, 2])
  await expect.poll(() => time.offset()).toBe(68_000)
  expect(state.asked).toBe(2)

  state.ahead = 10_000
  const lead = await time.lead()
  expect([(await time.lead(true)) - lead, await time.offset(), state.asked]).toEqual([2_000, 70_000, 3])
})

test('a clock that is set while the database is asked does not spoil the answer', async () => {
  const { state, time } = openTime()
  state.ahead = 3_000
  const asked = time.offset()
  state.jump = -60_000
  expect([await asked, await time.offset()]).toEqual([63_000, 63_000])
})

test('after a failover to a server with another clock, leases of before are not over', async () => {
  const { clock, state, time } = openTime()
  expect([await time.offset(), await time.offsetForOthers()]).toEqual([0, 0])

  state.ahead = 10_000
  state.writersMade = 2
  expect([await time.offset(), await time.offsetForOthers()]).toEqual([10_000, 0])
  clock.advance(10_000)
  expect([await time.offset(), await time.offsetForOthers()]).toEqual([10_000, 10_000])

  // The same where this process follows the database's clock.
  state.ahead = 20_000
  state.jump = 10_000
  state.writersMade = 3
  expect([await time.offset(), await time.offsetForOthers()]).toEqual([10_000, 0])
  clock.advance(10_000)
  expect([await time.offset(), await time.offsetForOthers()]).toEqual([10_000, 10_000])

  state.ahead = 10_000
  state.writersMade = 4
  expect([await time.offset(), await time.offsetForOthers()]).toEqual([0, 0])
})
