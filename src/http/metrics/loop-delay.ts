import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Clock } from '../../domain/clock.ts'

const RESOLUTION_MS = 20
/** Without readers the measuring ends: its timer wakes an idle process fifty times a second. */
const UNREAD_MS = 120_000
const NS = 1e6

export function createLoopDelay(clock: Pick<Clock, 'after'>) {
  let delay: ReturnType<typeof monitorEventLoopDelay> | null = null
  let cancel = (): void => {}

  function stop(): void {
    cancel()
    delay?.disable()
    delay = null
  }

  return {
    /** In milliseconds, since the read before this one. Measuring begins with the first read. */
    read() {
      cancel()
      cancel = clock.after(UNREAD_MS, stop)
      if (delay === null) {
        delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
        delay.enable()
        return { p50: 0, p99: 0, max: 0 }
      }
      const { count, max } = delay
      // Node measures the time between ticks, so even an idle loop shows the resolution.
      const late = (ns: number): number =>
        count === 0 ? 0 : Math.max(0, Math.round((ns / NS - RESOLUTION_MS) * 10) / 10)
      const found = { p50: late(delay.percentile(50)), p99: late(delay.percentile(99)), max: late(max) }
      delay.reset()
      return found
    },
    close: stop,
  }
}
