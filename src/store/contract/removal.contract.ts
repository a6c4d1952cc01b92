import { describe, expect, test } from 'vitest'
import type { PurgeSessions } from '../ports/sessions.ts'
import {
  accept,
  acceptedRun,
  append,
  approve,
  beforeAndAfter,
  commit,
  create,
  done,
  finish,
  finishedSession,
  NOW,
  newApproval,
  newClientCall,
  newGrant,
  newMessage,
  newSession,
  type OpenStore,
  openForTest,
  readSession,
  refusal,
  remove,
  text,
  waitingSession,
} from './samples.contract.ts'

export function describeRemoval(open: OpenStore): void {
  describe('deleting a session', () => {
    test('leaves a tombstone without content', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession({ alias: 'name', metadata: { secret: 1 }, state: 'secret' })
      const run = await acceptedRun(store, accept(session, { start: { messages: [newMessage('q')] } }))
      await done(store, append(run, [text('secret')], { lastTool: 'secret' }))
      await done(store, finish(run))

      await done(store, remove(session.id, NOW + 9))

      const record = {
        ...session,
        status: 'terminated',
        terminatedAt: NOW + 9,
        lastActivity: expect.any(Number),
        alias: null,
        metadata: {},
        state: undefined,
        lastTool: null,
        messageCount: 0,
      }
      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await readSession(current, session, [run])).toEqual({
          record,
          byAlias: null,
          head: 0,
          entries: [],
          messages: [],
          openRuns: [],
          runs: [null],
        })
        expect(await current.news(new Map([[session.id, 0]]))).toEqual(new Map())
        expect(await current.runs.byWireId(session.id, run.wireId)).toBe(null)
        expect(await current.runs.ofOwner(session.owner, run.wireId)).toBe(null)
        expect(await current.messages.known(session.id, ['q'])).toEqual([])
        expect(await current.sessions.list({ owner: session.owner, limit: 10 })).toEqual([])
        expect(await current.sessions.toCompact(NOW * 2, 10)).toEqual([])
      }
    })

    test('removes its waits and grants, and nothing of other sessions', async () => {
      const { store, reopen } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [newApproval(run), newClientCall(run)])
      const other = await waitingSession(store, (run) => [newApproval(run)])
      const approvalId = waits[0]?.id ?? ''
      const [own, everywhere] = [newGrant({ approvalId, sessionId: session.id }), newGrant({ approvalId })]
      const run = await acceptedRun(
        store,
        accept(session, { answers: [approve(approvalId)], grants: [own, everywhere] }),
      )
      await done(store, append(run, [], { activeAgent: 'tutor' }))
      await done(store, finish(run))

      await done(store, remove(session.id))

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await Promise.all(waits.map(({ id }) => current.waits.get(id)))).toEqual([null, null])
        expect(await current.waits.list({ limit: 10 })).toEqual(other.waits)
        expect(await current.grants.list({ now: NOW })).toEqual([everywhere])
        expect(await current.sessions.get(session.id)).toMatchObject({ status: 'terminated', activeAgent: null })
      }
    })

    test('frees its name', async () => {
      const { store } = await openForTest(open)
      const { session } = await finishedSession(store, { alias: 'name' })
      await done(store, remove(session.id))

      const next = newSession({ alias: 'name' })
      await done(store, accept(next))

      expect((await store.sessions.byAlias(session.owner, 'name'))?.id).toBe(next.id)
      expect((await store.sessions.get(session.id))?.alias).toBe(null)
    })

    test('twice does nothing', async () => {
      const { store } = await openForTest(open)
      const { session } = await finishedSession(store)
      await done(store, remove(session.id, NOW + 1))
      const before = await store.sessions.get(session.id)

      await done(store, remove(session.id, NOW + 2))

      expect(await store.sessions.get(session.id)).toEqual(before)
    })

    test.each(['running', 'waiting', 'queued'] as const)('is refused while a run is %s', async (status) => {
      const { store } = await openForTest(open)
      const session = newSession({ alias: 'name' })
      const run = await acceptedRun(store, accept(session))
      if (status === 'queued') await done(store, accept(session))
      if (status !== 'running') await done(store, finish(run, status === 'waiting' ? { status } : {}))
      const before = await readSession(store, session)
      expect(before.openRuns.map((open) => open.status)).toEqual([status])

      expect(await refusal(store, remove(session.id))).toBe('conflict')
      expect(await readSession(store, session)).toEqual(before)
    })

    test('is final: the session accepts no run and no content', async () => {
      const { store } = await openForTest(open)
      const { session } = await finishedSession(store)
      await done(store, remove(session.id))
      const before = await readSession(store, session)
      const command = accept({ ...session, alias: 'name' })

      expect(await refusal(store, command)).toBe('session_not_found')
      await commit(store, { type: 'update_session', sessionId: session.id, metadata: { a: 1 }, state: 1 })
      expect((await commit(store, create(session)))[0]?.ok).toBe(false)

      expect(await readSession(store, session)).toEqual(before)
      expect(await store.runs.get(command.run.id)).toBe(null)
      expect(await store.sessions.byAlias(session.owner, 'name')).toBe(null)
    })
  })

  describe('purging sessions', () => {
    const purge = (values: Partial<PurgeSessions>): PurgeSessions => ({
      type: 'purge_sessions',
      before: null,
      unlistedBefore: 0,
      unsentBefore: 0,
      now: NOW,
      limit: 100,
      ...values,
    })

    test('removes all of a session that was idle or deleted before a moment', async () => {
      const { store, reopen } = await openForTest(open)
      const old = await finishedSession(store, { lastActivity: 99, alias: 'old' })
      const recent = await finishedSession(store, { lastActivity: 100 })
      const deletedOld = await finishedSession(store, { lastActivity: 50 })
      const deletedRecent = await finishedSession(store, { lastActivity: 100 })
      await done(store, remove(deletedOld.session.id, 98))
      await done(store, remove(deletedRecent.session.id, 120))
      const kept = await readSession(store, recent.session, [recent.run])

      expect(await done(store, purge({ before: 100 }))).toMatchObject({ count: 2 })

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await readSession(current, old.session, [old.run])).toEqual({
          record: null,
          byAlias: null,
          head: 0,
          entries: [],
          messages: [],
          openRuns: [],
          runs: [null],
        })
        expect(await current.sessions.get(deletedOld.session.id)).toBe(null)
        expect(await current.sessions.get(deletedRecent.session.id)).toMatchObject({ status: 'terminated' })
        expect(await readSession(current, recent.session, [recent.run])).toEqual(kept)
      }
    })

    test('removes their waits and grants', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [newApproval(run)], { lastActivity: 1 })
      const approvalId = waits[0]?.id ?? ''
      const grants = [newGrant({ approvalId, sessionId: session.id })]
      const run = await acceptedRun(store, accept(session, { answers: [approve(approvalId)], grants }))
      expect(await done(store, purge({ before: NOW + 1 }))).toMatchObject({ count: 0 })
      await done(store, finish(run))

      expect(await done(store, purge({ before: NOW + 1 }))).toMatchObject({ count: 1 })

      expect(await store.waits.list({ limit: 10 })).toEqual([])
      expect(await store.grants.list({ now: NOW })).toEqual([])
    })

    test('uses another time for unlisted sessions', async () => {
      const { store } = await openForTest(open)
      const listed = await finishedSession(store, { lastActivity: 100 })
      const unlisted = await finishedSession(store, { lastActivity: 100, unlisted: true })
      const names = async () =>
        Promise.all([listed, unlisted].map(async ({ session }) => (await store.sessions.get(session.id)) !== null))

      expect(await done(store, purge({ before: 50, unlistedBefore: 100 }))).toMatchObject({ count: 0 })
      expect(await done(store, purge({ before: 100, unlistedBefore: 100 }))).toMatchObject({ count: 0 })
      expect(await names()).toEqual([true, true])
      expect(await done(store, purge({ before: 50, unlistedBefore: 101 }))).toMatchObject({ count: 1 })
      expect(await names()).toEqual([true, false])
      expect(await done(store, purge({ before: 101 }))).toMatchObject({ count: 1 })
      expect(await names()).toEqual([false, false])
    })

    test('without a moment removes no listed session, no matter how old', async () => {
      const { store } = await openForTest(open)
      const { session } = await finishedSession(store, { lastActivity: 0 })

      expect(await done(store, purge({ before: null, unlistedBefore: NOW }))).toMatchObject({ count: 0 })
      expect(await store.sessions.get(session.id)).not.toBe(null)
    })

    test.each(['running', 'waiting', 'queued'] as const)('spares a session with a run that is %s', async (status) => {
      const { store } = await openForTest(open)
      const session = newSession({ lastActivity: 1 })
      const times = { run: { createdAt: 1 } }
      const run = await acceptedRun(store, accept(session, times))
      if (status === 'queued') await done(store, accept(session, times))
      if (status !== 'running') await done(store, finish(run, { now: 1, ...(status === 'waiting' ? { status } : {}) }))

      expect(await done(store, purge({ before: NOW, unlistedBefore: NOW }))).toMatchObject({ count: 0 })
      expect((await store.runs.open(session.id)).map((open) => open.status)).toEqual([status])
    })

    test('removes sessions up to the limit, and says how many', async () => {
      const { store } = await openForTest(open)
      const sessions = Array.from({ length: 5 }, () => newSession({ lastActivity: 1 }))
      await commit(store, ...sessions.map(create))

      const counts: unknown[] = []
      for (let i = 0; i < 4; i += 1) counts.push((await done(store, purge({ before: 2, limit: 2 }))).count)

      expect(counts).toEqual([2, 2, 1, 0])
      expect(await store.sessions.list({ owner: 'ann', limit: 10 })).toEqual([])
    })

    test('frees the id for a new session, which has nothing of the old one', async () => {
      const { store } = await openForTest(open)
      const { session, run } = await finishedSession(store, { lastActivity: 1 })
      await done(store, purge({ before: 2 }))
      const other = await finishedSession(store)

      const next = await acceptedRun(store, accept(session, { run: { wireId: run.wireId } }))
      await done(store, append(next, [text('new')]))

      expect((await store.entries(session.id, 0, 10)).map(({ runId }) => runId)).toEqual([next.id, next.id, next.id])
      expect(await store.head(session.id)).toBe((await store.entries(session.id, 0, 10)).at(-1)?.seq)
      expect((await store.entries(other.session.id, 0, 10)).map(({ runId }) => runId)).toEqual(
        Array(3).fill(other.run.id),
      )
    })
  })
}
