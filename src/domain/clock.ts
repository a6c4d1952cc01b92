/** Time as a port, so that tests and the fault simulator own it. */
export interface Clock {
  /** Wall clock in epoch milliseconds. May jump; never use it to measure a duration. */
  now(): number
  /** Monotonic milliseconds. Timeouts, grace times and limits are measured with this one. */
  mono(): number
  /** Calls `fire` once after `ms`; the returned function cancels it. Keeps the process alive only with `hold`. */
  after(ms: number, fire: () => void, hold?: boolean): () => void
  /** Calls `fire` as soon as what is running now has finished. */
  soon(fire: () => void): void
}

/** Waits `ms`, or less when the signal aborts; never rejects. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.after(ms, done)
    signal?.addEventListener('abort', done)
  })
}

export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    mono: () => performance.now(),
    after(ms, fire, hold = false) {
      const timer = setTimeout(fire, ms)
      if (!hold) timer.unref()
      return () => clearTimeout(timer)
    },
    soon: (fire) => void setImmediate(fire),
  }
}

/** UTC, ISO 8601 with milliseconds and `Z`: how every door prints a time. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
