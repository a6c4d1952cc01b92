import { describe, expect, test } from 'vitest'
import {
  accept,
  acceptedRun,
  append,
  approve,
  auditors,
  beforeAndAfter,
  done,
  finish,
  NOW,
  newApproval,
  newAudit,
  newGrant,
  newSession,
  type OpenStore,
  openForTest,
  reject,
  waitingSession,
} from './samples.contract.ts'

const question = { index: 0, effect: 'once' as const, message: 'Which size?', schema: { type: 'string' } }
const respond = (waitId: string, response: string, values: { at?: number } = {}) =>
  approve(waitId, { outcome: { type: 'responded', response, reason: null }, ...values })

export function describeQuestions(open: OpenStore): void {
  describe('a question of a tool', () => {
    test('is answered once, keeps its answer, and starts the continuation', async () => {
      const { store, reopen } = await openForTest(open)
      const asked = await waitingSession(store, (run) => [newApproval(run, { kind: 'question', question })])
      const [wait] = asked.waits
      const id = wait?.id ?? ''

      const first = await done(store, accept(asked.session, { answers: [respond(id, '"L"')] }))
      const second = await done(store, accept(asked.session, { answers: [respond(id, '"S"')] }))

      const answered = {
        ...wait,
        status: 'answered',
        response: '"L"',
        decidedAt: NOW + 1,
        decidedBy: 'ann',
        continuationRunId: first.run?.id,
      }
      expect(first.answered).toEqual([{ applied: true, wait: answered }])
      expect(second.answered).toEqual([{ applied: false, wait: answered }])
      expect([second.existing, second.run?.id]).toEqual([true, first.run?.id])
      for await (const current of beforeAndAfter(store, reopen)) expect(await current.waits.get(id)).toEqual(answered)
    })

    test('cannot be approved, and a late answer is not applied', async () => {
      const { store } = await openForTest(open)
      const values = { kind: 'question', question, expiresAt: NOW + 10 } as const
      const { session, waits } = await waitingSession(store, (run) => [newApproval(run, values)])
      const id = waits[0]?.id ?? ''

      for (const answer of [approve(id), respond(id, '"L"', { at: NOW + 10 })]) {
        const { answered } = await done(store, { type: 'settle_waits', answers: [answer], now: NOW + 10 })
        expect(answered).toMatchObject([{ applied: false, wait: { status: 'pending' } }])
      }
      await done(store, accept(session, { answers: [reject(id)] }))
      expect(await store.waits.get(id)).toMatchObject({ status: 'rejected' })
    })

    test('that a run holds is stored while it executes, answered without another run, and ends with its run', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      const held = { ...question, held: true as const }
      const [one, two, three] = [0, 1, 2].map(() => newApproval(run, { kind: 'question', question: held }))
      if (one === undefined || two === undefined || three === undefined) throw new Error('there are three')
      await done(store, append(run, [], { sync: true, waits: [one, two, three], audit: [newAudit('asked')] }))
      const cursor = await store.feed.head()

      const { run: taker, answered } = await done(store, accept(session, { answers: [respond(one.id, '"L"')] }))
      const closed = { waitId: two.id, at: NOW + 2, by: 'restart', outcome: { type: 'interrupted' as const } }
      await done(store, { type: 'settle_waits', answers: [closed], now: NOW + 2 })
      await done(store, finish(run, { status: 'completed' }))

      expect([taker?.id, answered?.[0]?.applied]).toEqual([run.id, true])
      const items = await store.feed.items(cursor, 100)
      expect(items.flatMap((item) => (item.kind === 'wait' ? [[item.id, item.status]] : []))).toEqual([
        [one.id, 'answered'],
        [two.id, 'interrupted'],
        [three.id, 'interrupted'],
      ])
      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.waits.get(two.id)).toMatchObject({ status: 'interrupted', decidedBy: 'restart' })
        expect(await current.waits.get(three.id)).toMatchObject({ status: 'interrupted', decidedBy: null })
        expect(await auditors(current)).toEqual(['asked'])
      }
    })
  })

  test('a refusal in advance is made together with a rejection, and only then', async () => {
    const { store, reopen } = await openForTest(open)
    const { session, waits } = await waitingSession(store, (run) => [newApproval(run), newApproval(run)])
    const [yes = '', no = ''] = waits.map(({ id }) => id)
    const made = newGrant({ approvalId: no, effect: 'refuse' })
    const other = newGrant({ approvalId: yes, effect: 'refuse' })

    await done(store, accept(session, { answers: [approve(yes), reject(no)], grants: [made, other] }))

    for await (const current of beforeAndAfter(store, reopen)) {
      expect(await current.grants.list({ now: NOW })).toEqual([made])
    }
  })
}
