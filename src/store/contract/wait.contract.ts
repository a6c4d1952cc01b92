import { describe, expect, test } from 'vitest'
import type { AnyRecord } from '../../domain/records/record.ts'
import type { WaitQuery } from '../ports/waits.ts'
import {
  accept,
  acceptedRun,
  answer,
  append,
  approve,
  auditors,
  beforeAndAfter,
  done,
  event,
  expire,
  finish,
  NOW,
  newApproval,
  newAudit,
  newClientCall,
  newId,
  newMessage,
  newSession,
  type OpenStore,
  openForTest,
  readSession,
  refusal,
  reject,
  waitingSession,
} from './samples.contract.ts'

const idsOf = (waits: readonly AnyRecord[]): string[] => waits.map(({ id }) => id)

export function describeWaits(open: OpenStore): void {
  describe('a run that waits', () => {
    test('stores what it waits for, also after a restart', async () => {
      const { store, reopen } = await openForTest(open)
      const half = 'half a pair: \ud83d'
      const { session, run, waits } = await waitingSession(store, (run) => [
        newApproval(run, { messageRefs: { slack: 'C1/2' }, beforeHash: 'b', afterHash: 'a', description: half }),
        newClientCall(run, { lane: 'planner', onExpiry: 'complete', expiresAt: NOW + 5 }),
      ])

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await Promise.all(waits.map(({ id }) => current.waits.get(id)))).toEqual(waits)
        expect(await current.runs.open(session.id)).toEqual([run])
        expect(await current.runs.orphans(NOW * 2, 10)).toEqual([])
      }
    })

    test('has waits that are found by their id only', async () => {
      const { store } = await openForTest(open)
      const { waits } = await waitingSession(store, (run) => [newApproval(run)])

      expect(await store.waits.get(waits[0]?.id ?? '')).toEqual(waits[0])
      expect(await store.waits.get(newId())).toBe(null)
    })

    test('lists what is done by the time of the decision, the last one first, page by page', async () => {
      const { store, reopen } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) =>
        [1, 2, 3, 4, 5].map((n) => newApproval(run, { createdAt: NOW + n })),
      )
      const [a = '', b = '', c = '', d = '', e = ''] = idsOf(waits)
      const answers = [reject(d, { at: NOW + 10 }), expire(a, { at: NOW + 20 }), approve(c, { at: NOW + 20 })]
      await done(store, { type: 'settle_waits', answers, now: NOW + 20 })
      await done(store, { type: 'settle_waits', answers: [reject(b, { at: NOW + 30 })], now: NOW + 30 })
      // Of two that were decided at the same time, the one with the higher id comes first.
      const inOrder = [b, ...[a, c].sort().reverse(), d]

      for await (const current of beforeAndAfter(store, reopen)) {
        for (const query of [{}, { wait: 'approval' }, { sessionId: session.id }, { owner: session.owner }] as const) {
          expect(idsOf(await current.waits.list({ ...query, isDone: true, limit: 10 }))).toEqual(inOrder)
          const first = await current.waits.list({ ...query, isDone: true, limit: 2 })
          const before = { createdAt: NOW + 20, id: first[1]?.id ?? '' }
          expect(idsOf(await current.waits.list({ ...query, isDone: true, limit: 10, before }))).toEqual(
            inOrder.slice(2),
          )
        }
        expect(idsOf(await current.waits.list({ isWaiting: true, limit: 10 }))).toEqual([e])
      }
    })

    test('cannot ask for a wait that exists already, and then nothing of it is written', async () => {
      const { store } = await openForTest(open)
      const { waits } = await waitingSession(store, (run) => [newApproval(run)])
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      const before = await readSession(store, session, [run])
      const again = { ...newApproval(run), id: waits[0]?.id ?? '' }
      const twin = newApproval(run)
      const unsaid = { status: 'waiting', messages: [newMessage('unsaid')], audit: [newAudit('unsaid')] } as const

      expect(await refusal(store, finish(run, { ...unsaid, waits: [newClientCall(run), again] }))).toBe('conflict')
      expect(await refusal(store, finish(run, { ...unsaid, waits: [twin, twin] }))).toBe('conflict')

      expect(await readSession(store, session, [run])).toEqual(before)
      expect(await store.waits.list({ sessionId: session.id, limit: 10 })).toEqual([])
      expect(await store.audit.entries(0, 10)).toEqual([])
      expect((await done(store, append(run, []))).ok).toBe(true)
    })

    test.each(['completed', 'failed', 'cancelled', 'interrupted'] as const)(
      'interrupts what is pending when it ends as %s',
      async (status) => {
        const { store, reopen } = await openForTest(open)
        const { run, waits } = await waitingSession(store, (run) => [newApproval(run), newClientCall(run)])
        const other = await waitingSession(store, (run) => [newApproval(run)])
        await done(store, { type: 'request_cancel', runId: run.id, entries: [] })

        await done(store, finish(run, { status, now: NOW + 7 }))

        const [approval, call] = waits
        for await (const current of beforeAndAfter(store, reopen)) {
          expect(await Promise.all(waits.map(({ id }) => current.waits.get(id)))).toEqual([
            { ...approval, status: 'interrupted', decidedAt: NOW + 7 },
            { ...call, status: 'interrupted' },
          ])
          expect(await current.runs.get(run.id)).toMatchObject({ status, cancelRequested: true })
          expect(await current.waits.get(other.waits[0]?.id ?? '')).toEqual(other.waits[0])
        }
      },
    )

    test('cannot begin to wait again, and is fenced as before', async () => {
      const { store } = await openForTest(open)
      const { run } = await waitingSession(store, (run) => [newApproval(run)])

      expect(await refusal(store, finish(run, { status: 'waiting' }))).toBe('run_fenced')
      expect(await refusal(store, finish({ ...run, fence: run.fence + 1 }, { status: 'cancelled' }))).toBe('run_fenced')
      expect(await refusal(store, append(run, []))).toBe('run_fenced')
    })

    test('cannot begin to wait after it was asked to stop', async () => {
      const { store } = await openForTest(open)
      const run = await acceptedRun(store, accept(newSession()))
      await done(store, { type: 'request_cancel', runId: run.id, entries: [] })

      expect(await refusal(store, finish(run, { status: 'waiting', waits: [newApproval(run)] }))).toBe('conflict')
      expect(await store.runs.get(run.id)).toMatchObject({ status: 'running' })
      await done(store, finish(run, { status: 'cancelled' }))
    })

    test('keeps its last seq if it ends without entries, whatever was written after it', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const running = await acceptedRun(store, accept(session))
      const queued = await acceptedRun(store, accept(session))
      await done(store, finish(running, { status: 'waiting', waits: [newApproval(running)] }))
      await done(store, { type: 'request_cancel', runId: running.id, entries: [event('CUSTOM')] })
      await done(store, { type: 'request_cancel', runId: queued.id, entries: [event('CUSTOM')] })
      expect(await store.head(session.id)).toBe(6)

      await done(store, finish(running, { status: 'cancelled', entries: [] }))

      expect(await store.runs.get(running.id)).toMatchObject({ status: 'cancelled', lastSeq: 5 })
    })
  })

  describe('settling waits', () => {
    test('completes a waiting run with nothing left to wait for, and starts none', async () => {
      const { store, reopen } = await openForTest(open)
      const { session, run, waits } = await waitingSession(store, (run) => [newClientCall(run), newClientCall(run)])
      const [first, second] = idsOf(waits)
      const settle = (...answers: ReturnType<typeof expire>[]) =>
        ({ type: 'settle_waits', answers, now: NOW + 9 }) as const

      const half = await done(store, settle(expire(first ?? '')))
      expect(half).toEqual({
        ok: true,
        firstSeq: 0,
        answered: [{ applied: true, wait: { ...waits[0], status: 'expired' } }],
      })
      expect((await store.runs.get(run.id))?.status).toBe('waiting')

      const whole = await done(store, settle(expire(first ?? ''), answer(second ?? ''), expire(newId())))

      const completed = { ...run, status: 'completed', finishedAt: NOW + 9 }
      expect(whole).toEqual({
        ok: true,
        firstSeq: 0,
        answered: [
          { applied: false, wait: { ...waits[0], status: 'expired' } },
          { applied: true, wait: { ...waits[1], status: 'answered', answeredAt: NOW + 1 } },
          { applied: false, wait: null },
        ],
        completed,
      })
      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.runs.get(run.id)).toEqual(completed)
        expect(await current.runs.open(session.id)).toEqual([])
      }
    })

    test('is recorded in the audit trail if it was applied', async () => {
      const { store } = await openForTest(open)
      const { waits } = await waitingSession(store, (run) => [newApproval(run)])
      const [id = ''] = idsOf(waits)
      const settle = {
        type: 'settle_waits',
        answers: [expire(id)],
        answerAudit: { [id]: newAudit('timeout') },
      } as const

      await done(store, { ...settle, now: NOW })
      await done(store, { ...settle, now: NOW })

      expect(await auditors(store)).toEqual(['timeout'])
      expect(await store.waits.get(id)).toMatchObject({
        status: 'expired',
        decidedBy: 'timeout',
        continuationRunId: null,
      })
    })

    test('gives the answer to a run that already continued', async () => {
      const { store } = await openForTest(open)
      const { session, run, waits } = await waitingSession(store, (run) => [newApproval(run), newClientCall(run)])
      const [approval = '', call = ''] = idsOf(waits)
      const next = await acceptedRun(store, accept(session, { answers: [reject(approval)] }))

      const result = await done(store, { type: 'settle_waits', answers: [expire(call)], now: NOW })

      expect(result.completed).toBe(undefined)
      expect(await store.waits.get(call)).toMatchObject({
        status: 'expired',
        runId: next.id,
        continuationRunId: next.id,
      })
      expect((await store.runs.get(next.id))?.status).toBe('running')
      expect((await store.runs.get(run.id))?.status).toBe('completed')
    })
  })

  describe('finding waits', () => {
    test('lists them newest first, in pages and by filters', async () => {
      const { store } = await openForTest(open)
      const made = async (owner: string, times: readonly number[]) =>
        waitingSession(
          store,
          (run) => [
            ...times.map((createdAt) => newApproval(run, { createdAt })),
            ...times.map((createdAt) => newClientCall(run, { createdAt: createdAt + 1 })),
          ],
          { owner },
        )
      const ann = await made('ann', [10, 30])
      const bob = await made('bob', [20, 40])
      const all = [...ann.waits, ...bob.waits].toSorted((a, b) => b.createdAt - a.createdAt)
      const found = async (query: Omit<WaitQuery, 'limit'>) => idsOf(await store.waits.list({ ...query, limit: 100 }))
      const those = (is: (wait: AnyRecord) => boolean) => idsOf(all.filter(is))

      expect(all.map(({ createdAt }) => createdAt)).toEqual([41, 40, 31, 30, 21, 20, 11, 10])
      expect(await store.waits.list({ limit: 100 })).toEqual(all)
      expect(await found({ owner: 'ann' })).toEqual(those(({ owner }) => owner === 'ann'))
      expect(await found({ wait: 'approval' })).toEqual(those(({ wait }) => wait === 'approval'))
      expect(await found({ sessionId: bob.session.id })).toEqual(those(({ owner }) => owner === 'bob'))
      expect(await found({ sessionId: bob.session.id, owner: 'ann' })).toEqual([])
      expect(await found({ runId: ann.run.id, wait: 'client_call' })).toEqual(
        those(({ owner, wait }) => owner === 'ann' && wait === 'client_call'),
      )
      expect(await found({ sessionId: newId() })).toEqual([])

      const next = await acceptedRun(store, accept(ann.session, { answers: [approve(ann.waits[0]?.id ?? '')] }))
      expect(await found({ status: 'approved' })).toEqual([ann.waits[0]?.id])
      expect(await found({ status: 'approved', owner: 'bob', wait: 'approval' })).toEqual([])
      expect(await found({ continuationRunId: next.id })).toEqual([ann.waits[0]?.id])
      expect(await found({ runId: ann.run.id })).toEqual([ann.waits[0]?.id])
      expect(await found({ runId: next.id, status: 'pending' })).toEqual(
        those(({ owner, id }) => owner === 'ann' && id !== ann.waits[0]?.id),
      )

      const pages: string[][] = []
      let before: WaitQuery['before']
      for (;;) {
        const page = await store.waits.list({ limit: 3, before })
        if (page.length === 0) break
        pages.push(idsOf(page))
        before = page.at(-1)
      }
      expect(pages.map((page) => page.length)).toEqual([3, 3, 2])
      expect(pages.flat()).toEqual(idsOf(all))
    })

    test('gives waits of the same moment a stable order', async () => {
      const { store } = await openForTest(open)
      const { waits } = await waitingSession(store, (run) => [newApproval(run), newClientCall(run), newApproval(run)])
      const ordered = idsOf(waits).toSorted().reverse()

      expect(idsOf(await store.waits.list({ limit: 10 }))).toEqual(ordered)
      const before = { createdAt: NOW, id: ordered[0] ?? '' }
      expect(idsOf(await store.waits.list({ limit: 1, before }))).toEqual([ordered[1]])
    })

    test('finds expired ones, oldest first, until they are answered', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) =>
        [30, 10, null, 20].map((expiresAt) => newApproval(run, { expiresAt })),
      )
      const [thirty, ten, , twenty] = idsOf(waits)
      const due = async (now: number, limit = 10) => idsOf(await store.waits.expired(now, limit))

      expect(await due(9)).toEqual([])
      expect(await due(10)).toEqual([ten])
      expect(await due(1_000)).toEqual([ten, twenty, thirty])
      expect(await due(1_000, 2)).toEqual([ten, twenty])
      await done(store, accept(session, { answers: [expire(ten ?? '')] }))
      expect(await due(1_000)).toEqual([twenty, thirty])
    })

    test('returns copies, so a caller cannot change the stored ones', async () => {
      const { store } = await openForTest(open)
      const { waits } = await waitingSession(store, (run) => [newApproval(run, { messageRefs: { slack: 'C1' } })])
      const wait = await store.waits.get(waits[0]?.id ?? '')
      const before = structuredClone(wait)

      if (wait?.wait === 'approval') wait.messageRefs.slack = 'changed'

      expect(await store.waits.get(waits[0]?.id ?? '')).toEqual(before)
    })
  })
}
