// The promises of the wake port. Every implementation runs this suite.

import { describe, expect, test } from 'vitest'
import type { Topic, Wake } from './wake.ts'

export interface WakeUnderTest {
  /** Two ends of it, each in a process of its own. Where it knows one process only, they are the same. */
  here: Wake
  there: Wake
  /** Lets time pass, and what was sent in it arrive. */
  pass(ms: number): Promise<void>
}

/** `open` gives one that polls every second. */
export function describeWake(name: string, open: () => Promise<WakeUnderTest>): void {
  /** Long enough for a wake to arrive, and too short for polling. */
  const SOON_MS = 100

  function join(wake: Wake, topic: Topic) {
    const looks: (string | null)[] = []
    const member = wake.join(topic, (sessionId) => void looks.push(sessionId))
    /** Where it was told to look by now; the same place may be named more than once. */
    return { ...member, looks: () => [...new Set(looks)] }
  }

  describe(`${name} wake`, () => {
    test('tells everybody else who waits for the topic where to look, here and elsewhere', async () => {
      const { here, there, pass } = await open()
      const sender = join(here, 'entries')
      const others = [join(here, 'entries'), join(there, 'entries')]

      sender.notify('session-1')
      sender.notify('session-2')
      await pass(SOON_MS)

      expect(others.map((other) => other.looks())).toEqual([
        ['session-1', 'session-2'],
        ['session-1', 'session-2'],
      ])
    })

    test('does not wake whoever says it, nor those who wait for another topic', async () => {
      const { here, there, pass } = await open()
      const sender = join(here, 'entries')
      const others = [join(here, 'runs'), join(there, 'runs')]

      sender.notify('session')
      await pass(SOON_MS)

      expect([sender, ...others].map((one) => one.looks())).toEqual([[], [], []])
    })

    test('wakes nobody before the one who says it has gone on', async () => {
      const { here, there, pass } = await open()
      const sender = join(here, 'runs')
      const others = [join(here, 'runs'), join(there, 'runs')]

      sender.notify('session')
      const atOnce = others.map((other) => other.looks())
      await pass(SOON_MS)

      expect(atOnce).toEqual([[], []])
      expect(others.map((other) => other.looks())).toEqual([['session'], ['session']])
    })

    test('wakes each time anew', async () => {
      const { here, there, pass } = await open()
      const sender = join(here, 'runs')
      let looks = 0
      there.join('runs', () => {
        looks += 1
      })

      for (const times of [1, 2, 3]) {
        sender.notify('session')
        await pass(SOON_MS)
        expect(looks).toBe(times)
      }
    })

    test('does not wake who has left, not even for what was said before', async () => {
      const { here, there, pass } = await open()
      const sender = join(here, 'entries')
      const leavers = [join(here, 'entries'), join(there, 'entries')]

      sender.notify('session')
      for (const leaver of leavers) leaver.leave()
      await pass(SOON_MS)
      sender.notify('session')
      await pass(5_000)

      expect(leavers.map((leaver) => leaver.looks())).toEqual([[], []])
    })

    test('lets a member leave while it is told', async () => {
      const { here, there, pass } = await open()
      const sender = join(here, 'entries')
      const looks: (string | null)[] = []
      const leaver = there.join('entries', (sessionId) => {
        looks.push(sessionId)
        leaver.leave()
      })

      sender.notify('session-1')
      sender.notify('session-2')
      await pass(5_000)

      expect(looks).toEqual(['session-1'])
    })

    test('makes everybody look at everything at least once a second, so that a lost wake is a delay', async () => {
      const { here, there, pass } = await open()
      let looks = 0
      here.join('runs', (sessionId) => {
        if (sessionId === null) looks += 1
      })
      const others = [join(here, 'entries'), join(there, 'runs')]

      await pass(1_000)
      expect([looks, ...others.map((other) => other.looks())]).toEqual([1, [null], [null]])
      await pass(3_000)
      expect(looks).toBe(4)
    })
  })
}
