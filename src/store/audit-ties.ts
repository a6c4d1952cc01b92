// Where several processes write, each has a chain of its own, and a chain alone does not show that its end was cut off or that all of
// it is gone. So one process writes a tie every hour: an entry that names each chain that has grown, with its length and head. The first entry
// of a chain names the last tie before it. Whoever removes entries later would have to remove every tie that names them too.

import { isRecord } from '../domain/is-record.ts'
import type { AuditEntry, AuditRecord, Tie } from '../domain/supervision/audit.ts'
import type { ChainEnd } from './audit-chain.ts'

/** While entries are written, a tie follows within this time. */
export const TIE_EVERY_MS = 60 * 60 * 1000
export const LONGEST_GAP_MS = 2 * TIE_EVERY_MS

/** Chains that one tie names at most. More need several entries. */
const HEADS_PER_ENTRY = 200

const aboutTheTrail = { session: null, run: null, agent: '', tool: '', call: null } as const

/** The first entry of a chain that one process writes: who writes it, since when, and the last tie before it. */
export function chainBegun(begun: { at: number; writer: string; tie: Tie | null }): AuditRecord {
  const { at, writer, tie } = begun
  return {
    at,
    kind: 'chain_begun',
    by: writer,
    ...aboutTheTrail,
    details: { tie_at: tie?.at ?? null, tie: tie === null ? null : headText(tie) },
  }
}

/** The records of one tie. `previous` is the tie before it. */
export function tieRecords(tie: {
  at: number
  by: string
  ends: readonly ChainEnd[]
  previous: Tie | null
}): AuditRecord[] {
  const { at, by, ends, previous } = tie
  const records: AuditRecord[] = []
  for (let i = 0; i < ends.length; i += HEADS_PER_ENTRY) {
    const heads = ends.slice(i, i + HEADS_PER_ENTRY)
    records.push({
      at,
      kind: 'chains_tied',
      by,
      ...aboutTheTrail,
      details: {
        chains: heads.length,
        heads: heads.map(({ chain, n, head }) => headText({ chain, n, hash: head })).join(' '),
        previous: previous === null ? null : headText(previous),
      },
    })
  }
  return records
}

/** What the trail itself says about its chains, in one entry. Null: the entry says nothing about them. */
export interface Claims {
  at: number
  kind: 'chain_begun' | 'chains_tied' | 'trail_imported'
  /** Each of these entries existed when this one was written. */
  heads: ChainEnd[]
}

/** Reads an entry that may have been changed by hand: what is not readable claims nothing, and then the hashes show the change. */
export function claimsOf({ text }: Pick<AuditEntry, 'text'>): Claims | null {
  // Most entries are about something else.
  if (!/"kind":"(chain_begun|chains_tied|trail_imported)"/.test(text)) return null
  const record = parsed(text)
  if (!isRecord(record) || !isRecord(record.details) || typeof record.at !== 'number') return null
  const { at, kind, details } = record
  if (kind === 'chain_begun') return { at, kind, heads: headsIn(details.tie) }
  if (kind === 'trail_imported') return { at, kind, heads: headsIn(details.head) }
  if (kind === 'chains_tied') return { at, kind, heads: [...headsIn(details.heads), ...headsIn(details.previous)] }
  return null
}

/** The record of an import: from now on the chain cannot be removed without a trace. */
export function trailImported({ at, by, end }: { at: number; by: string; end: ChainEnd }): AuditRecord {
  const { chain, n, head } = end
  return { at, kind: 'trail_imported', by, ...aboutTheTrail, details: { head: headText({ chain, n, hash: head }) } }
}

/** `chain:n:hash`. No chain has a blank or a colon in its id. */
const headText = ({ chain, n, hash }: { chain: string; n: number; hash: string }): string => `${chain}:${n}:${hash}`

function headsIn(text: unknown): ChainEnd[] {
  if (typeof text !== 'string') return []
  return text.split(' ').flatMap((one) => {
    const [, chain, n, head] = /^([^\s:]+):(\d{1,15}):([0-9a-f]{64})$/.exec(one) ?? []
    return chain === undefined || n === undefined || head === undefined ? [] : [{ chain, n: Number(n), head }]
  })
}

/** When an entry was written, by the clock of its process. 0 if the entry is damaged. */
export function timeOf(text: string): number {
  const [, at] = /"at":(\d{1,15})[,}]/.exec(text) ?? []
  return Number(at ?? 0)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
