import { type Clock, sleep } from '../domain/clock.ts'
import type { Logger } from '../domain/logger.ts'

/**
 * The clock of a process that shares its store. Its wall time is the database's as soon as `follow` resolves, so that what one process
 * writes has not expired, or lies in the future, for another one whose clock differs.
 */
export interface TeamClock extends Clock {
  /**
   * `difference` says by how many milliseconds the given clock is behind the database's. It is asked every second, and must be cheap.
   * The returned function ends it.
   */
  follow(difference: (own: Clock) => () => Promise<number>, log: Logger): Promise<() => void>
}

const LOOK_MS = 1_000
/** Clocks that are kept in time differ by less, and a delay of the network looks like it. */
const SMALL_MS = 1_000

export function createTeamClock(own: Clock): TeamClock {
  let behind = 0

  function set(ms: number, log: Logger): void {
    const next = Math.abs(ms) < SMALL_MS ? 0 : Math.round(ms)
    if (Math.abs(next - behind) >= SMALL_MS) {
      const now = next === 0 ? 'is right again' : 'differs from the database’s: its time is used here'
      log.warn(`the clock of this machine ${now}`, { behind_ms: next })
    }
    behind = next
  }

  return {
    now: () => own.now() + behind,
    mono: () => own.mono(),
    after: (ms, fire, hold) => own.after(ms, fire, hold),
    soon: (fire) => own.soon(fire),

    async follow(difference, log) {
      const measure = difference(own)
      const closing = new AbortController()
      set(await measure(), log)
      void (async () => {
        while (!closing.signal.aborted) {
          await sleep(own, LOOK_MS, closing.signal)
          // While the database is away, the last difference counts.
          if (!closing.signal.aborted)
            await measure().then(
              (ms) => set(ms, log),
              () => {},
            )
        }
      })()
      return () => closing.abort()
    },
  }
}
