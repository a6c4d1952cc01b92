// Whether the audit trail is whole, for a server that runs. The check works in slices, so that nobody waits for it, and goes on from
// where it stopped last time.

import { MAIN_CHAIN } from '../domain/audit.ts'
import type { Clock } from '../domain/clock.ts'
import { type ChainEnd, emptyChain, verifyChain } from './audit-chain.ts'
import type { AuditReads } from './ports/audit.ts'

export interface ChainState {
  /** `checking`: the part up to `checked` is whole, the rest has not been looked at. */
  status: 'whole' | 'broken' | 'checking'
  /** How many entries from the first one on are known to be whole. */
  checked: number
  entries: number
  /** The last entry; null in an empty trail. */
  head: { seq: number; hash: string } | null
  /** Number of the first entry that does not follow from the one before it. */
  brokenAt: number | null
  /** When the check last looked at an entry or at the end; null: never. */
  checkedAt: number | null
}

export interface ChainCheck {
  /** The present state. Goes on with the check in the background, and waits at most `waitMs` for it. */
  state(waitMs: number): Promise<ChainState>
}

const SLICE = 250
/** A broken trail is checked again from its beginning after this time: somebody may have put a copy in place. */
const AGAIN_MS = 60_000

interface Broken {
  n: number
  at: number
}

/** Checks the main chain, the only one of a server. Nothing is read before the first question. */
export function createChainCheck(deps: { reads: Pick<AuditReads, 'entries' | 'newest'>; clock: Clock }): ChainCheck {
  const { reads, clock } = deps
  let whole: ChainEnd = emptyChain(MAIN_CHAIN)
  let broken: Broken | null = null
  let checkedAt: number | null = null
  let running: Promise<void> | null = null

  /** An entry that was whole may have been cut off or exchanged since. */
  async function isStillThere(): Promise<boolean> {
    if (whole.n === 0) return true
    const [last] = await reads.entries(whole.n - 1, 1)
    return last?.n === whole.n && last.hash === whole.head
  }

  async function check(): Promise<void> {
    if (broken !== null) {
      if (clock.now() - broken.at < AGAIN_MS) return
      whole = emptyChain(MAIN_CHAIN)
    }
    let found: number | null = (await isStillThere()) ? null : whole.n
    while (found === null) {
      const slice = await reads.entries(whole.n, SLICE)
      const verdict = verifyChain(slice, whole)
      if (verdict.ok) whole = verdict
      else found = verdict.n
      if (slice.length < SLICE) break
      await new Promise<void>((resolve) => clock.soon(resolve))
    }
    checkedAt = clock.now()
    broken = found === null ? null : { n: found, at: checkedAt }
  }

  return {
    async state(waitMs) {
      running ??= check().finally(() => {
        running = null
      })
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const cancel = clock.after(waitMs, resolve)
      // A failed read rejects here, or shows at the next question: the check has not moved then.
      const done = running
      done.catch(() => {})
      await Promise.race([done, late]).finally(cancel)
      const [end] = await reads.newest(null, 1)
      const entries = end?.n ?? 0
      return {
        status: broken !== null ? 'broken' : whole.n >= entries ? 'whole' : 'checking',
        checked: broken === null ? whole.n : broken.n - 1,
        entries,
        head: end === undefined ? null : { seq: end.n, hash: end.hash },
        brokenAt: broken?.n ?? null,
        checkedAt,
      }
    },
  }
}
