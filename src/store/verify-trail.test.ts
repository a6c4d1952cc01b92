import { describe, expect, test } from 'vitest'
import { type AuditEntry, type AuditRecord, importedMain, MAIN_CHAIN, type Tie } from '../domain/supervision/audit.ts'
import { emptyChain, nextEntry } from './audit-chain.ts'
import { chainBegun, tieRecords } from './audit-ties.ts'
import { type TrailPages, verifyTrail } from './verify-trail.ts'

const HOUR = 60 * 60 * 1000
const START = Date.UTC(2026, 10, 16)

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

/** Processes that write chains, and tie them. Times are in hours. */
function writeTrail() {
  const chains = new Map<string, AuditEntry[]>()
  let tie: Tie | null = null
  function add(chain: string, record: AuditRecord): AuditEntry {
    const entries = chains.get(chain) ?? []
    const last = entries.at(-1)
    const end = last === undefined ? emptyChain(chain) : { chain, n: last.n, head: last.hash }
    const entry = nextEntry(end, JSON.stringify(record))
    chains.set(chain, [...entries, entry])
    return entry
  }
  return {
    chains,
    begin: (chain: string, hour: number) =>
      void add(chain, chainBegun({ at: START + hour * HOUR, writer: chain, tie })),
    decide: (chain: string, hour: number) => void add(chain, decision(START + hour * HOUR)),
    tie(chain: string, hour: number) {
      const at = START + hour * HOUR
      const ends = [...chains.values()]
        .flatMap((entries) => entries.slice(-1))
        .map((one) => ({ ...one, head: one.hash }))
      for (const record of tieRecords({ at, by: chain, ends, previous: tie })) {
        const { n, hash } = add(chain, record)
        tie = { chain, n, hash, at }
      }
    },
  }
}

const pagesOf = (chains: ReadonlyMap<string, readonly AuditEntry[]>): TrailPages => ({
  chains: async () => [...chains.keys()],
  async *pages(chain) {
    const entries = chains.get(chain) ?? []
    for (let i = 0; i < entries.length; i += 2) yield entries.slice(i, i + 2)
  },
})

const problemsOf = async (chains: ReadonlyMap<string, readonly AuditEntry[]>) =>
  (await verifyTrail(pagesOf(chains))).problems.map(({ chain, n, reason }) => [chain, n, reason.split(':')[0]])

/** Two processes, and a third after a restart. */
function threeChains() {
  const trail = writeTrail()
  trail.begin('a', 0)
  trail.begin('b', 0.1)
  trail.decide('a', 0.2)
  trail.decide('b', 0.5)
  trail.tie('a', 1)
  trail.decide('b', 1.2)
  trail.tie('b', 2)
  trail.begin('c', 2.5)
  trail.decide('c', 2.6)
  trail.decide('a', 2.7)
  return trail.chains
}

describe('a trail of several chains', () => {
  test('is whole, and its last tie is known', async () => {
    const chains = threeChains()
    const tie = chains.get('b')?.at(-1)

    expect(await verifyTrail(pagesOf(chains))).toEqual({
      ends: [...chains].map(([chain, entries]) => ({ chain, n: entries.length, head: entries.at(-1)?.hash })),
      lastTie: { chain: 'b', n: tie?.n, hash: tie?.hash, at: START + 2 * HOUR },
      problems: [],
    })
  })

  test('cannot lose a chain that a tie names', async () => {
    const chains = threeChains()
    chains.delete('b')

    expect(await problemsOf(chains)).toEqual([['b', 1, 'Chain b is missing']])
    expect((await verifyTrail(pagesOf(chains))).problems[0]?.reason).toMatch(
      /^Chain b is missing: entry 1 of chain c, written 2026-11-16T02:30:00\.000Z, names its entry 4\.$/,
    )
  })

  test('cannot lose the end of a chain that a tie names', async () => {
    const chains = threeChains()
    chains.set('b', chains.get('b')?.slice(0, 2) ?? [])

    expect(await problemsOf(chains)).toEqual([['b', 3, 'The end of chain b was cut off after entry 2']])
  })

  test('shows that a chain was written again from its beginning', async () => {
    const chains = threeChains()
    const again = writeTrail()
    again.begin('a', 0)
    again.decide('a', 0.3)
    again.decide('a', 0.4)
    again.decide('a', 0.5)
    chains.set('a', again.chains.get('a') ?? [])

    expect(await problemsOf(chains)).toEqual([['a', 3, 'Chain a was written again']])
  })

  test('names a changed entry, and checks the other chains too', async () => {
    const chains = threeChains()
    for (const chain of ['a', 'c']) {
      chains.set(chain, chains.get(chain)?.map((one) => (one.n === 2 ? { ...one, text: '{}' } : one)) ?? [])
    }

    expect(await problemsOf(chains)).toEqual([
      ['a', 2, 'The hash of entry 2 does not match its text and the entry before it'],
      ['c', 2, 'The hash of entry 2 does not match its text and the entry before it'],
    ])
  })

  test('needs a tie within two hours of an entry while its process lives', async () => {
    const trail = writeTrail()
    trail.begin('a', 0)
    trail.decide('a', 0.5)
    trail.tie('a', 1)
    trail.decide('a', 1.5)
    trail.decide('a', 4)
    trail.tie('a', 4.1)

    expect((await verifyTrail(pagesOf(trail.chains))).problems).toEqual([
      {
        chain: 'a',
        n: null,
        reason:
          'No tie names what chain a wrote from 2026-11-16T01:30:00.000Z to 2026-11-16T04:00:00.000Z: ties were removed, or the job that writes them did not run.',
      },
    ])
  })

  test('needs no tie while nothing is written, and none after the last process has stopped', async () => {
    const trail = writeTrail()
    trail.begin('a', 0)
    trail.tie('a', 1)
    trail.decide('a', 9)
    trail.tie('a', 9.5)
    trail.decide('a', 9.6)
    trail.begin('b', 30)
    trail.decide('b', 30)

    expect(await problemsOf(trail.chains)).toEqual([])
  })
})

test('an imported main chain is bound to its name', async () => {
  const trail = writeTrail()
  trail.decide(MAIN_CHAIN, 0)
  trail.decide(MAIN_CHAIN, 1)
  const main = trail.chains.get(MAIN_CHAIN) ?? []
  const moved = (chain: string) => new Map([[chain, main.map((entry) => ({ ...entry, chain }))]])

  expect(await problemsOf(moved(importedMain(main[0]?.hash ?? '')))).toEqual([])
  expect(await problemsOf(moved(importedMain('ab'.repeat(32))))).toEqual([
    ['main@abababababababab', 1, 'The first entry is not the one that gave the chain its name.'],
  ])
})
