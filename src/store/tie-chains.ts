// The job that ties the chains of the audit trail, once an hour, in one process of all that share the store.

import type { Clock } from '../domain/clock.ts'
import { isRecord } from '../domain/is-record.ts'
import type { AuditEntry, AuditRecord, Tie } from '../domain/supervision/audit.ts'
import { claimsOf, TIE_EVERY_MS, tieRecords, timeOf } from './audit-ties.ts'
import type { AuditReads } from './ports/audit.ts'
import type { Shared } from './ports/shared.ts'

/** Where the last tie is kept, for the next one and for the first entries of new chains. */
export const TIE_RECORD = { kind: 'audit', key: 'tie' } as const

export interface TieChainsDeps {
  reads: Pick<AuditReads, 'ends' | 'newest'>
  shared: Pick<Shared, 'get' | 'put' | 'hold' | 'release'>
  /** Resolves when the records are on disk. */
  commit(command: { type: 'add_audit'; audit: readonly AuditRecord[] }): Promise<unknown>
  clock: Pick<Clock, 'now'>
  /** This process, which is also the id of its chain. */
  writer: string
}

const JOB = 'audit-tie'
/** Longer than a tie takes. A process that dies while it holds the job delays the next tie by this much. */
const HOLD_MS = 5 * 60 * 1000
/** A busy process may have written so many entries after its tie, before it looks for it. */
const LOOKED_AT = 1_000

interface TieState {
  at: number
  /** Null: it was written, but not found again. */
  last: Tie | null
  /** How long each chain was when a tie named it: of the `MOST_NAMED` that were named last. */
  named: [chain: string, n: number][]
}

/** Every start of a process makes a chain. The record must stay small. */
const MOST_NAMED = 500
/** A chain that is not among them is an old one if its last entry is this much older than the last tie. */
const OLD_MS = 24 * TIE_EVERY_MS

export type TieOutcome = 'tied' | 'not due' | 'nothing new' | 'held elsewhere'

/**
 * Writes a tie if the last one is an hour old and chains have grown since. Call it every few minutes in every process. Two ties at once
 * do no harm: each says what is true.
 */
export async function tieChains(deps: TieChainsDeps): Promise<TieOutcome> {
  const { shared, clock, writer } = deps
  const before = await shared.get(TIE_RECORD.kind, TIE_RECORD.key)
  if (!isDue(readState(before?.value), clock.now())) return 'not due'
  if (!(await shared.hold(JOB, writer, HOLD_MS))) return 'held elsewhere'
  try {
    return await tieNow(deps)
  } finally {
    await shared.release(JOB, writer)
  }
}

async function tieNow({ reads, shared, commit, clock, writer }: TieChainsDeps): Promise<TieOutcome> {
  const record = await shared.get(TIE_RECORD.kind, TIE_RECORD.key)
  const state = readState(record?.value)
  const at = clock.now()
  // Another process may have held the job until just now.
  if (!isDue(state, at)) return 'not due'
  const grown = (await reads.ends()).filter((end) => hasGrown(end, state))
  // The entry of the last tie alone is not news.
  if (grown.every((entry) => claimsOf(entry)?.kind === 'chains_tied')) return 'nothing new'
  const ends = grown.map(({ chain, n, hash }) => ({ chain, n, head: hash }))
  await commit({ type: 'add_audit', audit: tieRecords({ at, by: writer, ends, previous: state?.last ?? null }) })
  const next: TieState = {
    at,
    last: (await writtenTie(reads, writer, at)) ?? state?.last ?? null,
    named: namedNow(state, ends),
  }
  // A lost write here makes the next tie name the same chains again.
  await shared.put({ ...TIE_RECORD, value: JSON.stringify(next), version: record?.version ?? 0, expiresAt: null })
  return 'tied'
}

/** Since it was last named. In doubt it is named once more. */
function hasGrown({ chain, n, text }: AuditEntry, state: TieState | null): boolean {
  if (state === null) return true
  const known = state.named.find(([one]) => one === chain)
  if (known !== undefined) return known[1] !== n
  return state.named.length < MOST_NAMED || timeOf(text) > state.at - OLD_MS
}

function namedNow(state: TieState | null, ends: readonly { chain: string; n: number }[]): TieState['named'] {
  const named = new Map(state?.named)
  for (const { chain, n } of ends) {
    named.delete(chain)
    named.set(chain, n)
  }
  return [...named].slice(-MOST_NAMED)
}

/** A commit does not say which number its entry got. */
async function writtenTie(reads: Pick<AuditReads, 'newest'>, chain: string, at: number): Promise<Tie | null> {
  const newest = await reads.newest(null, LOOKED_AT, chain)
  const found = newest.find((entry) => {
    const claims = claimsOf(entry)
    return claims?.kind === 'chains_tied' && claims.at === at
  })
  return found === undefined ? null : { chain, n: found.n, hash: found.hash, at }
}

/** A clock that was set back must not stop the ties. */
const isDue = (state: TieState | null, now: number): boolean =>
  state === null || now - state.at >= TIE_EVERY_MS || state.at > now + TIE_EVERY_MS

/** The last tie, for the first entry of a new chain. `value` is that of the shared record `TIE_RECORD`. */
export const parseTie = (value: string | undefined): Tie | null => readState(value)?.last ?? null

function readState(value: string | undefined): TieState | null {
  if (value === undefined) return null
  const state: unknown = JSON.parse(value)
  if (!isRecord(state) || typeof state.at !== 'number' || !Array.isArray(state.named)) return null
  return { at: state.at, last: readTie(state.last), named: state.named.filter(isNamed) }
}

const isNamed = (pair: unknown): pair is [string, number] =>
  Array.isArray(pair) && typeof pair[0] === 'string' && typeof pair[1] === 'number'

function readTie(value: unknown): Tie | null {
  if (!isRecord(value)) return null
  const { chain, n, hash, at } = value
  if (typeof chain !== 'string' || typeof n !== 'number' || typeof hash !== 'string' || typeof at !== 'number')
    return null
  return { chain, n, hash, at }
}
