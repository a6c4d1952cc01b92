// A request that waits in the queue behind a run is not a reader of that run. The run stops when its own reader has left, whichever
// door the next request used: after the grace time if the agent says `queue`, otherwise at once.

import { expect, test } from 'vitest'
import { type Clock, createSystemClock } from '../../src/domain/clock.ts'
import { testAgent } from '../../src/engine/testing/open-engine.ts'
import { say } from './door-talk.ts'
import { agUiInput, allDoors, framesOf } from './doors.ts'
import { type House, openHouse } from './open-house.ts'
import { isShared } from './test-store.ts'

const GRACE_MS = 10_000
const patient = { timeout: 60_000 }

/** The system clock, on which the grace time after a reader has left ends when the test says so. */
function createClock(): Clock & { graceOver(): number } {
  const clock = createSystemClock()
  const graces = new Set<() => void>()
  return {
    ...clock,
    after(ms, fire, hold) {
      if (ms !== GRACE_MS) return clock.after(ms, fire, hold)
      graces.add(fire)
      return () => graces.delete(fire)
    },
    graceOver() {
      const over = [...graces]
      graces.clear()
      for (const fire of over) fire()
      return over.length
    },
  }
}

/** Begins a run that never ends, at AG-UI, and reads its first event. The returned function disconnects. */
async function hold(house: House, session: string): Promise<() => Promise<void>> {
  const reader = new AbortController()
  const response = await fetch(`${house.url}/`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(agUiInput({ session, message: 'hold' })),
    signal: reader.signal,
  })
  const frames = framesOf(response)
  await frames.next()
  return async () => {
    reader.abort()
    await frames.next().catch(() => {})
  }
}

test('a queued request, at any door, does not keep the run before it alive', { timeout: 300_000 }, async () => {
  const clock = createClock()
  // A store of several servers looks every second who has left, and no clock of a test turns that.
  const grace = isShared() ? { QUARTERDECK_LIMITS_DISCONNECT_GRACE: '1s' } : {}
  const sessions = { ...testAgent.sessions, onBusy: 'queue' as const }
  await using house = await openHouse([{ name: 'tester', sessions }], clock, {}, grace)

  for (const door of allDoors) {
    const { name } = door
    const leave = await hold(house, name)
    const { id } = await house.engine.sessions.get('local_user', name)
    const answer = say(door, house, { session: name, message: 'next' })
    await expect
      .poll(async () => (await house.engine.runs.open(id)).map(({ status }) => status), patient)
      .toEqual(['running', 'queued'])
    // On a busy machine the queued request may be counted late. Then one reader would not mean that the first one has left.
    await expect.poll(() => house.engine.stats().readers, patient).toBe(2)

    await leave()
    await expect.poll(() => house.engine.stats().readers, patient).toBe(1)
    if (!isShared()) await expect.poll(() => clock.graceOver(), patient).toBeGreaterThan(0)

    expect([name, await answer]).toEqual([name, 'tester: next'])
  }
})

test('a new message, at any door, stops a run whose reader has left', { timeout: 300_000 }, async () => {
  // On this clock the grace time never ends.
  await using house = await openHouse([{ name: 'tester' }], createClock())

  for (const door of allDoors) {
    const { name } = door
    const leave = await hold(house, name)
    await leave()
    await expect.poll(() => house.engine.stats().readers, patient).toBe(0)

    expect([name, await say(door, house, { session: name, message: 'next' })]).toEqual([name, 'tester: next'])
  }
})
