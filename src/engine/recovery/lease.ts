import type { Clock } from '../../domain/clock.ts'
import type { Ids } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import type { SessionLog } from '../../log/session-log.ts'

/**
 * Proves to other processes that this one lives: a row with an end, which is renewed in time. A run is taken over only when the
 * lease of its owner has ended.
 */
interface Lease {
  /** The name under which this process owns runs. */
  readonly owner: string
  /** Resolves when the lease is in the store. It is renewed from then on. */
  keep(): Promise<void>
  /** Stops renewing it. */
  stop(): void
}

interface LeaseDeps {
  log: Pick<SessionLog, 'commit'>
  clock: Clock
  ids: Ids
  logger: Logger
  /** No other process can use the store, so all other owners are dead: keeping this lease ends theirs. */
  isOnlyProcess: boolean
}

const LEASE_MS = 15_000

export function createLease({ log, clock, ids, logger, isOnlyProcess }: LeaseDeps): Lease {
  const owner = ids.uuid()
  let stopTimer = () => {}

  const renew = () =>
    log.commit({ type: 'renew_lease', leaseOwner: owner, until: clock.now() + LEASE_MS, endOthers: isOnlyProcess })

  function schedule(): void {
    stopTimer()
    stopTimer = clock.after(LEASE_MS / 3, () => {
      renew().catch((error: unknown) => logger.warn('the lease could not be renewed', { error }))
      schedule()
    })
  }

  return {
    owner,
    async keep() {
      await renew()
      schedule()
    },
    stop: () => stopTimer(),
  }
}
