import { type Clock, sleep } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { Shared } from '../store/ports/shared.ts'

/** Does work that no other process does under the same name at the same time. */
export type Alone = <T>(name: string, work: () => Promise<T>) => Promise<T>

interface AloneDeps {
  shared: Pick<Shared, 'hold' | 'release'>
  /** Name of this process. No other one has it. */
  owner: string
  clock: Clock
}

/** Longer than any piece of the work takes. Whoever dies in the middle keeps others waiting for so long. */
const HOLD_MS = 20_000
const TRY_EVERY_MS = 50

export function createAlone({ shared, owner, clock }: AloneDeps): Alone {
  let count = 0
  return async (name, work) => {
    count += 1
    // Each piece of work is an owner of its own, so that two of one process wait for each other too.
    const self = `${owner}/${count}`
    const job = `alone/${name}`
    const until = clock.mono() + HOLD_MS + 5_000
    while (!(await shared.hold(job, self, HOLD_MS))) {
      if (clock.mono() > until) throw new ServerError('conflict', 'Another request does the same just now. Try again.')
      await sleep(clock, TRY_EVERY_MS)
    }
    try {
      return await work()
    } finally {
      await shared.release(job, self).catch(() => {})
    }
  }
}
