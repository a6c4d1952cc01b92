import { describe, expect, test } from 'vitest'
import { present } from '../../domain/present.ts'
import type { AnyRecord } from '../../domain/records/record.ts'
import {
  accept,
  acceptedRun,
  answer,
  append,
  approve,
  auditors,
  beforeAndAfter,
  commit,
  done,
  expire,
  fact,
  finish,
  NOW,
  newApproval,
  newAudit,
  newClientCall,
  newGrant,
  newId,
  newMessage,
  newSession,
  type OpenStore,
  openForTest,
  readSession,
  refusal,
  reject,
  STARTED,
  snapshot,
  text,
  waitingSession,
} from './samples.contract.ts'

const idsOf = (waits: readonly AnyRecord[]): string[] => waits.map(({ id }) => id)

export function describeWaitingSessions(open: OpenStore): void {
  describe('waits side by side', () => {
    test('pending waits pass to the continuation, which waits for them', async () => {
      const { store, reopen } = await openForTest(open)
      const { session, run, waits } = await waitingSession(store, (run) => [
        newApproval(run, { createdAt: NOW }),
        newApproval(run, { createdAt: NOW + 1, expiresAt: NOW }),
      ])
      const [first = '', second = ''] = idsOf(waits)

      const result = await done(store, accept(session, { answers: [approve(first), approve(second)] }))
      const next = result.run ?? run
      // The second answer came too late, so the new run waits for it.
      const passed = { ...waits[1], runId: next.id }
      expect(result.answered).toMatchObject([{ applied: true, wait: { runId: run.id } }, { applied: false }])
      expect(result.answered?.[1]?.wait).toEqual(passed)
      expect(await store.waits.get(second)).toEqual(passed)

      const third = newApproval(next, { createdAt: NOW + 2 })
      const again = await done(
        store,
        finish(next, { status: 'waiting', stillPending: [second], waits: [third], audit: [newAudit('asked')] }),
      )
      expect(again.run).toMatchObject({ id: next.id, status: 'waiting' })
      expect(idsOf(await store.waits.list({ runId: next.id, limit: 10 }))).toEqual([third.id, second])

      const store2 = await reopen()
      const last = await done(store2, accept(session, { answers: [expire(second), reject(third.id)] }))
      expect(last.completed).toMatchObject({ id: next.id, status: 'completed' })
      expect(last.answered).toMatchObject([{ applied: true }, { applied: true }])
      expect(await auditors(store2)).toEqual(['asked', 'assistant'])
    })

    test('a late answer beside a valid one brings no second result', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [
        newClientCall(run, { callId: 'one' }),
        newClientCall(run, { callId: 'two' }),
      ])
      const [one = '', two = ''] = idsOf(waits)
      const result = (id: string, toolCallId: string) => newMessage(id, { role: 'tool', toolCallId })
      const brings = (...messages: ReturnType<typeof result>[]) => ({ entries: [STARTED], messages })
      const first = await acceptedRun(
        store,
        accept(session, { answers: [answer(one)], start: brings(result('a', 'one')) }),
      )
      await done(store, finish(first, { status: 'waiting', stillPending: [two] }))

      await done(
        store,
        accept(session, {
          answers: [answer(one), answer(two), answer(two)],
          start: brings(result('b', 'one'), result('c', 'two'), result('d', 'two'), newMessage('e')),
        }),
      )

      expect((await store.messages.all(session.id)).map(({ id }) => id).filter((id) => 'abcde'.includes(id))).toEqual([
        'a',
        'c',
        'e',
      ])
    })

    test('an answer during the continuation is recorded for it, and it cannot wait for that answer again', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [
        newApproval(run),
        newApproval(run),
        newClientCall(run, { callId: 'c' }),
      ])
      const [first = '', second = '', call = ''] = idsOf(waits)
      const next = await acceptedRun(store, accept(session, { answers: [approve(first)] }))
      const grant = newGrant({ approvalId: second })
      const result = newMessage('r', { role: 'tool', toolCallId: 'c', runId: 'never taken' })
      const command = accept(session, {
        run: { createdAt: NOW + 50 },
        answers: [approve(second), answer(call)],
        grants: [grant],
        answerAudit: { [second]: newAudit('ann'), [grant.id]: newAudit('granted') },
        acceptEntries: [fact('unsaid')],
        metadata: { unsaid: true },
        start: {
          entries: [STARTED],
          state: 'unsaid',
          messages: [newMessage('unsaid'), newMessage('u', { role: 'tool', toolCallId: 'other' }), result],
        },
        onBusy: 'reject',
      })
      const before = await snapshot(store, session.id)

      const recorded = await done(store, command)

      const taken = { continuationRunId: next.id, runId: next.id }
      expect(recorded).toMatchObject({
        existing: true,
        firstSeq: 0,
        run: { id: next.id, status: 'running' },
        answered: [
          { applied: true, wait: { status: 'approved', ...taken } },
          { applied: true, wait: { status: 'answered', ...taken } },
        ],
      })
      expect(recorded.completed).toBe(undefined)
      const after = await snapshot(store, session.id)
      expect(after).toEqual({
        ...before,
        waits: after.waits,
        messages: [{ ...result, runId: next.id }],
        grants: [grant],
        audit: after.audit,
        session: { ...before.session, lastActivity: NOW + 50, messageCount: 1 },
      })
      expect(await auditors(store)).toEqual(['ann', 'granted'])
      expect(await store.runs.get(command.run.id)).toBe(null)

      const wait = finish(next, { status: 'waiting', stillPending: [second] })
      expect(await refusal(store, wait)).toBe('conflict')
      expect((await store.runs.get(next.id))?.status).toBe('running')
      expect((await done(store, append(next, [text('on')]))).ok).toBe(true)
    })

    test('a run cannot wait for a wait of another run', async () => {
      const { store } = await openForTest(open)
      const { waits } = await waitingSession(store, (run) => [newApproval(run)])
      const run = await acceptedRun(store, accept(newSession()))

      for (const id of [waits[0]?.id ?? '', newId()]) {
        expect(await refusal(store, finish(run, { status: 'waiting', stillPending: [id] }))).toBe('conflict')
      }
      expect((await store.runs.get(run.id))?.status).toBe('running')
    })

    test('the end of a continuation interrupts the waits that passed to it', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [newApproval(run), newApproval(run)])
      const [first = '', second = ''] = idsOf(waits)
      const next = await acceptedRun(store, accept(session, { answers: [approve(first)] }))

      await done(store, finish(next, { status: 'failed' }))

      expect(await store.waits.get(first)).toMatchObject({ status: 'interrupted', decidedBy: 'ann' })
      expect(await store.waits.get(second)).toMatchObject({ status: 'interrupted', runId: next.id })
    })
  })

  describe('a run without answers in a session that waits', () => {
    test.each(['queue', 'reject', 'interrupt'] as const)('is refused, also with onBusy %s', async (onBusy) => {
      const { store } = await openForTest(open)
      const { session, run } = await waitingSession(store, (run) => [newClientCall(run)])
      const before = await readSession(store, session, [run])

      for (const answers of [undefined, []]) {
        const command = accept(session, { onBusy, ...present({ answers }) })
        expect(await refusal(store, command)).toBe('approval_pending')
        expect(await store.runs.get(command.run.id)).toBe(null)
      }
      expect(await readSession(store, session, [run])).toEqual(before)
    })

    test('is found if it came before, and not refused', async () => {
      const { store } = await openForTest(open)
      const { session, run } = await waitingSession(store, (run) => [newApproval(run)])

      const again = await done(store, accept(session, { run: { wireId: run.wireId } }))

      expect(again).toMatchObject({ existing: true, run: { id: run.id, status: 'waiting' } })
    })

    test('abandons client calls if it says so, and starts', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      const first = await acceptedRun(store, accept(session))
      const queued = await acceptedRun(store, accept(session))
      const calls = [newClientCall(first), newClientCall(first)]
      await done(store, finish(first, { status: 'waiting', waits: calls }))
      const command = accept(session, { whenWaiting: 'abandon', onBusy: 'reject', run: { createdAt: NOW + 3 } })

      const result = await done(store, command)

      expect(result).toMatchObject({
        run: { id: command.run.id, status: 'running' },
        completed: { id: first.id, status: 'completed', finishedAt: NOW + 3 },
      })
      expect(result.answered).toBe(undefined)
      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await Promise.all(calls.map(({ id }) => current.waits.get(id)))).toEqual(
          calls.map((call) => ({ ...call, status: 'interrupted' })),
        )
        expect((await current.runs.open(session.id)).map(({ id }) => id)).toEqual([command.run.id, queued.id])
      }
    })

    test('never abandons an approval', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [newClientCall(run), newApproval(run)])
      const before = await snapshot(store, session.id)

      expect(await refusal(store, accept(session, { whenWaiting: 'abandon' }))).toBe('approval_pending')

      expect(await snapshot(store, session.id)).toEqual(before)
      expect(waits.length).toBe(2)
    })

    test('is refused without affecting others', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [newApproval(run)])

      const results = await commit(
        store,
        accept(session),
        accept(session, { answers: [approve(waits[0]?.id ?? '')] }),
        accept(session),
      )

      expect(results.map((result) => (result.ok ? result.run?.status : result.error.code))).toEqual([
        'approval_pending',
        'running',
        'queued',
      ])
    })
  })
}
