import { describe, expect, test } from 'vitest'
import type { AuditEntry, AuditRecord } from '../domain/supervision/audit.ts'
import { createManualClock } from '../models/testing/manual-clock.ts'
import { emptyChain, nextEntry } from './audit-chain.ts'
import { chainBegun } from './audit-ties.ts'
import { createLocalShared } from './local-shared.ts'
import { parseTie, TIE_RECORD, tieChains } from './tie-chains.ts'
import { verifyTrail } from './verify-trail.ts'

const HOUR = 60 * 60 * 1000

const decision = (at: number): AuditRecord => ({
  at,
  kind: 'decision',
  by: 'ann',
  session: null,
  run: null,
  agent: 'clerk',
  tool: 'pay',
  call: null,
  details: {},
})

/** A store that several processes share: each writes a chain of its own. */
function openTrail() {
  const clock = createManualClock()
  const shared = createLocalShared(clock)
  const chains = new Map<string, AuditEntry[]>()
  async function write(chain: string, record: AuditRecord): Promise<void> {
    const entries = chains.get(chain) ?? []
    if (entries.length === 0 && record.kind !== 'chain_begun') {
      const tie = parseTie((await shared.get(TIE_RECORD.kind, TIE_RECORD.key))?.value)
      await write(chain, chainBegun({ at: record.at, writer: chain, tie }))
      return write(chain, record)
    }
    const last = entries.at(-1)
    const end = last === undefined ? emptyChain(chain) : { chain, n: last.n, head: last.hash }
    chains.set(chain, [...entries, nextEntry(end, JSON.stringify(record))])
  }
  const reads = {
    ends: async () => [...chains.values()].flatMap((entries) => entries.slice(-1)),
    newest: async (_: number | null, limit: number, chain = '') => (chains.get(chain) ?? []).slice(-limit).reverse(),
  }
  return {
    chains,
    clock,
    shared,
    decide: (chain: string) => write(chain, decision(clock.now())),
    tie: (writer: string) =>
      tieChains({
        reads,
        shared,
        clock,
        writer,
        async commit({ audit }) {
          for (const record of audit) await write(writer, record)
        },
      }),
    verdict: () =>
      verifyTrail({
        chains: async () => [...chains.keys()],
        async *pages(chain) {
          yield chains.get(chain) ?? []
        },
      }),
    detailsOf: (chain: string, n: number) => JSON.parse(chains.get(chain)?.[n - 1]?.text ?? 'null').details,
  }
}

describe('ties of the chains', () => {
  test('come once an hour, from one process, and name the chains that have grown', async () => {
    const { chains, clock, decide, tie, verdict, detailsOf } = openTrail()
    expect(await tie('a')).toBe('nothing new')
    await decide('a')
    await decide('b')
    expect(await tie('b')).toBe('tied')
    expect(await tie('a')).toBe('not due')
    const head = (chain: string, n: number) => `${chain}:${n}:${chains.get(chain)?.[n - 1]?.hash}`
    expect(detailsOf('b', 3)).toEqual({ chains: 2, heads: `${head('a', 2)} ${head('b', 2)}`, previous: null })

    await decide('a')
    await clock.advance(HOUR)
    expect(await tie('a')).toBe('tied')
    // The chain of the last tie has grown by that tie.
    expect(detailsOf('a', 4)).toEqual({
      chains: 2,
      heads: `${head('a', 3)} ${head('b', 3)}`,
      previous: head('b', 3),
    })
    await clock.advance(HOUR)
    expect(await tie('b')).toBe('nothing new')
    expect(await verdict()).toMatchObject({ problems: [], lastTie: { chain: 'a', n: 4 } })
  })

  test('are named by the first entry of the next process', async () => {
    const { chains, decide, tie, verdict, detailsOf, clock } = openTrail()
    await decide('a')
    await tie('a')
    const at = clock.now()
    await clock.advance(HOUR / 2)
    await decide('c')

    expect(detailsOf('c', 1)).toEqual({ tie_at: at, tie: `a:3:${chains.get('a')?.[2]?.hash}` })
    chains.delete('a')
    expect((await verdict()).problems).toMatchObject([{ chain: 'a', n: 1 }])
  })

  test('wait for the process that has the job', async () => {
    const { decide, tie, shared } = openTrail()
    await decide('a')
    await shared.hold('audit-tie', 'b', HOUR)
    expect(await tie('a')).toBe('held elsewhere')
    await shared.release('audit-tie', 'b')
    expect(await tie('a')).toBe('tied')
  })

  test('name new chains also where very many old ones are', async () => {
    const { chains, decide, tie, clock, verdict, detailsOf, shared } = openTrail()
    for (let i = 0; i < 600; i += 1) await decide(`old-${i}`)
    await tie('old-599')
    expect(detailsOf('old-599', 3).chains).toBe(200)
    expect(detailsOf('old-599', 5).chains).toBe(200)
    expect((await shared.get(TIE_RECORD.kind, TIE_RECORD.key))?.value.length).toBeLessThan(16_000)
    await clock.advance(48 * HOUR)
    await decide('new')
    await tie('new')
    await clock.advance(HOUR)
    await decide('new')
    await tie('new')

    expect(detailsOf('new', 5)).toMatchObject({ chains: 1, heads: `new:4:${chains.get('new')?.[3]?.hash}` })
    expect((await verdict()).problems).toEqual([])
  })

  test('go on after the record of the last one is lost', async () => {
    const { decide, tie, shared, verdict } = openTrail()
    await decide('a')
    await tie('a')
    await shared.take(TIE_RECORD.kind, TIE_RECORD.key)
    await decide('a')
    expect(await tie('a')).toBe('tied')
    expect((await verdict()).problems).toEqual([])
  })
})
