import { expect, test } from 'vitest'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { describePresence } from './presence.contract.ts'
import { createLocalPresence } from './presence.ts'

describePresence('local', async () => {
  const clock = createManualClock()
  const presence = createLocalPresence(clock)
  return { here: presence, there: presence, pass: clock.advance }
})

test('without a grace time, the door that started a run still has five seconds to begin reading it', async () => {
  const clock = createManualClock()
  const presence = createLocalPresence(clock)
  let isAbandoned = false
  presence.attend({ sessionId: 'session', runId: 'run', graceMs: 0 }, () => {
    isAbandoned = true
  })

  await clock.advance(4_999)
  expect(isAbandoned).toBe(false)
  await clock.advance(1)
  expect(isAbandoned).toBe(true)
})

test('a session costs nothing when its readers and runs are gone', async () => {
  const clock = createManualClock()
  const presence = createLocalPresence(clock)
  const detach = presence.attend({ sessionId: 'session', runId: 'run', graceMs: 1_000 }, () => {})
  presence.arrive('session', 'run')()
  detach()

  expect(clock.pending).toBe(0)
})
