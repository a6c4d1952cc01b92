// Whether the audit trail is whole, for a server that runs. The check works in slices, so that nobody waits for it, and goes on from
// where it stopped last time.

import { within } from '../domain/abort.ts'
import type { Clock } from '../domain/clock.ts'
import type { ChainState } from '../domain/supervision/audit.ts'
import { type ChainEnd, emptyChain, verifyChain } from './audit-chain.ts'
import type { AuditReads } from './ports/audit.ts'
import { type Claim, claimProblem, createTrailFacts, type TrailProblem } from './verify-trail.ts'

export type ChainCheck = ReturnType<typeof createChainCheck>

const SLICE = 250
/** A broken trail is checked again from its beginning after this time: somebody may have put a copy in place. */
const AGAIN_MS = 60_000
/** Each start of a process makes a chain. Of very many, the newest are shown. */
const MOST_SHOWN = 1_000

type Reads = Pick<AuditReads, 'entries' | 'ends'>

/** Nothing is read before the first question. */
export function createChainCheck({ reads, clock }: { reads: Reads; clock: Clock }) {
  let look = createLook(reads, clock)
  let broken: { problem: TrailProblem; at: number } | null = null
  let checkedAt: number | null = null
  let running: Promise<void> | null = null

  async function check(): Promise<void> {
    if (broken !== null) {
      if (clock.now() - broken.at < AGAIN_MS) return
      look = createLook(reads, clock)
    }
    const problem = await look.goOn()
    checkedAt = clock.now()
    broken = problem === null ? null : { problem, at: checkedAt }
  }

  return {
    /** The present state. Goes on with the check in the background, and waits at most `waitMs` for it. */
    async state(waitMs: number): Promise<ChainState> {
      running ??= check().finally(() => {
        running = null
      })
      // A failed read rejects here, or shows at the next question: the check has not moved then.
      await within(clock, waitMs, running)
      const ends = await reads.ends()
      const [only, ...others] = ends
      const entries = ends.reduce((sum, { n }) => sum + n, 0)
      const isBehind = ends.some(({ chain, n }) => look.wholeTo(chain) < n)
      return {
        status: broken !== null ? 'broken' : isBehind ? 'checking' : 'whole',
        checked: look.checked(),
        entries,
        head: only === undefined || others.length > 0 ? null : { seq: only.n, hash: only.hash },
        brokenAt: broken?.problem.n ?? null,
        problem: broken?.problem.reason ?? null,
        checkedAt,
        chains: ends.slice(-MOST_SHOWN).map(({ chain, n, hash }) => ({
          chain,
          entries: n,
          head: hash,
          isWhole: look.wholeTo(chain) >= n && broken?.problem.chain !== chain,
        })),
        lastTie: look.lastTie(),
      }
    },
  }
}

/** One way through the trail, from its beginning to its present end and on from there. */
function createLook(reads: Reads, clock: Pick<Clock, 'soon'>) {
  const facts = createTrailFacts()
  const whole = new Map<string, ChainEnd>()
  /** Claims that were not looked up yet. */
  let open: Claim[] = []

  /** An entry that was whole may have been cut off or exchanged since. */
  async function isStillThere({ chain, n, head }: ChainEnd): Promise<boolean> {
    const [last] = await reads.entries(n - 1, 1, chain)
    return last?.n === n && last.hash === head
  }

  async function readChain(chain: string): Promise<TrailProblem | null> {
    for (;;) {
      const from = whole.get(chain) ?? emptyChain(chain)
      const slice = await reads.entries(from.n, SLICE, chain)
      const verdict = verifyChain(slice, from)
      if (!verdict.ok) {
        for (const entry of slice) if (entry.n < verdict.n) whole.set(chain, { chain, n: entry.n, head: entry.hash })
        return { chain, n: verdict.n, reason: verdict.reason }
      }
      whole.set(chain, verdict)
      for (const entry of slice) facts.take(entry)
      if (slice.length < SLICE) return null
      await new Promise<void>((resolve) => clock.soon(resolve))
    }
  }

  async function lookUpClaims(): Promise<TrailProblem | null> {
    open.push(...facts.newClaims())
    while (open.length > 0) {
      const slice = open.slice(0, SLICE)
      for (const claim of slice) {
        const [entry] = await reads.entries(claim.n - 1, 1, claim.chain)
        const hash = entry?.n === claim.n ? entry.hash : undefined
        const problem = claimProblem(claim, hash, whole.get(claim.chain)?.n ?? 0)
        if (problem !== null) return problem
      }
      open = open.slice(slice.length)
      await new Promise<void>((resolve) => clock.soon(resolve))
    }
    return null
  }

  return {
    async goOn(): Promise<TrailProblem | null> {
      const ends = new Map((await reads.ends()).map((end) => [end.chain, end]))
      for (const known of whole.values()) {
        const end = ends.get(known.chain)
        const isSame = end?.n === known.n && end.hash === known.head
        if (known.n === 0 || isSame || ((end?.n ?? 0) > known.n && (await isStillThere(known)))) continue
        const reason = `Entry ${known.n} of chain ${known.chain} is not the one that was there before.`
        whole.set(known.chain, { ...known, n: known.n - 1 })
        return { chain: known.chain, n: known.n, reason }
      }
      for (const { chain, n } of ends.values()) {
        const problem = n === whole.get(chain)?.n ? null : await readChain(chain)
        if (problem !== null) return problem
      }
      return (await lookUpClaims()) ?? facts.gaps()[0] ?? null
    },
    wholeTo: (chain: string): number => whole.get(chain)?.n ?? 0,
    checked: (): number => [...whole.values()].reduce((sum, { n }) => sum + n, 0),
    lastTie: facts.lastTie,
  }
}
