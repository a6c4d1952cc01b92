import type { Clock } from '../../domain/clock.ts'

/** Notices that somebody has been waited for too long. */
interface SilenceWatch {
  /** Aborts with the caller's signal, and when a wait took too long. */
  readonly signal: AbortSignal
  readonly timedOut: boolean
  /** A wait begins that may take `ms`. */
  wait(ms: number): void
  /** The wait is over. */
  pause(): void
  stop(): void
}

/**
 * The first wait begins at once. It is used per socket read, so it sets no timer each time: one timer looks now and then how
 * long the current wait has lasted.
 */
export function createSilenceWatch(clock: Clock, firstMs: number, outer: AbortSignal): SilenceWatch {
  const controller = new AbortController()
  let limit = firstMs
  let since = clock.mono()
  let waiting = true
  let timedOut = false
  let cancel = () => {}

  const look = () => {
    const left = waiting ? limit - (clock.mono() - since) : limit
    if (left > 0) {
      cancel = clock.after(left, look)
      return
    }
    timedOut = true
    controller.abort()
  }
  const abort = () => controller.abort()

  if (outer.aborted) abort()
  else outer.addEventListener('abort', abort)
  cancel = clock.after(limit, look)

  return {
    signal: controller.signal,
    get timedOut() {
      return timedOut
    },
    wait(ms) {
      since = clock.mono()
      waiting = true
      if (ms === limit) return
      limit = ms
      cancel()
      cancel = clock.after(ms, look)
    },
    pause() {
      waiting = false
    },
    stop() {
      cancel()
      outer.removeEventListener('abort', abort)
    },
  }
}
