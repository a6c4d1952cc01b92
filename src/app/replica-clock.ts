import { type Clock, sleep } from '../domain/clock.ts'
import type { Logger } from '../domain/logger.ts'

/**
 * The clock of a process that shares its store. Its wall time is the database's as soon as `follow` resolves, so that what one process
 * writes has not expired, or lies in the future, for another one whose clock differs. From then on nobody notices when the clock of
 * this machine is set.
 */
export interface ReplicaClock extends Clock {
  /**
   * `lead` says how far the database's time is ahead of monotonic time. It is asked every second, and must be cheap, unless `again`
   * says that its last answer may be wrong. `machine` is the same for the clock of this machine. The returned function ends it.
   */
  follow(lead: (again: boolean, machine: number) => Promise<number>, log: Logger): Promise<() => void>
}

const LOOK_MS = 1_000
/** Clocks that are kept in time differ by less, and a delay of the network looks like it. */
const SMALL_MS = 1_000
/** Monotonic time stands still while the machine sleeps. Then wall time has jumped afterwards, as if it had been set. */
const JUMP_MS = 250

export function createReplicaClock(own: Clock): ReplicaClock {
  /** How far wall time is ahead of monotonic time. Null: as this machine says. */
  let lead: number | null = null

  const ownLead = (): number => own.now() - own.mono()

  return {
    now: () => (lead === null ? own.now() : Math.round(own.mono() + lead)),
    mono: () => own.mono(),
    after: (ms, fire, hold) => own.after(ms, fire, hold),
    soon: (fire) => own.soon(fire),

    async follow(leadOfDatabase, log) {
      const closing = new AbortController()
      let seen = ownLead()
      let told = 0

      async function look(): Promise<void> {
        const mine = ownLead()
        const theirs = await leadOfDatabase(Math.abs(mine - seen) >= JUMP_MS, mine)
        seen = mine
        lead ??= mine
        if (Math.abs(theirs - lead) >= SMALL_MS) lead = theirs
        tell(Math.abs(theirs - mine) < SMALL_MS ? 0 : Math.round(theirs - mine))
      }

      function tell(behind: number): void {
        if (Math.abs(behind - told) < SMALL_MS) return
        told = behind
        const now = behind === 0 ? 'is right again' : 'differs from the database’s: its time is used here'
        log.warn(`the clock of this machine ${now}`, { behind_ms: behind })
      }

      await look()
      void (async () => {
        while (!closing.signal.aborted) {
          await sleep(own, LOOK_MS, closing.signal)
          // While the database is away, the last answer counts.
          if (!closing.signal.aborted) await look().catch(() => {})
        }
      })()
      return () => closing.abort()
    },
  }
}
