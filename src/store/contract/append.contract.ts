import { describe, expect, test } from 'vitest'
import {
  ACCEPTED,
  accept,
  acceptedRun,
  append,
  beforeAndAfter,
  commit,
  done,
  event,
  fact,
  finish,
  newId,
  newMessage,
  newSession,
  type OpenStore,
  openForTest,
  outcomes,
  pieces,
  refusal,
  STARTED,
  text,
} from './samples.contract.ts'

export function describeAppending(open: OpenStore): void {
  describe('appending', () => {
    test('gives each session its own sequence without gaps, also in shared commits', async () => {
      const { store } = await openForTest(open)
      const [one, two] = [newSession(), newSession()]
      const a = await acceptedRun(store, accept(one))
      const b = await acceptedRun(store, accept(two, { acceptEntries: [] }))

      const results = await commit(
        store,
        append(a, [text('a1'), text('a2')]),
        append(b, [text('b1')]),
        append(a, []),
        append(a, [text('a3')], { sync: true }),
        append(b, [text('b2')]),
      )

      expect(results.map((result) => result.ok && result.firstSeq)).toEqual([3, 2, 0, 5, 3])
      expect((await store.entries(one.id, 2, 10)).map(({ seq, data }) => [seq, data])).toEqual([
        [3, text('a1').data],
        [4, text('a2').data],
        [5, text('a3').data],
      ])
      expect((await store.entries(two.id, 1, 10)).map(({ seq, data }) => [seq, data])).toEqual([
        [2, text('b1').data],
        [3, text('b2').data],
      ])
      expect([await store.head(one.id), await store.head(two.id)]).toEqual([5, 3])
    })

    test('says what is new in many sessions at once, or that it is too much', async () => {
      const { store } = await openForTest(open)
      const [one, two, three] = [newSession(), newSession(), newSession()]
      const run = await acceptedRun(store, accept(one))
      const other = await acceptedRun(store, accept(two))
      await acceptedRun(store, accept(three))
      await commit(store, append(run, [text('a'), text('b')]), append(run, [text('c')]))
      const large = text('x'.repeat(1_000_000))
      await commit(store, append(other, [large]), append(other, [text('y')]))

      const news = await store.news(
        new Map([
          [one.id, 3],
          [two.id, 2],
          [three.id, 2],
          [newId(), 0],
        ]),
      )

      expect([...news.keys()].sort()).toEqual([one.id, two.id, three.id].sort())
      // A store may leave it at saying that there is something.
      expect([null, await store.entries(one.id, 3, 10)]).toContainEqual(news.get(one.id))
      expect(news.get(three.id)).toEqual([])
      expect(news.get(two.id)).not.toEqual([])
    })

    test('keeps kind, run and text of each entry', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      const entries = [text('a'), fact('tool_intent', { call: 'c' }), event('CUSTOM', { name: 'fact' }), text('')]

      for (const entry of entries) await done(store, append(run, [entry], { sync: entry.kind === 'fact' }))

      expect(await store.entries(session.id, 0, 100)).toEqual(
        [ACCEPTED, STARTED, ...entries].map((entry, i) => ({ seq: i + 1, runId: run.id, ...entry })),
      )
    })

    test('keeps pieces of text that came together', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      const groups = [['a', '"b"', ''], ['c'], ['d\n', '","delta":"']]

      for (const group of groups) await done(store, append(run, pieces(group)))
      await done(store, append(run, [...pieces(['e', 'f']), fact('tool_intent'), ...pieces(['g'])], { sync: true }))

      const said = (await store.entries(session.id, 2, 100)).filter(({ kind }) => kind === 'event')
      expect(said.map(({ data }) => data)).toEqual([...groups.flat(), 'e', 'f', 'g'].map((delta) => text(delta).data))
    })

    test('reads after any entry, up to the limit', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      await done(store, append(run, [text('a'), text('b')]))
      const seqs = async (after: number, limit: number) =>
        (await store.entries(session.id, after, limit)).map(({ seq }) => seq)

      expect(await seqs(0, 100)).toEqual([1, 2, 3, 4])
      expect(await seqs(1, 2)).toEqual([2, 3])
      expect(await seqs(3, 1)).toEqual([4])
      expect(await seqs(4, 100)).toEqual([])
      expect(await seqs(400, 100)).toEqual([])
      expect(await store.entries(newId(), 0, 100)).toEqual([])
      expect(await store.head(newId())).toBe(0)
    })

    test('stops reading at a number of characters, but reads at least one entry', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      const long = text('x'.repeat(100))
      await done(store, append(run, [long, long], { sync: true }))
      await done(store, append(run, [long, long]))
      const seqs = async (after: number, maxChars: number) =>
        (await store.entries(session.id, after, 100, maxChars)).map(({ seq }) => seq)

      expect(await seqs(2, 1)).toEqual([3])
      expect(await seqs(2, long.data.length)).toEqual([3])
      expect(await seqs(2, long.data.length + 1)).toEqual([3, 4])
      expect(await seqs(3, 3 * long.data.length)).toEqual([4, 5, 6])
      expect(await seqs(2, 1_000_000)).toEqual([3, 4, 5, 6])
    })

    test('adds messages, state and the last tool with the entries', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      const messages = [newMessage('a', { role: 'assistant' }), newMessage('t', { role: 'tool', toolCallId: 'c' })]

      await done(store, append(run, [text('x')], { messages, state: { a: [1] }, lastTool: 'search' }))
      await done(store, append(run, [text('y')]))

      expect(await store.messages.page(session.id, 10)).toEqual(messages)
      expect(await store.sessions.get(session.id)).toEqual({
        ...session,
        messageCount: 2,
        state: { a: [1] },
        lastTool: 'search',
      })
    })

    test('hands the conversation to another agent', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))

      await done(store, append(run, [text('x')], { activeAgent: 'tutor' }))
      await done(store, append(run, [text('y')]))
      await done(store, finish(run))
      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.sessions.get(session.id)).toEqual({ ...session, activeAgent: 'tutor' })
      }
    })

    test('hands the conversation back', async () => {
      const { store } = await openForTest(open)
      const session = newSession({ activeAgent: 'tutor' })
      const result = await done(store, accept(session))
      expect(result.session?.activeAgent).toBe('tutor')
      if (result.run === undefined) throw new Error('accept_run returned no run')

      await done(store, append(result.run, [], { activeAgent: null }))

      expect(await store.sessions.get(session.id)).toEqual({ ...session, activeAgent: null })
    })

    test('refuses a stale fence without affecting its neighbours', async () => {
      const { store } = await openForTest(open)
      const [one, two] = [newSession(), newSession()]
      const a = await acceptedRun(store, accept(one))
      const b = await acceptedRun(store, accept(two))
      const stale = { ...b, fence: b.fence - 1 }
      const unsaid = { messages: [newMessage('unsaid')], state: 'unsaid', lastTool: 'unsaid' }

      const results = await commit(
        store,
        append(a, [text('1')]),
        append(stale, [text('no')], unsaid),
        append({ ...b, fence: b.fence + 1 }, [text('no')], unsaid),
        append({ ...a, id: newId() }, [text('no')], unsaid),
        append(b, [text('2')]),
      )

      expect(results.map((result) => (result.ok ? result.firstSeq : result.error.code))).toEqual([
        3,
        'run_fenced',
        'run_fenced',
        expect.stringMatching(/^run_(fenced|not_found)$/),
        3,
      ])
      expect((await store.entries(two.id, 2, 10)).map(({ data }) => data)).toEqual([text('2').data])
      expect(await store.sessions.get(two.id)).toEqual(two)
      expect(await store.messages.page(two.id, 10)).toEqual([])
    })

    test.each(outcomes)('refuses an entry after the end of a run that is %s', async (status) => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      await done(store, finish(run, { status }))

      expect(await refusal(store, append(run, [text('late')], { messages: [newMessage('late')] }))).toBe('run_fenced')
      expect(await store.head(session.id)).toBe(3)
      expect(await store.messages.page(session.id, 10)).toEqual([])
    })

    test('does not wait for the disk if no command is of the synced class', async () => {
      const { store } = await openForTest(open)
      const run = await acceptedRun(store, accept(newSession()))
      await done(store, append(run, [text('a')]))

      const { synced } = await store.commit([append(run, [text('b')])])

      const first = await Promise.race([synced.then(() => 'synced'), new Promise(setImmediate).then(() => 'waiting')])
      expect(first).toBe('synced')
    })

    test('accepts an empty commit', async () => {
      const { store } = await openForTest(open)

      expect(await commit(store)).toEqual([])
    })
  })
}
