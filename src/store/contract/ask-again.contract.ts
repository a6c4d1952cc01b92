import { describe, expect, test } from 'vitest'
import type { AskAgain } from '../ports/waits.ts'
import {
  accept,
  acceptedRun,
  approve,
  auditors,
  beforeAndAfter,
  done,
  finish,
  NOW,
  newApproval,
  newAudit,
  newClientCall,
  type OpenStore,
  openForTest,
  refusal,
  reject,
  waitingSession,
} from './samples.contract.ts'

const again = (waitId: string, approval: AskAgain['approval'], by = 'change'): AskAgain => ({
  type: 'ask_again',
  waitId,
  approval,
  by: 'change',
  reason: 'The tool has changed.',
  at: NOW + 7,
  audit: [newAudit(by)],
})

export function describeAskingAgain(open: OpenStore): void {
  describe('asking again', () => {
    test('closes the old question and asks the new one in one step, and the same run waits', async () => {
      const { store, reopen } = await openForTest(open)
      const { session, run, waits } = await waitingSession(store, (run) => [newApproval(run), newClientCall(run)])
      const [old] = waits
      const next = newApproval(run, { digest: 'new', createdAt: NOW + 7 })

      const result = await done(store, again(old?.id ?? '', next))

      const asked = { ...next, callId: old?.callId, lane: old?.lane }
      expect(result).toEqual({ ok: true, firstSeq: 0, answered: [{ applied: true, wait: asked }] })
      for await (const current of beforeAndAfter(store, reopen)) {
        const closed = { decidedAt: NOW + 7, decidedBy: 'change', reason: 'The tool has changed.' }
        expect(await current.waits.get(old?.id ?? '')).toEqual({ ...old, status: 'interrupted', ...closed })
        expect(await current.waits.get(next.id)).toEqual(asked)
        expect(await current.runs.open(session.id)).toEqual([run])
        expect(await auditors(current)).toEqual(['change'])
      }
    })

    test('lets the new question be answered, and not the old one', async () => {
      const { store } = await openForTest(open)
      const { session, run, waits } = await waitingSession(store, (run) => [newApproval(run)])
      const old = waits[0]?.id ?? ''
      const next = newApproval(run)
      await done(store, again(old, next))

      const late = await done(store, accept(session, { answers: [approve(old)] }))
      expect(late.answered).toMatchObject([{ applied: false, wait: { status: 'interrupted' } }])
      const going = await acceptedRun(store, accept(session, { answers: [approve(next.id)] }))

      expect(await store.waits.get(next.id)).toMatchObject({ status: 'approved', continuationRunId: going.id })
    })

    test('does nothing after somebody answered or asked again', async () => {
      const { store } = await openForTest(open)
      const { session, run, waits } = await waitingSession(store, (run) => [newApproval(run), newApproval(run)])
      const [first = '', second = ''] = waits.map(({ id }) => id)
      await acceptedRun(store, accept(session, { answers: [reject(first)] }))
      const won = newApproval(run)
      await done(store, again(second, won))

      const results = [
        await done(store, again(first, newApproval(run), 'late')),
        await done(store, again(second, newApproval(run), 'late')),
        await done(store, again(won.callId, newApproval(run), 'nobody')),
      ]

      expect(results.map(({ answered }) => answered?.[0]?.applied)).toEqual([false, false, false])
      expect(results.map(({ answered }) => answered?.[0]?.wait?.status)).toEqual(['rejected', 'interrupted', undefined])
      expect(await store.waits.list({ status: 'pending', limit: 10 })).toMatchObject([{ id: won.id }])
      expect(await auditors(store)).toEqual(['change'])
    })

    test('works while the run continues, which then waits for the new question and not for the old one', async () => {
      const { store } = await openForTest(open)
      const { session, run, waits } = await waitingSession(store, (run) => [newApproval(run), newApproval(run)])
      const [first = '', second = ''] = waits.map(({ id }) => id)
      const going = await acceptedRun(store, accept(session, { answers: [reject(first)] }))
      const next = newApproval(run)

      await done(store, again(second, next))

      expect((await store.waits.get(next.id))?.runId).toBe(going.id)
      expect(await refusal(store, finish(going, { status: 'waiting', stillPending: [second] }))).toBe('conflict')
      await done(store, finish(going, { status: 'waiting', stillPending: [next.id] }))
    })
  })
}
