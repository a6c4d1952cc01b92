import { describe, expect, test } from 'vitest'
import { MAIN_CHAIN } from '../../domain/audit.ts'
import { verifyChain } from '../audit-chain.ts'
import {
  accept,
  acceptedRun,
  append,
  auditors,
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

export function describeAudit(open: OpenStore): void {
  describe('the audit trail', () => {
    test('is read from its end, too', async () => {
      const { store } = await openForTest(open)
      expect(await store.audit.newest(null, 10)).toEqual([])
      await done(store, { type: 'add_audit', audit: ['a', 'b', 'c', 'd'].map((by) => newAudit(by)) })
      const numbers = async (n: number | null, limit: number) =>
        (await store.audit.newest(n, limit)).map((entry) => entry.n)

      expect(await numbers(null, 3)).toEqual([4, 3, 2])
      expect(await numbers(3, 10)).toEqual([2, 1])
      expect(await numbers(1, 10)).toEqual([])
      expect(await store.audit.newest(null, 10, 'other')).toEqual([])
    })

    test('is one chain of all sessions, in order, that continues after a restart', async () => {
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

      const entries = await store2.audit.entries(0, 1_000)
      const by = Array.from({ length: 20 }, (_, i) => [`one ${i}`, `also ${i}`, `two ${i} \ud83d`]).flat()
      expect(entries.map(({ n }) => n)).toEqual(Array.from({ length: 62 }, (_, i) => i + 1))
      expect(await auditors(store2)).toEqual([...by, 'end', 'after'])
      expect(JSON.parse(entries[2]?.text ?? '')).toEqual(
        newAudit('two 0 \ud83d', { details: { n: 0, ok: true, none: null } }),
      )
      expect(await store2.audit.chains()).toEqual([MAIN_CHAIN])
      expect(await store2.audit.entries(0, 1_000, MAIN_CHAIN)).toEqual(entries)
      expect(await store2.audit.entries(0, 1_000, 'other')).toEqual([])
      expect(verifyChain(entries)).toEqual({ ok: true, chain: MAIN_CHAIN, n: 62, head: entries.at(-1)?.hash })
      expect(await store2.audit.entries(60, 1)).toEqual([entries[60]])
      expect(await store2.audit.entries(62, 10)).toEqual([])
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
      expect(verifyChain(await store.audit.entries(0, 10))).toMatchObject({ ok: true, n: 1 })
    })

    test('accepts records without a session', async () => {
      const { store, reopen } = await openForTest(open)
      const run = await acceptedRun(store, accept(newSession()))

      await done(store, { type: 'add_audit', audit: [newAudit('one'), newAudit('two')] })
      await done(store, append(run, [], { audit: [newAudit('three')] }))

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await auditors(current)).toEqual(['one', 'two', 'three'])
        expect(verifyChain(await current.audit.entries(0, 10))).toMatchObject({ ok: true, n: 3 })
      }
    })

    test('stays when its session is deleted and purged', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      await done(store, finish(run, { audit: [newAudit('ann', { session: session.id })] }))
      const before = await store.audit.entries(0, 10)

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
      expect(before.length).toBe(1)
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
