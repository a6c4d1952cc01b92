import { expect, onTestFinished, test } from 'vitest'
import type { Clock } from '../domain/clock.ts'
import { type LogLine, recordingLogger } from '../domain/testing/recording-logger.ts'
import { createManualClock } from '../models/testing/manual-clock.ts'
import { createDatabaseTime } from '../store/postgres/connection/database-time.ts'
import type { Sql } from '../store/postgres/sql.ts'
import { createReplicaClock } from './replica-clock.ts'

/** A machine and a database, each with a clock that is set by hand. */
function openTeam() {
  const running = createManualClock(1_000_000)
  const state = { machine: 0, database: 0, isAway: false, asked: 0 }
  const own: Clock = { ...running, now: () => running.now() + state.machine }
  const clock = createReplicaClock(own)
  const reads: Sql = {
    async rows<Row extends readonly unknown[]>() {
      state.asked += 1
      if (state.isAway) throw new Error('away')
      return [[running.now() + state.database]] as unknown as Row[]
    },
  }
  const time = createDatabaseTime({ reads, writersMade: 1 }, clock)
  const lines: LogLine[] = []
  return {
    running,
    state,
    clock,
    time,
    behind: () => lines.map(({ fields }) => fields.behind_ms),
    async follow() {
      const end = await clock.follow(time.lead, recordingLogger(lines))
      onTestFinished(end)
      return end
    },
  }
}

test('the clock of a team has the time of the database, and follows it', async () => {
  const { running, state, clock, follow, behind } = openTeam()
  state.database = 30_400
  expect(clock.now()).toBe(1_000_000)

  const end = await follow()
  expect([clock.now(), clock.mono(), state.asked]).toEqual([1_030_400, 0, 1])
  await running.advance(4_000)
  expect([clock.now(), state.asked]).toEqual([1_034_400, 1])

  // Not at once: it may soon be right again.
  state.database = -40_000
  await running.advance(10_000)
  expect(clock.now()).toBe(1_044_400)
  await running.advance(50_000)
  expect(clock.now()).toBe(1_024_000)
  // Less than a second is no difference.
  state.database = -40_900
  await running.advance(60_000)
  expect(clock.now()).toBe(1_084_000)
  expect(behind()).toEqual([30_400, -40_000])

  end()
  state.database = 60_000
  await running.advance(120_000)
  expect([clock.now(), running.pending]).toEqual([1_204_000, 0])
})

test('nobody notices when the clock of a machine of the team is set', async () => {
  const { running, state, clock, time, follow, behind } = openTeam()
  state.machine = 300
  await follow()
  expect(clock.now()).toBe(1_000_300)

  state.machine = 7_200_000
  expect([clock.now(), await time.offset()]).toEqual([1_000_300, -300])
  await running.advance(10_000)
  expect([clock.now(), await time.offset()]).toEqual([1_010_300, -300])
  // Also while the database is away.
  state.isAway = true
  state.machine = -3_600_000
  await running.advance(10_000)
  expect([clock.now(), await time.offset()]).toEqual([1_020_300, -300])
  state.isAway = false
  state.machine = 0
  await running.advance(10_000)
  expect([clock.now(), await time.offset(), behind()]).toEqual([1_030_300, -300, [-7_200_000, 0]])
})

test('a machine that has slept has the time again within a second', async () => {
  const { running, state, clock, time, follow, behind } = openTeam()
  await follow()
  const HOUR = 3_600_000
  // Monotonic time stood still.
  state.machine = HOUR
  state.database = HOUR
  await running.advance(1_000)
  expect([clock.now(), await time.offset(), state.asked]).toEqual([1_001_000 + HOUR, 0, 2])
  // What others wrote before counts by what this process knew then.
  expect([await time.offsetForOthers(), behind()]).toEqual([-HOUR, []])
})
