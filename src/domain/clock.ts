/** Time as a port, so that tests and the fault simulator can control it. */
export interface Clock {
  /** Wall clock in epoch milliseconds. It may jump, so never measure a duration with it. */
  now(): number
  /** Monotonic milliseconds, for timeouts, grace times and limits. */
  mono(): number
  /** Calls `fire` once after `ms`; the returned function cancels it. The timer keeps the process alive only with `hold`. */
  after(ms: number, fire: () => void, hold?: boolean): () => void
  /** Calls `fire` as soon as the current turn of the event loop has finished. */
  soon(fire: () => void): void
}

/** Waits `ms`, or until the signal aborts; never rejects. */
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

/** UTC, ISO 8601 with milliseconds and `Z`: the format that every door prints. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()

/**
 * Wall time that tells how long something stored has been idle. When the wall clock jumps ahead, the jump counts only after
 * `windowMs`: before that, things would look idle for longer than they were. A jump back counts at once. So a jump may delay what
 * is due, by `windowMs` at most, but never makes it due early.
 */
export function createSteadyTime(clock: Pick<Clock, 'now' | 'mono'>, windowMs: number): () => number {
  // How far the wall clock was ahead of the monotonic clock, and when. Each entry is later and larger than the one before.
  let leads: { at: number; ms: number }[] = []

  function steadyTime(): number {
    const at = clock.mono()
    // Whole seconds, because the two clocks drift apart a little, and that is not a jump.
    const ms = Math.floor((clock.now() - at) / 1_000) * 1_000
    leads = leads.filter((lead) => lead.ms < ms && lead.at > at - windowMs)
    leads.push({ at, ms })
    // The monotonic clock has fractions, and what is stored has none.
    return Math.floor(at) + (leads[0]?.ms ?? ms)
  }

  steadyTime()
  return steadyTime
}
