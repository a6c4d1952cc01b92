import { describe, expect, test } from 'vitest'
import type { UpdateSession } from '../ports/sessions.ts'
import type { Store } from '../store.ts'
import {
  accept,
  acceptedRun,
  append,
  beforeAndAfter,
  done,
  fact,
  finish,
  NOW,
  newId,
  newMessage,
  newSession,
  type OpenStore,
  openForTest,
  refusal,
  remove,
  text,
} from './samples.contract.ts'

/** A session in which the agent has answered under this id. */
async function answered(store: Store, id: string) {
  const session = newSession()
  const run = await acceptedRun(store, accept(session, { start: { messages: [newMessage(`${id} asked`)] } }))
  await done(store, finish(run, { messages: [newMessage(id, { role: 'assistant' })] }))
  return session
}

const rated = (
  sessionId: string,
  messageId: string,
  values: Partial<NonNullable<UpdateSession['feedback']>> = {},
): UpdateSession => ({
  type: 'update_session',
  sessionId,
  feedback: { messageId, by: 'ann', value: 'up', note: null, at: NOW, ...values },
  entries: [fact('feedback')],
})

export function describeFeedback(open: OpenStore): void {
  describe('feedback', () => {
    test('is kept for each person and answer, the last one alone, until they take it back', async () => {
      const { store, reopen } = await openForTest(open)
      const { id } = await answered(store, 'a1')
      const note = 'Line\nwith \0 and half a \ud83d pair'
      const before = await store.head(id)
      await done(store, rated(id, 'a1', { value: 'down', note }))
      await done(store, rated(id, 'a1', { by: 'bob', at: NOW + 1 }))
      await done(store, rated(id, 'a1', { at: NOW + 2, note }))
      expect(await store.head(id)).toBe(before + 3)

      const bobs = { messageId: 'a1', by: 'bob', value: 'up', note: null, at: NOW + 1 }
      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.messages.feedback(id)).toEqual([
          bobs,
          { messageId: 'a1', by: 'ann', value: 'up', note, at: NOW + 2 },
        ])
        expect((await current.sessions.get(id))?.lastActivity).toBe(NOW)
      }
      const again = await reopen()
      await done(again, rated(id, 'a1', { value: null }))
      expect(await again.messages.feedback(id)).toEqual([bobs])
    })

    test('narrows the list of sessions, and goes with its session', async () => {
      const { store } = await openForTest(open)
      const [good, bad, none] = [await answered(store, 'a1'), await answered(store, 'a2'), await answered(store, 'a3')]
      await done(store, rated(good.id, 'a1'))
      await done(store, rated(good.id, 'a1', { by: 'bob' }))
      await done(store, rated(bad.id, 'a2', { value: 'down' }))
      const list = async (feedback: 'up' | 'down') =>
        (await store.sessions.list({ feedback, owner: 'ann', limit: 10 })).map(({ id }) => id)

      expect([await list('up'), await list('down')]).toEqual([[good.id], [bad.id]])
      expect(await store.messages.feedback(none.id)).toEqual([])
      await done(store, remove(bad.id))
      expect([await list('down'), await store.messages.feedback(bad.id)]).toEqual([[], []])
    })

    test('is refused for a message that the session does not have', async () => {
      const { store } = await openForTest(open)
      const [one, other] = [await answered(store, 'a1'), await answered(store, 'a2')]
      const head = await store.head(one.id)

      expect(await refusal(store, rated(one.id, 'a2'))).toBe('message_not_found')
      expect(await refusal(store, rated(newId(), 'a1'))).toBe('session_not_found')
      expect([await store.head(one.id), await store.messages.feedback(other.id)]).toEqual([head, []])
    })

    test('can be given while a run writes', async () => {
      const { store, reopen } = await openForTest(open)
      const session = await answered(store, 'a1')
      const run = await acceptedRun(store, accept(session))
      await done(store, append(run, [text('one')]))
      await done(store, rated(session.id, 'a1'))
      await done(store, append(run, [text('two')]))
      await done(store, finish(run))

      for await (const current of beforeAndAfter(store, reopen)) {
        const log = await current.entries(session.id, 0, 100)
        expect(log.map(({ seq }) => seq)).toEqual(log.map((_, i) => i + 1))
        expect(log.slice(-4).map(({ kind, runId }) => [kind, runId === run.id])).toEqual([
          ['event', true],
          ['fact', false],
          ['event', true],
          ['event', true],
        ])
      }
    })

    test('finds the session that has an answer', async () => {
      const { store } = await openForTest(open)
      const [older, newer] = [await answered(store, 'same'), await answered(store, 'same')]

      expect(await store.messages.sessionWithAnswer('same')).toBe(newer.id)
      expect(await store.messages.sessionWithAnswer('same asked')).toBe(null)
      await done(store, remove(newer.id))
      expect(await store.messages.sessionWithAnswer('same')).toBe(older.id)
    })
  })

  describe('the title that a person gives', () => {
    test('takes the place of the automatic one, until it is taken away', async () => {
      const { store, reopen } = await openForTest(open)
      const { id } = await answered(store, 'a1')
      const titles = async (current: Store) => (await current.sessions.overview([id])).map(({ title }) => title)
      const named = (title: string | null): UpdateSession => ({
        type: 'update_session',
        sessionId: id,
        title,
        entries: [fact('renamed')],
      })
      await done(store, named('Holidays'))

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await titles(current)).toEqual(['Holidays'])
        expect(await current.sessions.get(id)).toMatchObject({ title: 'Holidays', lastActivity: NOW })
      }
      const again = await reopen()
      await done(again, named(null))
      expect(await titles(again)).toEqual(['content of a1 asked'])
    })
  })
}
