import { describe, expect, test } from 'vitest'
import type { Store } from '../store.ts'
import {
  ACCEPTED,
  accept,
  acceptedRun,
  commit,
  done,
  finish,
  NOW,
  newId,
  newMessage,
  newSession,
  type OpenStore,
  openForTest,
  readSession,
  refusal,
  remove,
  text,
} from './samples.contract.ts'

export function describeRepeating(open: OpenStore): void {
  describe('accepting the same run again', () => {
    const idempotency = { key: 'key', digest: 'digest', expiresAt: NOW + 1_000 }

    test('finds it by its idempotency key, even if the request names a new session', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      const first = await done(store, accept(session, { idempotency, acceptEntries: [ACCEPTED, text('once')] }))
      const before = await readSession(store, session)

      const stranger = newSession()
      const again = accept(stranger, { idempotency, start: { messages: [newMessage('twice')] } })

      const expected = { ok: true, firstSeq: 0, existing: true, run: first.run, session: first.session }
      expect(await commit(store, again)).toMatchObject([expected])
      expect(await commit(await reopen(), again)).toMatchObject([{ ...expected, run: { id: first.run?.id } }])
      const store2 = await reopen()
      expect(await readSession(store2, session)).toEqual(before)
      expect(await store2.sessions.get(stranger.id)).toBe(null)
      expect(await store2.runs.get(again.run.id)).toBe(null)
    })

    test('finds it even if it has ended, the session is busy or the server is full', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session, { idempotency }))
      await done(store, finish(run))
      await done(store, accept(session))

      const again = accept(newSession(), { idempotency, onBusy: 'reject', maxQueued: 0, maxSessions: 0 })

      expect(await done(store, again)).toMatchObject({ existing: true, run: { id: run.id, status: 'completed' } })
    })

    test('is the only thing that is taken, if the command says so', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const first = accept(session, { idempotency })
      expect(await refusal(store, { ...first, onlyRepeat: true })).toBe('conflict')
      expect(await store.sessions.get(session.id)).toBe(null)
      const run = await acceptedRun(store, first)

      expect(await done(store, { ...first, onlyRepeat: true })).toMatchObject({ existing: true, run: { id: run.id } })
      expect(await refusal(store, { ...accept(session), onlyRepeat: true })).toBe('conflict')
    })

    test('refuses another request under the same key, and writes nothing', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      await done(store, accept(session, { idempotency }))
      const before = await readSession(store, session)

      const other = accept(session, { idempotency: { ...idempotency, digest: 'other' } })

      expect(await refusal(store, other)).toBe('idempotency_mismatch')
      expect(await readSession(store, session)).toEqual(before)
    })

    test('finds the first of two in one commit', async () => {
      const { store } = await openForTest(open)
      const [one, two] = [accept(newSession(), { idempotency }), accept(newSession(), { idempotency })]

      const results = await commit(store, one, two)

      expect(results).toMatchObject([
        { ok: true, run: { id: one.run.id } },
        { ok: true, existing: true, firstSeq: 0, run: { id: one.run.id } },
      ])
    })

    test('accepts a new run with an expired key, and then finds that one', async () => {
      const { store } = await openForTest(open)
      await done(store, accept(newSession(), { idempotency }))
      const renewed = { ...idempotency, digest: 'other', expiresAt: NOW + 5_000 }
      const late = accept(newSession(), { idempotency: renewed, run: { createdAt: NOW + 1_001 } })
      const again = accept(newSession(), { idempotency: renewed, run: { createdAt: NOW + 1_002 } })

      expect(await done(store, late)).toMatchObject({ run: { id: late.run.id, status: 'running' } })
      expect(await done(store, again)).toMatchObject({ existing: true, run: { id: late.run.id } })
    })

    test('keeps the keys of owners apart', async () => {
      const { store } = await openForTest(open)
      await done(store, accept(newSession(), { idempotency }))

      const bobs = accept(newSession({ owner: 'bob' }), { idempotency: { ...idempotency, digest: 'other' } })

      expect(await done(store, bobs)).toMatchObject({ run: { id: bobs.run.id } })
    })

    test('forgets a key once it has expired and was purged, not before', async () => {
      const { store } = await openForTest(open)
      const first = await acceptedRun(store, accept(newSession(), { idempotency }))
      const purge = { type: 'purge_sessions', before: null, unlistedBefore: 0, unsentBefore: 0, limit: 10 } as const
      const again = (createdAt: number) => accept(newSession(), { idempotency, run: { createdAt } })

      await done(store, { ...purge, now: NOW + 999 })
      expect(await done(store, again(NOW + 999))).toMatchObject({ existing: true, run: { id: first.id } })

      await done(store, { ...purge, now: NOW + 1_001 })
      const late = again(NOW + 1_001)
      expect(await done(store, late)).toMatchObject({ run: { id: late.run.id, status: 'running' } })
      expect((await store.runs.get(first.id))?.status).toBe('running')
    })

    test('finds it by the id that its client gave it, in that session only', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const first = await acceptedRun(store, accept(session, { run: { wireId: 'run 1' } }))
      const before = await readSession(store, session)

      const again = accept(session, { run: { wireId: 'run 1' }, onBusy: 'reject' })

      expect(await done(store, again)).toMatchObject({ existing: true, firstSeq: 0, run: { id: first.id } })
      expect(await readSession(store, session)).toEqual(before)

      const elsewhere = accept(newSession(), { run: { wireId: 'run 1' } })
      expect(await done(store, elsewhere)).toMatchObject({ run: { id: elsewhere.run.id, status: 'running' } })
    })

    test('finds runs by our id, by wire id, and the newest one for an owner', async () => {
      const { store } = await openForTest(open)
      const [one, two] = [newSession(), newSession()]
      const first = await acceptedRun(store, accept(one, { run: { wireId: 'r' } }))
      const second = await acceptedRun(store, accept(two, { run: { wireId: 'r', createdAt: NOW + 1 } }))
      await done(store, accept(newSession({ owner: 'bob' }), { run: { wireId: 'r', createdAt: NOW + 2 } }))

      expect(await store.runs.get(first.id)).toEqual(first)
      expect(await store.runs.byWireId(one.id, 'r')).toEqual(first)
      expect(await store.runs.byWireId(two.id, 'r')).toEqual(second)
      expect(await store.runs.ofOwner(one.owner, 'r')).toEqual(second)
      expect(await store.runs.get(newId())).toBe(null)
      expect(await store.runs.byWireId(one.id, 'q')).toBe(null)
      expect(await store.runs.byWireId(newId(), 'r')).toBe(null)
      expect(await store.runs.ofOwner('carol', 'r')).toBe(null)
    })

    test('finds the run that ended last with a key, until its session is removed', async () => {
      const { store, reopen } = await openForTest(open)
      const [one, two] = [newSession(), newSession()]
      const first = await acceptedRun(store, accept(one))
      const second = await acceptedRun(store, accept(two))
      const found = async (current: Store) => (await current.runs.byKey(one.owner, '\nsaid'))?.id ?? null

      expect(await found(store)).toBe(null)
      await done(store, finish(first, { key: '\nsaid' }))
      expect(await found(store)).toBe(first.id)
      await done(store, finish(second, { key: '\nsaid' }))
      const later = await reopen()
      expect(await found(later)).toBe(second.id)
      expect(await later.runs.byKey('bob', '\nsaid')).toBe(null)
      await done(later, remove(two.id))
      expect(await found(later)).toBe(null)
    })

    test('is refused in a session that has changed, if the command says so', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const first = await acceptedRun(store, accept(session, { start: { messages: [newMessage('one')] } }))
      const read = (await store.sessions.get(session.id)) ?? session
      const next = () => accept(read, { unchanged: true, start: { messages: [newMessage(newId())] } })

      expect(await refusal(store, next())).toBe('conflict')
      await done(store, finish(first))
      await done(store, next())
      expect(await refusal(store, next())).toBe('conflict')
    })
  })
}
