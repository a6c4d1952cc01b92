import { describe, expect, test } from 'vitest'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { SessionQuery } from '../ports/sessions.ts'
import type { Store } from '../store.ts'
import {
  accept,
  acceptedRun,
  append,
  beforeAndAfter,
  commit,
  create,
  done,
  finish,
  NOW,
  newId,
  newSession,
  type OpenStore,
  openForTest,
  refusal,
  remove,
} from './samples.contract.ts'

export function describeSessions(open: OpenStore): void {
  describe('making a session', () => {
    test('keeps it as given', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession({
        alias: 'name',
        status: 'created',
        metadata: { nested: { list: [1, 'two', null, false] } },
        state: { a: 1 },
        lastTool: 'search',
        unlisted: true,
      })

      expect(await done(store, create(session))).toMatchObject({ firstSeq: 0, session })

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.sessions.get(session.id)).toEqual(session)
        expect(await current.sessions.byAlias(session.owner, 'name')).toEqual(session)
      }
    })

    test('is refused if the owner has one with the same name', async () => {
      const { store } = await openForTest(open)
      const [first, second] = [newSession({ alias: 'name' }), newSession({ alias: 'name' })]
      await done(store, create(first))

      expect(await refusal(store, create(second))).toBe('conflict')
      expect(await store.sessions.get(second.id)).toBe(null)
      expect(await store.sessions.byAlias(first.owner, 'name')).toEqual(first)
      const other = newSession({ alias: 'name', owner: 'bob' })
      expect(await done(store, create(other))).toMatchObject({ session: other })
    })

    test('does not replace one with the same id', async () => {
      const { store } = await openForTest(open)
      const session = newSession({ metadata: { first: true } })
      await done(store, create(session))

      expect((await commit(store, create({ ...session, metadata: {} })))[0]?.ok).toBe(false)
      expect(await store.sessions.get(session.id)).toEqual(session)
    })

    test('is not found by its id or name before', async () => {
      const { store } = await openForTest(open)

      expect(await store.sessions.get(newId())).toBe(null)
      expect(await store.sessions.byAlias('ann', 'nope')).toBe(null)
    })
  })

  describe('changing a session', () => {
    test('changes only the given fields', async () => {
      const { store } = await openForTest(open)
      const session = newSession({ alias: 'name', state: 'old' })
      const update = { type: 'update_session', sessionId: session.id } as const
      await done(store, create(session))

      await done(store, { ...update, lastRead: NOW + 5 })
      expect(await store.sessions.get(session.id)).toEqual({ ...session, lastRead: NOW + 5 })
      await done(store, { ...update, metadata: { a: 1 } })
      await done(store, { ...update, state: { b: 2 } })
      await done(store, update)
      expect(await store.sessions.get(session.id)).toEqual({
        ...session,
        lastRead: NOW + 5,
        metadata: { a: 1 },
        state: { b: 2 },
      })
      expect(await refusal(store, { ...update, sessionId: newId() })).toBe('session_not_found')
    })

    test('tells a missing state from a state that is null', async () => {
      const { store, reopen } = await openForTest(open)
      const [none, empty] = [newSession(), newSession({ state: null })]
      const changes: [unknown, unknown][] = []
      const state = async (current: Store, session: SessionRecord) => (await current.sessions.get(session.id))?.state
      const run = await acceptedRun(store, accept(none))
      await done(store, create(empty))
      expect([await state(store, none), await state(store, empty)]).toEqual([undefined, null])

      for (const next of [null, undefined, { a: null }, undefined, false, 0, '']) {
        await done(store, append(run, [], { state: next }))
        await done(store, { type: 'update_session', sessionId: empty.id, state: next })
        changes.push([await state(store, none), await state(store, empty)])
      }

      const expected = [null, null, { a: null }, { a: null }, false, 0, '']
      expect(changes).toStrictEqual(expected.map((value) => [value, value]))
      const store2 = await reopen()
      expect([await state(store2, none), await state(store2, empty)]).toEqual(['', ''])
      const fresh = newSession()
      await done(store2, create(fresh))
      expect(await state(await reopen(), fresh)).toBe(undefined)
    })
  })

  describe('listing sessions', () => {
    test('returns the sessions of an owner, newest activity first', async () => {
      const { store } = await openForTest(open)
      const at = (lastActivity: number, values: Partial<SessionRecord> = {}) => newSession({ lastActivity, ...values })
      const sessions = [at(30), at(10), at(50)]
      const others = [at(40, { unlisted: true }), at(60, { owner: 'bob' }), at(20)]
      await commit(store, ...[...sessions, ...others].map(create))
      await done(store, remove(others[2]?.id ?? ''))

      const [a, b, c] = sessions
      // Lists have no state.
      await done(store, { type: 'update_session', sessionId: a?.id ?? '', state: { large: true } })
      expect(await store.sessions.list({ owner: 'ann', limit: 10 })).toEqual([c, a, b])
      expect(await store.sessions.list({ owner: 'ann', limit: 2 })).toEqual([c, a])
      expect(await store.sessions.list({ owner: 'carol', limit: 10 })).toEqual([])
      const [unlisted, bobs] = others
      expect(await store.sessions.list({ limit: 10 })).toEqual([bobs, c, a, b])
      expect(await store.sessions.list({ limit: 10, unlisted: true })).toEqual([bobs, c, unlisted, a, b])
      expect(await store.sessions.list({ owner: 'ann', limit: 2, unlisted: true })).toEqual([c, unlisted])
      await done(store, { type: 'update_session', sessionId: a?.id ?? '', lastRead: 80 })
      expect((await store.sessions.list({ owner: 'ann', limit: 1 })).map(({ id }) => id)).toEqual([c?.id])
      await acceptedRun(store, accept(b ?? newSession(), { run: { createdAt: 70 } }))
      expect((await store.sessions.list({ owner: 'ann', limit: 10 })).map(({ id }) => id)).toEqual([
        b?.id,
        c?.id,
        a?.id,
      ])
    })

    test('returns the sessions with a label, or those without one', async () => {
      const { store, reopen } = await openForTest(open)
      const at = (lastActivity: number, values: Partial<SessionRecord> = {}) => newSession({ lastActivity, ...values })
      const [old, none, recent, gone] = [
        at(10, { label: 'kim' }),
        at(20),
        at(30, { label: 'kim' }),
        at(40, { label: 'kim' }),
      ]
      const others = [
        at(50, { label: 'kim', owner: 'bob' }),
        at(60, { label: 'lee' }),
        at(70, { label: 'kim', unlisted: true }),
      ]
      await commit(store, ...[old, none, recent, gone, ...others].map(create))
      await done(store, remove(gone.id))

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.sessions.list({ owner: 'ann', label: 'kim', limit: 10 })).toEqual([recent, old])
        expect(await current.sessions.list({ owner: 'ann', label: 'kim', limit: 10, before: recent })).toEqual([old])
        expect(await current.sessions.list({ owner: 'ann', label: null, limit: 10 })).toEqual([none])
        expect(await current.sessions.list({ owner: 'ann', limit: 10 })).toEqual([others[1], recent, none, old])
        expect((await current.sessions.get(gone.id))?.label).toBe(undefined)
      }
    })

    test('neither skips nor repeats sessions between pages, even if many were active at the same moment', async () => {
      const { store } = await openForTest(open)
      const sessions = Array.from({ length: 25 }, (_, i) => newSession({ lastActivity: NOW + Math.floor(i / 10) }))
      await commit(store, ...sessions.map(create))

      const whole = await store.sessions.list({ owner: 'ann', limit: 100 })
      const paged: SessionRecord[] = []
      for (;;) {
        const last = paged.at(-1)
        const before = last === undefined ? {} : { before: { lastActivity: last.lastActivity, id: last.id } }
        const page = await store.sessions.list({ owner: 'ann', limit: 4, ...before })
        if (page.length === 0) break
        paged.push(...page)
      }

      expect(paged).toEqual(whole)
      expect(new Set(paged.map(({ id }) => id))).toEqual(new Set(sessions.map(({ id }) => id)))
      expect(paged.map(({ lastActivity }) => lastActivity - NOW)).toEqual([
        ...Array(5).fill(2),
        ...Array(10).fill(1),
        ...Array(10).fill(0),
      ])
    })

    test('comes in other orders too, page by page, and is counted', async () => {
      const { store, reopen } = await openForTest(open)
      const sessions = await Promise.all(
        [30, 10, 20].map(async (totalTokens, i) => {
          const session = newSession({ lastActivity: i })
          const run = await acceptedRun(store, accept(session, { run: { createdAt: i } }))
          await done(store, finish(run, { now: i, usage: [{ model: 'm', totalTokens, inputTokens: totalTokens }] }))
          return { id: session.id, lastActivity: i, tokens: totalTokens }
        }),
      )
      const [a, b, c] = sessions
      await done(store, create(newSession({ owner: 'bob' })))

      for await (const current of beforeAndAfter(store, reopen)) {
        for (const [order, expected] of [
          ['newest', [c, b, a]],
          ['oldest', [a, b, c]],
          ['tokens', [a, c, b]],
        ] as const) {
          const ids = async (limit: number, before?: SessionQuery['before']) =>
            (await current.sessions.list({ owner: 'ann', order, limit, before })).map(({ id }) => id)
          expect(await ids(10)).toEqual(expected.map((one) => one?.id))
          expect(await ids(1, expected[0])).toEqual([expected[1]?.id])
          expect(await ids(10, expected[2])).toEqual([])
        }
        expect(await current.sessions.countFound({ owner: 'ann' })).toBe(3)
        expect(await current.sessions.countFound({ owner: 'ann', since: 1, activity: 'open' })).toBe(2)
        expect(await current.sessions.countFound({})).toBe(4)
      }
    })

    test('counts the sessions that were active, or looked at, since a moment', async () => {
      const { store } = await openForTest(open)
      const sessions = [10, 20, 20, 30].map((lastActivity) => newSession({ lastActivity }))
      await commit(store, ...sessions.map(create))

      expect(await store.sessions.count(20)).toBe(3)
      expect(await store.sessions.count(21)).toBe(1)
      for (const { id } of [sessions[0], sessions[3]].flatMap((one) => one ?? [])) {
        await done(store, { type: 'update_session', sessionId: id, lastRead: 40 })
      }
      expect([await store.sessions.count(21), await store.sessions.count(31)]).toEqual([2, 2])
      await done(store, remove(sessions[3]?.id ?? ''))
      expect(await store.sessions.count(21)).toBe(1)
    })
  })
}
