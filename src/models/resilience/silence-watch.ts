import type { Clock } from '../../domain/clock.ts'

/** Aborts when a wait takes too long. */
interface SilenceWatch {
  /** Aborts with the caller's signal, and when a wait takes too long. */
  readonly signal: AbortSignal
  readonly timedOut: boolean
  /** Begins a wait that may take `ms`. */
  wait(ms: number): void
  /** Ends the wait. */
  pause(): void
  stop(): void
}

/**
 * The first wait begins at once. `wait` is called for every read of a socket, so it sets no timer each time: one timer checks now and
 * then how long the current wait has lasted.
 */
export function createSilenceWatch(clock: Clock, firstMs: number, outer: AbortSignal): SilenceWatch {
  const controller = new AbortController()
  let limit = firstMs
  let since = clock.mono()
  let waiting = true
  let timedOut = false
  let cancel = () => {}

  const check = () => {
    const left = waiting ? limit - (clock.mono() - since) : limit
    if (left > 0) {
      cancel = clock.after(left, check)
      return
    }
    timedOut = true
    controller.abort()
  }
  const abort = () => controller.abort()

  if (outer.aborted) abort()
  else outer.addEventListener('abort', abort)
  cancel = clock.after(limit, check)

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
      cancel = clock.after(ms, check)
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
