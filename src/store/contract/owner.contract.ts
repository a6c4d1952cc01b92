import { describe, expect, test } from 'vitest'
import type { ClaimRun, ReleaseRun, RequestCancel } from '../ports/runs.ts'
import {
  accept,
  acceptedRun,
  append,
  codeOf,
  commit,
  done,
  fact,
  finish,
  NOW,
  newId,
  newSession,
  type OpenStore,
  openForTest,
  PROCESS,
  readSession,
  refusal,
  start,
  text,
} from './samples.contract.ts'

const claim = (runId: string, fence: number, values: Partial<ClaimRun> = {}): ClaimRun => ({
  type: 'claim_run',
  runId,
  fence,
  leaseOwner: 'process-2',
  entries: [fact('run_recovered')],
  ...values,
})
const release = (runId: string, fence: number): ReleaseRun => ({ type: 'release_run', runId, fence })
const cancel = (runId: string): RequestCancel => ({
  type: 'request_cancel',
  runId,
  entries: [fact('cancel_requested')],
})

export function describeOwners(open: OpenStore): void {
  describe('changing owners', () => {
    test('a claim fences off the previous owner', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))

      await done(store, claim(run.id, run.fence))

      const claimed = await store.runs.get(run.id)
      expect(claimed).toEqual({ ...run, fence: 2, leaseOwner: 'process-2', lastSeq: claimed?.lastSeq })
      if (claimed === null) return
      expect(await refusal(store, append(run, [text('late')]))).toBe('run_fenced')
      expect(await refusal(store, finish(run))).toBe('run_fenced')
      expect(await refusal(store, release(run.id, run.fence))).toBe('run_fenced')
      expect((await done(store, append(claimed, [text('on')]))).ok).toBe(true)
      expect((await done(store, finish(claimed))).ok).toBe(true)
    })

    test('the first of two claims wins, and only a running run can be claimed', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      const queued = await acceptedRun(store, accept(session))

      const [won, lost] = await commit(
        store,
        claim(run.id, run.fence, { leaseOwner: 'a' }),
        claim(run.id, run.fence, { leaseOwner: 'b' }),
      )
      expect(won?.ok).toBe(true)
      expect(codeOf(lost)).toBe('run_fenced')
      expect(await store.runs.get(run.id)).toMatchObject({ leaseOwner: 'a', fence: 2 })

      expect((await commit(store, claim(queued.id, queued.fence)))[0]?.ok).toBe(false)
      await done(store, finish({ ...run, fence: 2 }))
      expect((await commit(store, claim(run.id, 2)))[0]?.ok).toBe(false)
      expect(await refusal(store, claim(newId(), 1))).toBe('run_not_found')
    })

    test('a claim continues after every seq that may have been sent', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      await done(store, append(run, [text('a'), text('b')]))

      const first = await done(store, claim(run.id, 1))
      expect(first.firstSeq).toBeGreaterThan(4)
      const more = await done(store, append({ ...run, fence: 2 }, [text('c')]))
      expect(more.firstSeq).toBe(first.firstSeq + 1)

      const store2 = await reopen()
      const second = await done(store2, claim(run.id, 2, { entries: [fact('run_recovered'), text('d')] }))
      expect(second.firstSeq).toBeGreaterThan(more.firstSeq)
      const last = await done(store2, append({ ...run, fence: 3 }, [text('e')]))

      expect((await store2.entries(session.id, 2, 100)).map(({ seq, data }) => [seq, data])).toEqual([
        [3, text('a').data],
        [4, text('b').data],
        [first.firstSeq, fact('run_recovered').data],
        [more.firstSeq, text('c').data],
        [second.firstSeq, fact('run_recovered').data],
        [second.firstSeq + 1, text('d').data],
        [last.firstSeq, text('e').data],
      ])
      expect(await store2.head(session.id)).toBe(last.firstSeq)
    })

    test('a claim without entries changes the owner but not the log', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      const before = await readSession(store, session)

      expect(await done(store, claim(run.id, run.fence, { entries: [] }))).toMatchObject({ firstSeq: 0 })

      const after = await readSession(store, session)
      expect([after.head, after.entries]).toEqual([before.head, before.entries])
    })

    test('an owner whose lease ran out may write until the run is claimed, and never beside the new owner', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const stalled = await acceptedRun(store, accept(session))
      await done(store, { type: 'renew_lease', leaseOwner: PROCESS, until: NOW - 1 })
      expect((await store.runs.orphans(NOW, 10)).map(({ id }) => id)).toEqual([stalled.id])
      const next = { ...stalled, fence: stalled.fence + 1 }

      const results = await commit(
        store,
        append(stalled, [text('old')]),
        claim(stalled.id, stalled.fence),
        append(stalled, [text('late')]),
        append(next, [text('new')]),
      )

      expect(results.map((result) => (result.ok ? 'ok' : codeOf(result)))).toEqual(['ok', 'ok', 'run_fenced', 'ok'])
      expect((await store.entries(session.id, 2, 10)).map(({ data }) => data)).toEqual(
        [text('old'), fact('run_recovered'), text('new')].map(({ data }) => data),
      )
    })

    test('a restart alone fences nobody off: the claim does', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      await done(store, append(run, [text('sent')]))

      const store2 = await reopen()

      const { firstSeq } = await done(store2, append(run, [text('old')]))
      expect(firstSeq).toBeGreaterThan(3)
      await done(store2, claim(run.id, run.fence))
      expect(await refusal(store2, append(run, [text('late')]))).toBe('run_fenced')
      expect((await store2.entries(session.id, 2, 10)).map(({ data }) => data)).toEqual(
        [text('sent'), text('old'), fact('run_recovered')].map(({ data }) => data),
      )
    })

    test('a released run belongs to nobody until it is claimed', async () => {
      const { store } = await openForTest(open)
      const run = await acceptedRun(store, accept(newSession()))
      await done(store, { type: 'renew_lease', leaseOwner: PROCESS, until: NOW + 1_000 })
      expect(await refusal(store, release(run.id, run.fence + 1))).toBe('run_fenced')
      expect(await store.runs.orphans(NOW, 10)).toEqual([])

      await done(store, release(run.id, run.fence))

      const released = await store.runs.get(run.id)
      expect(released).toEqual({ ...run, fence: run.fence + 1, leaseOwner: null })
      expect(await store.runs.orphans(NOW, 10)).toEqual([released])
      expect(await refusal(store, append(run, [text('late')]))).toBe('run_fenced')
      expect(await refusal(store, finish(run))).toBe('run_fenced')
      expect(await refusal(store, claim(run.id, run.fence))).toBe('run_fenced')
      await done(store, claim(run.id, run.fence + 1))
      expect(await store.runs.get(run.id)).toMatchObject({ status: 'running', leaseOwner: 'process-2' })
    })

    test('a run that has ended cannot be released', async () => {
      const { store } = await openForTest(open)
      const run = await acceptedRun(store, accept(newSession()))
      await done(store, finish(run))

      expect((await commit(store, release(run.id, run.fence)))[0]?.ok).toBe(false)
      expect(await store.runs.get(run.id)).toMatchObject({ status: 'completed' })
    })
  })

  describe('owned runs', () => {
    test('are the running runs of one owner, with their fence and whether they were asked to stop', async () => {
      const { store } = await openForTest(open)
      const [one, two] = [newSession(), newSession()]
      const a = await acceptedRun(store, accept(one, { leaseOwner: 'a' }))
      await acceptedRun(store, accept(one, { leaseOwner: 'a' }))
      const taken = await acceptedRun(store, accept(two, { leaseOwner: 'a' }))
      const ended = await acceptedRun(store, accept(newSession(), { leaseOwner: 'a' }))
      await commit(store, claim(taken.id, taken.fence, { leaseOwner: 'b' }), cancel(taken.id), finish(ended))

      expect(await store.runs.owned('a')).toEqual([{ id: a.id, sessionId: one.id, fence: 1, cancelRequested: false }])
      expect(await store.runs.owned('b')).toEqual([
        { id: taken.id, sessionId: two.id, fence: 2, cancelRequested: true },
      ])
      await done(store, release(a.id, a.fence))
      expect(await store.runs.owned('a')).toEqual([])
    })
  })

  describe('orphans', () => {
    test('include running runs whose owner has no live lease', async () => {
      const { store } = await openForTest(open)
      const a = await acceptedRun(store, accept(newSession(), { leaseOwner: 'a' }))
      const b = await acceptedRun(store, accept(newSession(), { leaseOwner: 'b' }))
      const c = await acceptedRun(store, accept(newSession(), { leaseOwner: 'c' }))
      const found = async (now: number) => (await store.runs.orphans(now, 10)).map((run) => run.id).sort()

      await commit(
        store,
        { type: 'renew_lease', leaseOwner: 'a', until: NOW + 100 },
        { type: 'renew_lease', leaseOwner: 'b', until: NOW + 200 },
      )

      expect(await found(NOW + 50)).toEqual([c.id])
      expect(await found(NOW + 150)).toEqual([a.id, c.id].sort())
      await done(store, { type: 'renew_lease', leaseOwner: 'a', until: NOW + 300 })
      expect(await found(NOW + 150)).toEqual([c.id])
      await done(store, claim(c.id, c.fence, { leaseOwner: 'b' }))
      expect(await found(NOW + 150)).toEqual([])
      expect(await found(NOW + 250)).toEqual([b.id, c.id].sort())
      await done(store, finish(b))
      expect(await found(NOW + 250)).toEqual([c.id])
      expect(await found(NOW + 350)).toEqual([a.id, c.id].sort())
      expect((await store.runs.orphans(NOW + 350, 1)).length).toBe(1)
    })

    test('include the runs of all other owners once those are proven dead', async () => {
      const { store } = await openForTest(open)
      const before = await acceptedRun(store, accept(newSession(), { leaseOwner: 'before' }))
      await acceptedRun(store, accept(newSession(), { leaseOwner: 'now' }))
      await done(store, { type: 'renew_lease', leaseOwner: 'before', until: NOW + 1_000 })

      await done(store, { type: 'renew_lease', leaseOwner: 'now', until: NOW + 1_000 })
      expect(await store.runs.orphans(NOW, 10)).toEqual([])
      await done(store, { type: 'renew_lease', leaseOwner: 'now', until: NOW + 1_000, endOthers: true })
      expect(await store.runs.orphans(NOW, 10)).toEqual([before])
    })

    test('include queued runs with no run before them', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      await done(store, { type: 'renew_lease', leaseOwner: PROCESS, until: NOW + 1_000 })
      const first = await acceptedRun(store, accept(session))
      const second = await acceptedRun(store, accept(session))
      const third = await acceptedRun(store, accept(session))
      const found = async () => (await store.runs.orphans(NOW, 10)).map((run) => run.id)

      expect(await found()).toEqual([])
      await done(store, finish(first))
      expect(await found()).toEqual([second.id])
      await done(store, start(second.id))
      expect(await found()).toEqual([])
      await done(store, finish({ ...second, fence: 1 }, { status: 'waiting' }))
      expect(await found()).toEqual([])
      const waiting = await store.runs.get(second.id)
      await done(store, finish({ ...second, fence: waiting?.fence ?? 0 }, { status: 'cancelled', entries: [] }))
      expect(await found()).toEqual([third.id])
      await done(store, finish(third, { status: 'cancelled' }))
      expect(await found()).toEqual([])
    })
  })

  describe('asking a run to stop', () => {
    test('is recorded, and the run goes on until its owner ends it', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      const queued = await acceptedRun(store, accept(session))
      expect(run.cancelRequested).toBe(false)

      const results = await commit(store, cancel(run.id), cancel(queued.id))

      expect(results).toMatchObject([
        { ok: true, firstSeq: 4 },
        { ok: true, firstSeq: 5 },
      ])
      expect(await store.runs.get(run.id)).toMatchObject({ status: 'running', cancelRequested: true, fence: 1 })
      expect(await store.runs.get(queued.id)).toMatchObject({ status: 'queued', cancelRequested: true })
      expect(await store.entries(session.id, 3, 10)).toEqual([
        { seq: 4, runId: run.id, ...fact('cancel_requested') },
        { seq: 5, runId: queued.id, ...fact('cancel_requested') },
      ])
      expect((await done(store, append(run, [text('on')]))).firstSeq).toBe(6)
      expect((await done(store, cancel(run.id))).ok).toBe(true)
    })

    test('is refused once the run has ended', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      await done(store, finish(run))

      expect(await refusal(store, cancel(run.id))).toBe('conflict')
      expect(await refusal(store, cancel(newId()))).toBe('run_not_found')
      expect(await store.runs.get(run.id)).toMatchObject({ cancelRequested: false })
      expect(await store.head(session.id)).toBe(3)
    })
  })
}
