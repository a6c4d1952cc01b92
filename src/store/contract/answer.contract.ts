import { describe, expect, test } from 'vitest'
import type { AnyRecord } from '../../domain/records/record.ts'
import {
  ACCEPTED,
  accept,
  acceptedRun,
  answer,
  approve,
  auditors,
  beforeAndAfter,
  done,
  expire,
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
  PROCESS,
  refusal,
  reject,
  STARTED,
  snapshot,
  start,
  waitingSession,
} from './samples.contract.ts'

const idsOf = (waits: readonly AnyRecord[]): string[] => waits.map(({ id }) => id)

export function describeAnswers(open: OpenStore): void {
  describe('an answer', () => {
    test('completes the waiting run and starts its continuation, in one step', async () => {
      const { store, reopen } = await openForTest(open)
      const { session, run, waits } = await waitingSession(store, (run) => [newApproval(run)])
      const [approval] = waits
      const id = approval?.id ?? ''
      const command = accept(session, {
        run: { parentRunId: run.id, origin: 'answer', createdAt: NOW + 2 },
        start: { entries: [STARTED], messages: [newMessage('note')] },
        answers: [{ ...approve(id), via: 'slack' }],
        answerAudit: { [id]: newAudit('ann') },
        // The run starts at once, so neither of these matters.
        onBusy: 'reject',
        maxQueued: 0,
      })

      const result = await done(store, command)

      const decided = {
        ...approval,
        status: 'approved',
        decidedAt: NOW + 1,
        decidedBy: 'ann',
        decidedVia: 'slack',
        continuationRunId: command.run.id,
      }
      const completed = { ...run, status: 'completed', finishedAt: NOW + 2 }
      const continuation = {
        ...command.run,
        status: 'running',
        startedAt: NOW + 2,
        fence: 1,
        leaseOwner: PROCESS,
        firstSeq: 5,
        lastSeq: result.run?.lastSeq,
      }
      expect(result).toMatchObject({ ok: true, firstSeq: 4, run: continuation, session: { id: session.id } })
      expect(result.existing ?? false).toBe(false)
      expect(result.answered).toEqual([{ applied: true, wait: decided }])
      expect(result.completed).toEqual(completed)
      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.waits.get(id)).toEqual(decided)
        expect(await current.runs.list(session.id)).toEqual([completed, continuation])
        expect(await current.runs.open(session.id)).toEqual([continuation])
        expect((await current.messages.page(session.id, 10)).map((message) => message.id)).toEqual(['note'])
        expect((await current.entries(session.id, 3, 10)).map(({ data }) => data)).toEqual([
          ACCEPTED.data,
          STARTED.data,
        ])
        expect(await auditors(current)).toEqual(['ann'])
      }
    })

    test('is stored with its outcome: rejected with a reason, approved with edits, answered, expired', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [
        newApproval(run),
        newApproval(run),
        newApproval(run),
        newClientCall(run),
        newClientCall(run),
      ])
      const [rejected = '', edited = '', late = '', answered = '', unanswered = ''] = idsOf(waits)
      const outcome = { type: 'approved', reason: 'With care.', editedArguments: '{}', editedDigest: 'new' } as const

      const run = await acceptedRun(
        store,
        accept(session, {
          answers: [
            reject(rejected, { by: 'bob' }),
            approve(edited, { outcome }),
            expire(late),
            answer(answered),
            expire(unanswered),
          ],
        }),
      )

      const decided = { decidedAt: NOW + 1, continuationRunId: run.id }
      expect(await Promise.all(waits.map(({ id }) => store.waits.get(id)))).toEqual([
        { ...waits[0], ...decided, status: 'rejected', decidedBy: 'bob', reason: 'No.' },
        {
          ...waits[1],
          ...decided,
          status: 'approved',
          decidedBy: 'ann',
          reason: 'With care.',
          editedArguments: '{}',
          digest: 'new',
        },
        { ...waits[2], ...decided, status: 'expired', decidedBy: 'timeout' },
        { ...waits[3], status: 'answered', answeredAt: NOW + 1, continuationRunId: run.id },
        { ...waits[4], status: 'expired', continuationRunId: run.id },
      ])
    })

    test('is applied once if fifty come at once, and the others find the run that it started', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [newApproval(run)])
      const id = waits[0]?.id ?? ''
      const commands = Array.from({ length: 50 }, (_, i) =>
        accept(session, {
          answers: [i % 2 === 0 ? approve(id, { by: `user ${i}` }) : reject(id, { by: `user ${i}` })],
          answerAudit: { [id]: newAudit(`user ${i}`) },
          grants: [newGrant({ approvalId: id })],
        }),
      )

      const results = await Promise.all(commands.map((command) => done(store, command)))

      const applied = results.filter(({ answered }) => answered?.[0]?.applied)
      expect(applied.length).toBe(1)
      const winner = applied[0]?.run
      const decidedBy = `user ${results.findIndex(({ answered }) => answered?.[0]?.applied)}`
      for (const result of results) {
        expect(result.run?.id).toBe(winner?.id)
        expect(result.existing ?? false).toBe(result !== applied[0])
        expect(result.answered?.[0]?.wait).toMatchObject({ decidedBy, continuationRunId: winner?.id })
      }
      expect(await auditors(store)).toEqual([decidedBy])
      expect((await store.runs.list(session.id)).length).toBe(2)
      const wait = await store.waits.get(id)
      expect((await store.grants.list({ now: NOW })).length).toBe(wait?.status === 'approved' ? 1 : 0)
    })

    test('that comes too late is not applied, and changes nothing', async () => {
      const { store } = await openForTest(open)
      const { session, run, waits } = await waitingSession(store, (run) => [newApproval(run, { expiresAt: NOW + 10 })])
      const id = waits[0]?.id ?? ''
      const before = await snapshot(store, session.id)
      const command = (at: number) =>
        accept(session, {
          answers: [approve(id, { at })],
          answerAudit: { [id]: newAudit('late') },
          grants: [newGrant({ approvalId: id })],
          metadata: { unsaid: true },
          idempotency: { key: `${at}`, digest: 'd', expiresAt: NOW * 2 },
        })

      for (const at of [NOW + 10, NOW + 11]) {
        const result = await done(store, command(at))
        expect(result).toMatchObject({ existing: true, firstSeq: 0, run: { id: run.id, status: 'waiting' } })
        expect(result.answered).toEqual([{ applied: false, wait: waits[0] }])
      }
      expect(await snapshot(store, session.id)).toEqual(before)
      expect((await done(store, command(NOW + 9))).answered).toMatchObject([{ applied: true }])
    })

    test('of type expired is applied at any time', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [newApproval(run), newClientCall(run)])
      const [early = '', never = ''] = idsOf(waits)

      const result = await done(store, accept(session, { answers: [expire(early), expire(never)] }))

      expect(result.answered).toMatchObject([
        { applied: true, wait: { status: 'expired', decidedBy: 'timeout' } },
        { applied: true, wait: { status: 'expired' } },
      ])
      expect(result.run?.status).toBe('running')
    })

    test('of the wrong kind is not applied', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [newApproval(run), newClientCall(run)])
      const [approval = '', call = ''] = idsOf(waits)
      const before = await snapshot(store, session.id)

      const result = await done(store, accept(session, { answers: [answer(approval), approve(call), reject(call)] }))

      expect(result).toMatchObject({ existing: true, run: { status: 'waiting' } })
      expect(result.answered).toMatchObject([{ applied: false }, { applied: false }, { applied: false }])
      expect(await snapshot(store, session.id)).toEqual(before)
    })

    test('that comes twice in one request counts once', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [newApproval(run)])
      const id = waits[0]?.id ?? ''

      const { answered } = await done(store, accept(session, { answers: [reject(id), approve(id)] }))

      expect(answered).toMatchObject([
        { applied: true, wait: { status: 'rejected' } },
        { applied: false, wait: { status: 'rejected' } },
      ])
      expect(await store.waits.get(id)).toMatchObject({ status: 'rejected' })
    })

    test('to a wait of another session, or of none, is refused', async () => {
      const { store } = await openForTest(open)
      const { session } = await waitingSession(store, (run) => [newApproval(run)])
      const other = await waitingSession(store, (run) => [newApproval(run)])
      const foreign = other.waits[0]?.id ?? ''
      const before = await snapshot(store, other.session.id)
      const fresh = newSession()

      expect(await refusal(store, accept(session, { answers: [approve(foreign)] }))).toBe('approval_not_found')
      expect(await refusal(store, accept(session, { answers: [answer(newId())] }))).toBe('tool_call_not_found')
      expect(await refusal(store, accept(fresh, { answers: [approve(foreign)] }))).toBe('approval_not_found')

      expect(await snapshot(store, other.session.id)).toEqual(before)
      expect(await store.sessions.get(fresh.id)).toBe(null)
      expect((await store.runs.open(session.id)).map(({ status }) => status)).toEqual(['waiting'])
    })

    test('beside one to another session is applied, and the other wait is not shown', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [newApproval(run)])
      const other = await waitingSession(store, (run) => [newApproval(run)])
      const foreign = other.waits[0]?.id ?? ''

      const { answered } = await done(
        store,
        accept(session, { answers: [approve(foreign), approve(waits[0]?.id ?? '')] }),
      )

      expect(answered).toMatchObject([{ applied: false, wait: null }, { applied: true }])
      expect(await store.waits.get(foreign)).toEqual(other.waits[0])
    })

    test('that rejects a call may bring its result, which is written if the answer is applied', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [
        newApproval(run, { callId: 'in time' }),
        newApproval(run, { callId: 'late', expiresAt: NOW }),
      ])
      const result = (toolCallId: string) => newMessage(`of ${toolCallId}`, { role: 'tool', toolCallId })

      await done(
        store,
        accept(session, {
          start: { entries: [STARTED], messages: [result('in time'), result('late'), newMessage('but this')] },
          answers: idsOf(waits).map((id) => reject(id)),
        }),
      )

      const stored = await store.messages.page(session.id, 100)
      expect(stored.map(({ id }) => id).slice(-2)).toEqual(['of in time', 'but this'])
    })

    test('that comes too late finds the continuation, even if that has ended', async () => {
      const { store, reopen } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [newApproval(run)])
      const id = waits[0]?.id ?? ''
      const next = await acceptedRun(store, accept(session, { answers: [approve(id)] }))
      await done(store, finish(next))

      for await (const current of beforeAndAfter(store, reopen)) {
        const late = await done(current, accept(session, { answers: [reject(id)] }))
        expect(late).toMatchObject({
          existing: true,
          run: { id: next.id, status: 'completed' },
          answered: [{ applied: false, wait: { status: 'interrupted', decidedBy: 'ann' } }],
        })
      }
    })

    test('after the run was cancelled finds that run', async () => {
      const { store } = await openForTest(open)
      const { session, run, waits } = await waitingSession(store, (run) => [newApproval(run)])
      await done(store, finish(run, { status: 'cancelled', entries: [] }))

      const late = await done(store, accept(session, { answers: [approve(waits[0]?.id ?? '')] }))

      expect(late).toMatchObject({
        existing: true,
        run: { id: run.id, status: 'cancelled' },
        answered: [{ applied: false, wait: { status: 'interrupted' } }],
      })
      expect(late.completed).toBe(undefined)
    })

    test('comes before queued runs, which then start in order', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      await done(store, { type: 'renew_lease', leaseOwner: PROCESS, until: NOW * 2 })
      const first = await acceptedRun(store, accept(session))
      const queued = await acceptedRun(store, accept(session))
      const wait = newApproval(first)
      await done(store, finish(first, { status: 'waiting', waits: [wait] }))
      expect(await store.runs.orphans(NOW, 10)).toEqual([])

      const next = await acceptedRun(store, accept(session, { answers: [approve(wait.id)] }))

      expect(next.status).toBe('running')
      expect((await store.runs.open(session.id)).map(({ id }) => id)).toEqual([next.id, queued.id])
      expect(await store.runs.orphans(NOW, 10)).toEqual([])
      expect(await refusal(store, start(queued.id))).toBe('conflict')
      // After a crash the run that ran is an orphan, not the one behind it.
      expect((await store.runs.orphans(NOW * 3, 10)).map(({ id }) => id)).toEqual([next.id])

      await done(store, finish(next))
      expect((await store.runs.orphans(NOW, 10)).map(({ id }) => id)).toEqual([queued.id])
      expect((await done(store, start(queued.id))).run?.status).toBe('running')
    })

    test('is found by its idempotency key and its wire id, and is not applied again', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [newApproval(run), newApproval(run)])
      const [first = '', second = ''] = idsOf(waits)
      const idempotency = { key: 'k', digest: 'd', expiresAt: NOW * 2 }
      const run = await acceptedRun(store, accept(session, { answers: [approve(first)], idempotency }))
      const before = await snapshot(store, session.id)

      const byKey = await done(store, accept(session, { answers: [approve(second)], idempotency }))
      const byWire = await done(store, accept(session, { answers: [approve(second)], run: { wireId: run.wireId } }))

      for (const result of [byKey, byWire]) {
        expect(result).toMatchObject({
          existing: true,
          run: { id: run.id },
          answered: [{ applied: false, wait: { id: second, status: 'pending' } }],
        })
      }
      const mismatch = { idempotency: { ...idempotency, digest: 'x' }, answers: [approve(second)] }
      expect(await refusal(store, accept(session, mismatch))).toBe('idempotency_mismatch')
      expect(await snapshot(store, session.id)).toEqual(before)
    })

    test('survives a power cut once it is acknowledged', async (context) => {
      const { store, powerCut } = await openForTest(open)
      if (powerCut === undefined) return context.skip('this store cannot be cut off from its power')
      const { session, run, waits } = await waitingSession(store, (run) => [newApproval(run)])
      const id = waits[0]?.id ?? ''
      const next = await acceptedRun(
        store,
        accept(session, { answers: [approve(id)], answerAudit: { [id]: newAudit('ann') } }),
      )

      const after = await powerCut()

      expect(await after.waits.get(id)).toMatchObject({ status: 'approved', continuationRunId: next.id })
      expect((await after.runs.get(run.id))?.status).toBe('completed')
      expect((await after.runs.orphans(NOW, 10)).map(({ id }) => id)).toEqual([next.id])
      expect(await auditors(after)).toEqual(['ann'])
    })
  })
}
