import { describe, expect, test } from 'vitest'
import type { WaitAnswer } from '../../domain/records/record.ts'
import { decisionRecord } from '../../domain/supervision/approval-audit.ts'
import type { Store } from '../store.ts'
import {
  accept,
  approve,
  auditRecords,
  beforeAndAfter,
  commit,
  done,
  expire,
  NOW,
  newApproval,
  newGrant,
  type OpenStore,
  openForTest,
  refusal,
  reject,
  waitingSession,
} from './samples.contract.ts'
import { diff, opened, step } from './supervised-samples.contract.ts'

/** Ann, Ben and Cem come by HTTP. */
const yes = (waitId: string, by: string, values: Partial<WaitAnswer> = {}): WaitAnswer =>
  approve(waitId, {
    by,
    outcome: {
      type: 'approved',
      reason: null,
      editedArguments: null,
      editedDigest: null,
      yes: { by, via: 'http' },
    },
    ...values,
  })

const said = (by: string, at = NOW + 1) => ({ by, via: 'http', at })

const waitingForTwo = (store: Store, quorum = 2) =>
  waitingSession(store, (run) => [newApproval(run, { quorum, answerableBy: 'operator' })])

export function describeQuorum(open: OpenStore): void {
  describe('an approval that several people have to say yes to', () => {
    test('stays pending after the first yes, which starts nothing', async () => {
      const { store, reopen } = await openForTest(open)
      const { session, run, waits } = await waitingForTwo(store)
      const [wait] = waits
      const id = wait?.id ?? ''

      const first = await done(store, accept(session, { answers: [yes(id, 'ann')] }))

      const gathered = { ...wait, decisions: [said('ann')] }
      expect(first).toMatchObject({ existing: true, run: { id: run.id, status: 'waiting' } })
      expect(first.answered).toEqual([{ applied: true, wait: gathered }])
      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.waits.get(id)).toEqual(gathered)
        expect((await current.runs.open(session.id)).map((one) => [one.id, one.status])).toEqual([[run.id, 'waiting']])
      }
    })

    test('is approved by the last yes, which starts the continuation', async () => {
      const { store } = await openForTest(open)
      const { session, run, waits } = await waitingForTwo(store)
      const [wait] = waits
      const id = wait?.id ?? ''
      await done(store, accept(session, { answers: [yes(id, 'ann')] }))

      const last = await done(store, accept(session, { answers: [yes(id, 'ben', { at: NOW + 5 })] }))

      expect([last.existing, last.completed?.id]).toEqual([false, run.id])
      expect(await store.waits.get(id)).toEqual({
        ...wait,
        status: 'approved',
        decisions: [said('ann'), said('ben', NOW + 5)],
        decidedAt: NOW + 5,
        decidedBy: 'ben',
        continuationRunId: last.run?.id,
      })
    })

    test('counts a person once, also when both yeses come at the same time', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingForTwo(store)
      const id = waits[0]?.id ?? ''

      const results = await commit(
        store,
        accept(session, { answers: [yes(id, 'ann')] }),
        accept(session, { answers: [yes(id, 'ann')] }),
        accept(session, { answers: [yes(id, 'ben')] }),
        accept(session, { answers: [yes(id, 'cem')] }),
      )

      expect(results.map((one) => (one.ok ? one.answered?.[0]?.applied : one))).toEqual([true, false, true, false])
      expect(await store.waits.get(id)).toMatchObject({
        status: 'approved',
        decidedBy: 'ben',
        decisions: [said('ann'), said('ben')],
      })
    })

    test('does not count a yes of nobody, or one to other arguments', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingForTwo(store)
      const id = waits[0]?.id ?? ''
      const edited = yes(id, 'ann')
      const { outcome } = edited
      if (outcome.type !== 'approved') throw new Error('not a yes')
      const other = { ...edited, outcome: { ...outcome, editedArguments: '{}', editedDigest: 'another' } }

      for (const answer of [approve(id), other]) {
        const { answered } = await done(store, accept(session, { answers: [answer] }))
        expect(answered).toEqual([{ applied: false, wait: waits[0] }])
      }
    })

    test.each([
      ['the first no', reject, 'rejected'],
      ['its end', expire, 'expired'],
    ] as const)('is closed by %s, however many have said yes', async (_, answer, status) => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingForTwo(store, 3)
      const id = waits[0]?.id ?? ''
      await done(store, accept(session, { answers: [yes(id, 'ann')] }))
      await done(store, accept(session, { answers: [yes(id, 'ben')] }))

      const last = await done(store, accept(session, { answers: [answer(id)] }))

      expect(last.existing).toBe(false)
      expect(await store.waits.get(id)).toMatchObject({ status, decisions: [said('ann'), said('ben')] })
    })

    test('keeps its yeses when another answer lets the run go on', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [
        newApproval(run, { quorum: 2 }),
        newApproval(run, { callId: 'other' }),
      ])
      const [two = '', one = ''] = waits.map(({ id }) => id)

      const { run, answered } = await done(store, accept(session, { answers: [yes(two, 'ann'), approve(one)] }))

      const kept = { ...waits[0], runId: run?.id, decisions: [said('ann')] }
      expect(answered?.[0]).toEqual({ applied: true, wait: kept })
      expect(await store.waits.get(two)).toEqual(kept)
      const late = await done(store, accept(session, { answers: [yes(two, 'ben')] }))
      expect([late.existing, late.run?.id]).toEqual([true, run?.id])
      expect(await store.waits.get(two)).toMatchObject({ status: 'approved', continuationRunId: run?.id })
    })

    test('leaves its run waiting when yeses are settled without a run', async () => {
      const { store } = await openForTest(open)
      const { run, waits } = await waitingForTwo(store)
      const id = waits[0]?.id ?? ''

      const { completed } = await done(store, { type: 'settle_waits', answers: [yes(id, 'ann')], now: NOW })

      expect([completed, (await store.runs.get(run.id))?.status]).toEqual([undefined, 'waiting'])
    })

    test('tells the feed and the audit trail about each yes, and makes no grant before the last', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingForTwo(store)
      const [wait] = waits
      if (wait?.wait !== 'approval') throw new Error('no approval')
      const { id } = wait
      const head = await store.feed.head()
      const say = (by: string) =>
        accept(session, {
          answers: [yes(id, by)],
          answerAudit: { [id]: decisionRecord(wait, by, 'approved', NOW) },
          grants: [newGrant({ approvalId: id })],
        })

      await done(store, say('ann'))
      await done(store, say('ann'))
      expect((await store.feed.items(head, 100)).map((one) => [one.kind, one.id, one.status])).toEqual([
        ['wait', id, 'pending'],
      ])
      expect(await store.grants.list({ now: NOW })).toEqual([])
      await done(store, say('ben'))

      const trail = await auditRecords(store)
      expect(trail.map(({ by, details }) => ({ by, ...details }))).toEqual([
        { by: 'ann', approval: id, decision: 'yes', digest: wait.digest, policy: 'v1', yeses: 1, needed: 2 },
        { by: 'ben', approval: id, decision: 'approved', digest: wait.digest, policy: 'v1' },
      ])
    })

    test('of an agent elsewhere is counted by the store too, once for each person', async () => {
      const { store } = await openForTest(open)
      const session = await opened(store)
      const asked = diff(session.id, { quorum: 2 })
      await done(store, step(session.id, 1, { ask: [asked] }))
      const { id } = asked
      const say = (version: number, by: string, force: boolean) => {
        const { outcome, ...answer } = yes(id, by)
        const counted = { ...outcome, yes: { by, via: 'http', force } } as WaitAnswer['outcome']
        return step(session.id, version, { settle: [{ id, patch: {}, answer: { ...answer, outcome: counted } }] })
      }

      await done(store, say(2, 'ann', true))
      expect(await refusal(store, say(3, 'ann', true))).toBe('conflict')
      // Two who read the same version at once: one is counted, and the other one has to look again.
      const both = await commit(store, say(3, 'ben', false), say(3, 'cem', true))

      expect(both.map(({ ok }) => ok)).toEqual([true, false])
      expect(await store.waits.get(id)).toMatchObject({
        status: 'approved',
        decidedBy: 'ben',
        supervised: { mayForce: false },
        decisions: [
          { ...said('ann'), force: true },
          { ...said('ben'), force: false },
        ],
      })
    })
  })
}
