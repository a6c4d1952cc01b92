import type { Clock } from '../../../src/domain/clock.ts'

/** A clock that a test moves by hand, for tests of slow and failing disks. */
export interface ManualClock extends Clock {
  /** Moves on by `ms`, fires the timers that are due in order, and waits for everything that follows from them. */
  advance(ms: number): Promise<void>
}

export function createManualClock(start: number): ManualClock {
  let elapsed = 0
  const timers = new Set<{ at: number; fire: () => void }>()

  return {
    now: () => start + elapsed,
    mono: () => elapsed,
    after(ms, fire) {
      const timer = { at: elapsed + ms, fire }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    soon: (fire) => void setImmediate(fire),
    async advance(ms) {
      const end = elapsed + ms
      for (;;) {
        const next = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
        if (next === undefined) break
        timers.delete(next)
        elapsed = Math.max(elapsed, next.at)
        next.fire()
        await settled()
      }
      elapsed = end
      await settled()
    },
  }
}

/** Waits until everything has happened that does not wait for a timer. */
export const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
