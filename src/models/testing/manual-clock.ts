import type { Clock } from '../../domain/clock.ts'

export interface ManualClock extends Clock {
  /** Moves time forward and fires the timers that are due, in order. What one timer starts runs before the next one fires. */
  advance(ms: number): Promise<void>
  /** How many timers are set and not yet due. */
  readonly pending: number
}

/** A clock for tests. Its time moves only with `advance`. */
export function createManualClock(start = Date.UTC(2026, 10, 15)): ManualClock {
  let elapsed = 0
  const timers = new Set<{ at: number; fire: () => void }>()
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
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
      const until = elapsed + ms
      await settle()
      for (;;) {
        const [due] = [...timers].filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)
        if (due === undefined) break
        timers.delete(due)
        elapsed = Math.max(elapsed, due.at)
        due.fire()
        await settle()
      }
      elapsed = until
      await settle()
    },
    get pending() {
      return timers.size
    },
  }
}
