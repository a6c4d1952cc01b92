import type { EngineParts } from '../create-engine.ts'

/** In the only process on a store all other owners are dead: keeping this lease ends theirs. */
type LeaseDeps = Pick<EngineParts, 'log' | 'clock' | 'logger' | 'leaseOwner' | 'isOnlyProcess'>

const ONLY_PROCESS_MS = 15_000
/** Somebody waits for the runs of a dead process, so others hear of its death sooner. It is renewed every third of this time. */
const SHARED_MS = 9_000
/** A single failed renewal does not matter yet. */
const TROUBLE_MS = (2 * SHARED_MS) / 3
/** Every other process renews its lease within this time. */
const CALM_MS = SHARED_MS / 3 + 500

/**
 * Proves to other processes that this one lives: a row with an end, which is renewed in time. A run is taken over only when the
 * lease of its owner has ended.
 */
export function createLease({ log, clock, logger, leaseOwner, isOnlyProcess }: LeaseDeps) {
  const leaseMs = isOnlyProcess ? ONLY_PROCESS_MS : SHARED_MS
  let stopTimer = () => {}
  let isRenewing = false
  let renewedAt: number | null = null
  let steadyFrom = Number.NEGATIVE_INFINITY

  async function renew(): Promise<void> {
    isRenewing = true
    const until = clock.now() + leaseMs
    try {
      await log.commit({ type: 'renew_lease', leaseOwner, until, endOthers: isOnlyProcess })
    } finally {
      isRenewing = false
    }
    const now = clock.mono()
    if (renewedAt === null || now - renewedAt > TROUBLE_MS) steadyFrom = now + CALM_MS
    renewedAt = now
  }

  function schedule(): void {
    stopTimer()
    stopTimer = clock.after(leaseMs / 3, () => {
      // While the store does not answer, one renewal waits for it. More of them would not help.
      if (!isRenewing) {
        renew().catch((error: unknown) => logger.warn('the lease could not be renewed', { error }))
      }
      schedule()
    })
  }

  return {
    /**
     * Whether the leases of others can be judged. After a time in which this process could not renew its own, others may have been in
     * the same trouble, with the same database, and get a moment to renew theirs. A new process does not know what was before it.
     */
    get isSteady() {
      const now = clock.mono()
      return renewedAt !== null && now - renewedAt <= TROUBLE_MS && now >= steadyFrom
    },
    /** Resolves when the lease is in the store. It is renewed from then on. */
    async keep(): Promise<void> {
      await renew()
      schedule()
    },
    stop: () => stopTimer(),
  }
}
