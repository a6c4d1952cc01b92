import type { Clock } from '../../../src/domain/clock.ts'

/** Time that stands still until it is told to go on, for tests of what a slow or failing disk does. */
export interface ManualClock extends Clock {
  /** Goes on by `ms`, fires what falls due in the order of time, and lets all that follows from it happen. */
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

/** Everything has happened that does not wait for time to pass. */
export const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
