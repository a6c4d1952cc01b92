// The promises of the presence port. Every implementation runs this suite.

import { describe, expect, test } from 'vitest'
import type { Presence } from './presence.ts'

export interface PresenceUnderTest {
  /** Two ends of it, each in a process of its own. An implementation for one process gives the same one twice. */
  here: Presence
  there: Presence
  /** Lets time pass. */
  pass(ms: number): Promise<void>
}

const GRACE_MS = 10_000
/** Longer than news from another process take. */
const NEWS_MS = 1_500

export function describePresence(name: string, open: () => Promise<PresenceUnderTest>): void {
  /** A run that the first end attends to; `isAbandoned` says whether it was told that the readers have left. */
  async function openRun() {
    const opened = await open()
    let isAbandoned = false
    const detach = opened.here.attend({ sessionId: 'session', runId: 'run', graceMs: GRACE_MS }, () => {
      isAbandoned = true
    })
    return { ...opened, detach, isAbandoned: () => isAbandoned }
  }

  describe(`${name} presence`, () => {
    test.each(['here', 'there'] as const)('a reader that is %s keeps a run alive until it leaves', async (where) => {
      const { pass, isAbandoned, ...ends } = await openRun()
      const leave = ends[where].arrive('session', 'run')
      await pass(10 * GRACE_MS)
      expect(isAbandoned()).toBe(false)

      leave()
      await pass(GRACE_MS - 1)
      expect(isAbandoned()).toBe(false)
      await pass(1 + NEWS_MS)
      expect(isAbandoned()).toBe(true)
    })

    test('a run is abandoned only when the last reader has left', async () => {
      const { here, there, pass, isAbandoned } = await openRun()
      const [first, second] = [here.arrive('session', 'run'), there.arrive('session', 'run')]
      await pass(NEWS_MS)

      first()
      // Leaving a second time changes nothing.
      first()
      await pass(2 * GRACE_MS)
      expect(isAbandoned()).toBe(false)

      second()
      await pass(GRACE_MS + NEWS_MS)
      expect(isAbandoned()).toBe(true)
    })

    test('a reader that comes back within the grace time keeps the run alive', async () => {
      const { here, there, pass, isAbandoned } = await openRun()
      here.arrive('session', 'run')()
      await pass(GRACE_MS - NEWS_MS)

      there.arrive('session', 'run')
      await pass(2 * GRACE_MS)

      expect(isAbandoned()).toBe(false)
    })

    test('a reader of the whole session reads each of its runs', async () => {
      const { there, pass, isAbandoned } = await openRun()
      there.arrive('session')
      await pass(2 * GRACE_MS)

      expect(isAbandoned()).toBe(false)
    })

    test('readers of another run or session do not count', async () => {
      const { here, there, pass, isAbandoned } = await openRun()
      here.arrive('session', 'queued run')
      there.arrive('other session')
      await pass(GRACE_MS + NEWS_MS)

      expect(isAbandoned()).toBe(true)
    })

    test('a run that has ended is never abandoned', async () => {
      const { here, pass, detach, isAbandoned } = await openRun()
      const leave = here.arrive('session', 'run')
      detach()
      leave()
      await pass(2 * GRACE_MS)

      expect(isAbandoned()).toBe(false)
    })

    test.each(['here', 'there'] as const)(
      'a run whose reader (%s) has left is abandoned soon if it is hurried',
      async (where) => {
        const { pass, isAbandoned, ...ends } = await openRun()
        const leave = ends[where].arrive('session', 'run')
        await pass(2 * NEWS_MS)
        leave()
        ends.here.hurry('session', 'run')
        await pass(3 * NEWS_MS)

        expect(isAbandoned()).toBe(true)
      },
    )

    test('a reader that leaves just after the hurry has left too', async () => {
      const { here, pass, isAbandoned } = await openRun()
      const leave = here.arrive('session', 'run')
      here.hurry('session', 'run')
      await pass(100)
      leave()
      await pass(NEWS_MS)

      expect(isAbandoned()).toBe(true)
    })

    test('a reader that leaves later has the whole grace time to come back', async () => {
      const { here, pass, isAbandoned } = await openRun()
      const leave = here.arrive('session', 'run')
      here.hurry('session', 'run')
      await pass(NEWS_MS)
      leave()
      await pass(GRACE_MS - 1)

      expect(isAbandoned()).toBe(false)
    })

    test.each(['here', 'there'] as const)('a run that is read %s is not hurried', async (where) => {
      const { pass, isAbandoned, ...ends } = await openRun()
      const leave = ends.here.arrive('session', 'run')
      await pass(NEWS_MS)
      ends[where].arrive('session', 'run')
      leave()
      ends.here.hurry('session', 'run')
      await pass(2 * GRACE_MS)

      expect(isAbandoned()).toBe(false)
    })

    test('a run that nobody has read yet is not hurried', async () => {
      const { here, pass, isAbandoned } = await openRun()
      here.hurry('session', 'run')
      await pass(GRACE_MS - 1)

      expect(isAbandoned()).toBe(false)
    })

    test('a run without an end of its grace time is abandoned only if it is hurried', async () => {
      const { here, pass } = await open()
      let isAbandoned = false
      here.attend({ sessionId: 'session', runId: 'run', graceMs: Number.POSITIVE_INFINITY }, () => {
        isAbandoned = true
      })
      here.arrive('session', 'run')()
      await pass(100 * GRACE_MS)
      expect(isAbandoned).toBe(false)

      here.hurry('session', 'run')
      await pass(NEWS_MS)
      expect(isAbandoned).toBe(true)
    })

    test('knows how many readers its own process has', async () => {
      const { here } = await open()
      const leave = here.arrive('session', 'run')
      here.arrive('session')
      expect(here.readers).toBe(2)

      leave()
      expect(here.readers).toBe(1)
    })
  })
}
