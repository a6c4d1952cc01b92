import { expect, test } from 'vitest'
import { type LogLine, recordingLogger } from '../domain/testing/recording-logger.ts'
import { createManualClock } from '../models/testing/manual-clock.ts'
import { createTeamClock } from './team-clock.ts'

test('the clock of a team has the time of the database, and follows it', async () => {
  const own = createManualClock(1_000_000)
  const clock = createTeamClock(own)
  const lines: LogLine[] = []
  let theirs = 30_400
  let isAway = false
  const difference = async () => {
    if (isAway) throw new Error('away')
    return theirs
  }
  expect(clock.now()).toBe(1_000_000)

  const end = await clock.follow(() => difference, recordingLogger(lines))
  expect([clock.now(), clock.mono()]).toEqual([1_030_400, 0])
  isAway = true
  await own.advance(5_000)
  expect(clock.now()).toBe(1_035_400)
  isAway = false
  theirs = -40_000
  await own.advance(1_000)
  expect(clock.now()).toBe(966_000)
  // Less than a second is no difference.
  theirs = 900
  await own.advance(1_000)
  expect(clock.now()).toBe(1_007_000)
  expect(lines.map(({ fields }) => fields.behind_ms)).toEqual([30_400, -40_000, 0])

  end()
  theirs = 60_000
  await own.advance(5_000)
  expect([clock.now(), own.pending]).toEqual([1_012_000, 0])
})
