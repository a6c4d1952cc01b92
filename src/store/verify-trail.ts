// Whether the whole audit trail is as it was written: every chain, and what the ties and the first entries of chains say about them.

import type { AuditEntry, Tie } from '../domain/supervision/audit.ts'
import { type ChainEnd, emptyChain, verifyChain } from './audit-chain.ts'
import { claimsOf, LONGEST_GAP_MS, timeOf } from './audit-ties.ts'

/** The entries of each chain in order, in pages. Read twice. */
export interface TrailPages {
  chains(): Promise<string[]>
  pages(chain: string): AsyncIterable<readonly AuditEntry[]>
}

export interface TrailProblem {
  chain: string
  /** The first entry that is wrong or missing. Null: the problem is about a time. */
  n: number | null
  reason: string
}

export interface TrailVerdict {
  /** Where each chain ends, as far as it is whole. */
  ends: ChainEnd[]
  lastTie: Tie | null
  problems: TrailProblem[]
}

/** An entry of `by` says that entry `n` of the chain had this hash. */
export interface Claim {
  chain: string
  n: number
  head: string
  by: Pick<AuditEntry, 'chain' | 'n'>
  at: number
}

/** `visit` sees every page before it is checked. */
export async function verifyTrail(
  trail: TrailPages,
  visit: (page: readonly AuditEntry[]) => void = () => {},
): Promise<TrailVerdict> {
  const facts = createTrailFacts()
  const problems: TrailProblem[] = []
  const ends = new Map<string, ChainEnd>()
  for (const chain of await trail.chains()) {
    let end = emptyChain(chain)
    for await (const page of trail.pages(chain)) {
      visit(page)
      const verdict = verifyChain(page, end)
      if (!verdict.ok) {
        problems.push({ chain, n: verdict.n, reason: verdict.reason })
        break
      }
      end = { chain, n: verdict.n, head: verdict.head }
      for (const entry of page) facts.take(entry)
    }
    ends.set(chain, end)
  }
  const isBroken = new Set(problems.map(({ chain }) => chain))
  const claims = Map.groupBy(
    facts.newClaims().filter(({ chain }) => !isBroken.has(chain)),
    ({ chain }) => chain,
  )
  // In the order of the chains, because a file is read from its start to its end. Those that are missing come last.
  for (const chain of new Set([...ends.keys(), ...claims.keys()])) {
    problems.push(...(await checkClaims(trail, chain, claims.get(chain) ?? [], ends.get(chain))))
  }
  problems.push(...facts.gaps())
  return { ends: [...ends.values()], lastTie: facts.lastTie(), problems }
}

async function checkClaims(
  trail: TrailPages,
  chain: string,
  claims: readonly Claim[],
  end: ChainEnd | undefined,
): Promise<TrailProblem[]> {
  if (claims.length === 0) return []
  const wanted = new Set(claims.map(({ n }) => n))
  const found = new Map<number, string>()
  if (end !== undefined && end.n > 0) {
    for await (const page of trail.pages(chain)) {
      for (const { n, hash } of page) if (wanted.has(n)) found.set(n, hash)
    }
  }
  // One sentence is enough for a chain: about the claim that reaches furthest.
  for (const claim of claims.toSorted((a, b) => b.n - a.n)) {
    const problem = claimProblem(claim, found.get(claim.n), end?.n ?? 0)
    if (problem !== null) return [problem]
  }
  return []
}

/** What is wrong if the trail does not hold what an entry says about it. `length` is that of the chain now. */
export function claimProblem(claim: Claim, hash: string | undefined, length: number): TrailProblem | null {
  const { chain, n, head, by, at } = claim
  if (hash === head) return null
  const witness = `entry ${by.n} of chain ${by.chain}, written ${new Date(at).toISOString()}, names its entry ${n}`
  if (length === 0) return { chain, n: 1, reason: `Chain ${chain} is missing: ${witness}.` }
  if (hash === undefined) {
    return { chain, n: length + 1, reason: `The end of chain ${chain} was cut off after entry ${length}: ${witness}.` }
  }
  return { chain, n, reason: `Chain ${chain} was written again: ${witness} with another hash.` }
}

const HOUR_MS = 60 * 60 * 1000

/** What the entries say about the trail itself, collected while they are read. */
export function createTrailFacts() {
  let claims: Claim[] = []
  let last: Tie | null = null
  const ties: number[] = []
  /** Of chains that one process wrote: the time of the first entry in each hour, and of the last entry. */
  const written = new Map<string, { hours: number[]; last: number }>()

  function noteTime(chain: string, at: number): void {
    const times = written.get(chain)
    if (times === undefined) return
    times.last = Math.max(times.last, at)
    const newest = times.hours.at(-1)
    if (newest === undefined || Math.floor(at / HOUR_MS) > Math.floor(newest / HOUR_MS)) times.hours.push(at)
  }

  return {
    /** Entries of a chain in order. */
    take(entry: AuditEntry): void {
      const { chain, n, hash } = entry
      const said = claimsOf(entry)
      if (said?.kind === 'chain_begun' && n === 1) written.set(chain, { hours: [], last: said.at })
      for (const head of said?.heads ?? []) claims.push({ ...head, by: { chain, n }, at: said?.at ?? 0 })
      if (said?.kind === 'chains_tied') {
        ties.push(said.at)
        if (last === null || said.at >= last.at) last = { chain, n, hash, at: said.at }
      } else if (written.has(chain)) {
        noteTime(chain, timeOf(entry.text))
      }
    },
    /** The claims since the last call. */
    newClaims(): Claim[] {
      const taken = claims
      claims = []
      return taken
    },
    /** Times in which a process wrote entries, and nobody tied the chains. */
    gaps(): TrailProblem[] {
      const sorted = ties.toSorted((a, b) => a - b)
      return [...written].flatMap(([chain, times]) => gapIn(chain, times, sorted) ?? [])
    },
    lastTie: (): Tie | null => last,
  }
}

/** The process of this chain was alive from its first to its last entry, so a tie had to follow each of its entries in time. */
function gapIn(chain: string, times: { hours: number[]; last: number }, ties: readonly number[]): TrailProblem | null {
  let next = 0
  for (const at of times.hours) {
    while (next < ties.length && (ties[next] ?? 0) < at) next += 1
    const tie = ties[next] ?? Number.POSITIVE_INFINITY
    if (tie - at <= LONGEST_GAP_MS || times.last - at <= LONGEST_GAP_MS) continue
    const until = Math.min(tie, times.last)
    const reason = `No tie names what chain ${chain} wrote from ${isoTime(at)} to ${isoTime(until)}: ties were removed, or the job that writes them did not run.`
    return { chain, n: null, reason }
  }
  return null
}

const isoTime = (at: number): string => new Date(at).toISOString()
