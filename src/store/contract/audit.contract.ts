import { describe, expect, test } from 'vitest'
import type { AuditEntry } from '../../domain/supervision/audit.ts'
import { emptyChain, verifyChain } from '../audit-chain.ts'
import type { Store } from '../store.ts'
import {
  accept,
  acceptedRun,
  append,
  auditors,
  auditRecords,
  beforeAndAfter,
  commit,
  done,
  finish,
  NOW,
  newAudit,
  newSession,
  type OpenStore,
  openForTest,
  refusal,
  remove,
} from './samples.contract.ts'

/** Entries that name their place in the trail, so that they can be compared with those of their chain. */
const placeOf = ({ n, place = n }: AuditEntry): number => place
const ofChain = ({ place, ...entry }: AuditEntry): AuditEntry => entry

/** Checks every chain, and returns the number of entries. */
async function countWhole(store: Store): Promise<number> {
  let count = 0
  for (const chain of await store.audit.chains()) {
    const entries = await store.audit.entries(0, 1_000, chain)
    expect(verifyChain(entries, emptyChain(chain))).toEqual({
      ok: true,
      chain,
      n: entries.length,
      head: entries.at(-1)?.hash ?? emptyChain(chain).head,
    })
    count += entries.length
  }
  return count
}

export function describeAudit(open: OpenStore): void {
  describe('the audit trail', () => {
    test('is read from its end, too', async () => {
      const { store } = await openForTest(open)
      expect(await store.audit.newest(null, 10)).toEqual([])
      await done(store, { type: 'add_audit', audit: ['a', 'b', 'c', 'd'].map((by) => newAudit(by)) })
      const all = await store.audit.entries(0, 10)
      const backwards = all.toReversed()
      const [newest = expect.fail('there is no entry'), second = newest] = backwards
      const { chain } = newest

      expect(backwards.slice(0, 4).map(({ text }) => JSON.parse(text).by)).toEqual(['d', 'c', 'b', 'a'])
      expect(await store.audit.newest(null, 3)).toEqual(backwards.slice(0, 3))
      expect(await store.audit.newest(placeOf(second), 10)).toEqual(backwards.slice(2))
      expect(await store.audit.newest(placeOf(all[0] ?? newest), 10)).toEqual([])
      expect(await store.audit.newest(null, 3, chain)).toEqual(backwards.slice(0, 3).map(ofChain))
      expect(await store.audit.newest(newest.n - 1, 10, chain)).toEqual(backwards.slice(2).map(ofChain))
      expect(await store.audit.newest(null, 10, 'other')).toEqual([])
    })

    test('has the entries of all sessions in their order, in whole chains, also after a restart', async () => {
      const { store, reopen } = await openForTest(open)
      const one = await acceptedRun(store, accept(newSession()))
      const two = await acceptedRun(store, accept(newSession()))
      for (let i = 0; i < 20; i += 1) {
        await commit(
          store,
          append(one, [], { audit: [newAudit(`one ${i}`), newAudit(`also ${i}`)] }),
          append(two, [], {
            sync: true,
            audit: [newAudit(`two ${i} \ud83d`, { details: { n: i, ok: true, none: null } })],
          }),
        )
      }
      await done(store, finish(one, { audit: [newAudit('end')] }))
      const store2 = await reopen()
      await done(store2, { type: 'claim_run', runId: two.id, fence: two.fence, leaseOwner: 'p', entries: [] })
      await done(store2, append({ ...two, fence: 2 }, [], { audit: [newAudit('after')] }))

      const trail = await store2.audit.entries(0, 1_000)
      const by = Array.from({ length: 20 }, (_, i) => [`one ${i}`, `also ${i}`, `two ${i} \ud83d`]).flat()
      expect(await auditors(store2)).toEqual([...by, 'end', 'after'])
      expect((await auditRecords(store2))[2]).toEqual(
        newAudit('two 0 \ud83d', { details: { n: 0, ok: true, none: null } }),
      )
      expect(await countWhole(store2)).toBe(trail.length)
      const chains = await store2.audit.chains()
      expect(chains).toEqual([...new Set(trail.map(({ chain }) => chain))].sort())
      for (const chain of chains) {
        const own = trail.filter((entry) => entry.chain === chain).map(ofChain)
        expect(await store2.audit.entries(0, 1_000, chain)).toEqual(own)
        expect(await store2.audit.entries(own.length - 1, 10, chain)).toEqual(own.slice(-1))
      }
      const ends = chains.map((chain) => trail.findLast((entry) => entry.chain === chain))
      expect(await store2.audit.ends()).toEqual(ends.map((end) => end && ofChain(end)))
      expect(await store2.audit.entries(0, 1_000, 'other')).toEqual([])
      const places = trail.map(placeOf)
      expect(places).toEqual(places.toSorted((a, b) => a - b))
      expect(await store2.audit.entries(places[59] ?? 0, 1)).toEqual([trail[60]])
      expect(await store2.audit.entries(places.at(-1) ?? 0, 10)).toEqual([])
    })

    test('has no records of refused commands', async () => {
      const { store } = await openForTest(open)
      const run = await acceptedRun(store, accept(newSession()))
      const audit = [newAudit('unsaid')]
      const stranger = { ...run, fence: run.fence + 1 }

      expect(await refusal(store, append(stranger, [], { audit }))).toBe('run_fenced')
      expect(await refusal(store, finish(stranger, { audit }))).toBe('run_fenced')
      await done(store, append(run, [], { audit: [newAudit('said')] }))

      expect(await auditors(store)).toEqual(['said'])
      expect(await countWhole(store)).toBe((await store.audit.entries(0, 10)).length)
    })

    test('accepts records without a session', async () => {
      const { store, reopen } = await openForTest(open)
      const run = await acceptedRun(store, accept(newSession()))

      await done(store, { type: 'add_audit', audit: [newAudit('one'), newAudit('two')] })
      await done(store, append(run, [], { audit: [newAudit('three')] }))

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await auditors(current)).toEqual(['one', 'two', 'three'])
        expect(await countWhole(current)).toBe((await current.audit.entries(0, 10)).length)
      }
    })

    test('stays when its session is deleted and purged', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      await done(store, finish(run, { audit: [newAudit('ann', { session: session.id })] }))
      const before = await store.audit.entries(0, 10)
      expect(await auditors(store)).toEqual(['ann'])

      await done(store, remove(session.id))
      const later = NOW * 2
      await done(store, {
        type: 'purge_sessions',
        before: later,
        unlistedBefore: later,
        unsentBefore: later,
        now: NOW,
        limit: 10,
      })

      expect(await store.sessions.get(session.id)).toBe(null)
      for await (const current of beforeAndAfter(store, reopen))
        expect(await current.audit.entries(0, 10)).toEqual(before)
    })

    test('survives a power cut once it is acknowledged, even if text in flight does not', async (context) => {
      const { store, powerCut } = await openForTest(open)
      if (powerCut === undefined) return context.skip('this store cannot be cut off from its power')
      const run = await acceptedRun(store, accept(newSession()))
      await done(store, append(run, [], { audit: [newAudit('kept')] }))
      await done(store, { type: 'add_audit', audit: [newAudit('kept too')] })

      const after = await powerCut()

      expect(await auditors(after)).toEqual(['kept', 'kept too'])
    })
  })
}
