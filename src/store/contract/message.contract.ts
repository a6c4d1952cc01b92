import { describe, expect, test } from 'vitest'
import { ACTIVITIES, type StoredMessage } from '../../domain/session/message.ts'
import { START } from '../../domain/session/run.ts'
import { SUMMARIES } from '../../domain/session/summary.ts'
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
  text,
} from './samples.contract.ts'

const idsOf = (messages: readonly StoredMessage[]): string[] => messages.map((message) => message.id)

export function describeMessages(open: OpenStore): void {
  describe('messages', () => {
    test('are read back unchanged, in the order in which they were written', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      const messages: StoredMessage[] = [
        newMessage('z', { metadata: { files: [{ name: 'a.png' }], none: null } }),
        newMessage('r', { role: 'reasoning', content: 'Hm.', encryptedValue: 'opaque==' }),
        newMessage('a', {
          role: 'assistant',
          content: '',
          agentName: 'assistant',
          toolCalls: [{ id: 'c', type: 'function', function: { name: 'search', arguments: '{"q":"x"}' } }],
        }),
        newMessage('t', { role: 'tool', toolCallId: 'c', content: 'timed out', error: 'timed out' }),
        newMessage('parts', {
          content: [
            { type: 'text', text: 'one' },
            { type: 'text', text: 'two' },
          ],
        }),
        newMessage('b', { role: 'assistant', content: 'Half an ans', brokenOff: true }),
        newMessage('s', { role: 'system' }),
        newMessage('d', { role: 'developer' }),
      ]
      const [first, second, ...rest] = messages

      const run = await acceptedRun(
        store,
        accept(session, { start: { messages: [first, second].filter((message) => message !== undefined) } }),
      )
      await done(store, append(run, [text('x')], { messages: rest.slice(0, 3) }))
      await done(store, finish(run, { messages: rest.slice(3) }))

      expect(await store.messages.page(session.id, 100)).toEqual(messages)
      expect(await (await reopen()).messages.page(session.id, 100)).toEqual(messages)
    })

    test('are read up to a number of characters, but at least one', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const messages = ['a', 'b', 'c', 'd'].map((id) => newMessage(id, { content: id.repeat(1_000) }))
      await done(store, accept(session, { start: { messages } }))
      const read = async (limit: number, before: string | undefined, maxChars: number) =>
        idsOf(await store.messages.page(session.id, limit, { before, maxChars }))

      expect(await read(100, undefined, 1)).toEqual(['d'])
      expect(await read(100, undefined, 1_001)).toEqual(['c', 'd'])
      expect(await read(100, 'c', 1_001)).toEqual(['a', 'b'])
      expect(await read(1, 'c', 9_000)).toEqual(['b'])
      expect(await read(100, undefined, 9_000)).toEqual(['a', 'b', 'c', 'd'])
      expect(await read(100, 'a', 1)).toEqual([])
    })

    test('are found by id without their content', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const messages = [newMessage('a'), newMessage('b'), newMessage('l', { lane: 'call' })]
      await done(store, accept(session, { start: { messages } }))

      expect(await store.messages.marks(session.id, ['l', 'nobody', 'a', 'a'])).toEqual([
        { id: 'a' },
        { id: 'l', lane: 'call' },
      ])
      expect(await store.messages.marks('nobody', ['a'])).toEqual([])
    })

    test('say whether the user spoke after one of them', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const messages = [
        newMessage('u1'),
        newMessage('a1', { role: 'assistant' }),
        newMessage('u2'),
        newMessage('a2', { role: 'assistant' }),
        newMessage('asked', { lane: 'call' }),
        newMessage('left', { supersededBy: 'some run' }),
      ]
      await done(store, accept(session, { start: { messages } }))
      const spoke = (id: string) => store.messages.userSpokeAfter(session.id, id)

      expect(await Promise.all(['u1', 'a1', 'u2', 'a2', 'nobody'].map(spoke))).toEqual([
        true,
        true,
        false,
        false,
        false,
      ])
      expect(await store.messages.userSpokeAfter('nobody', 'u1')).toBe(false)
    })

    test('are counted when a person, the agent or a tool said them', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const roles = ['user', 'assistant', 'tool', 'system', 'developer', 'reasoning'] as const

      await done(store, accept(session, { start: { messages: roles.map((role) => newMessage(role, { role })) } }))

      expect((await store.sessions.get(session.id))?.messageCount).toBe(3)
    })

    test('are written once: the first one with an id stays, and is counted once', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const first = newMessage('a', { content: 'first' })
      const run = await acceptedRun(store, accept(session, { start: { messages: [first, newMessage('b')] } }))
      const again = [newMessage('a', { content: 'second' }), newMessage('c'), newMessage('c')]

      await done(store, append(run, [], { messages: again }))
      await done(store, finish(run, { messages: again }))

      expect(await store.messages.page(session.id, 100)).toEqual([first, newMessage('b'), newMessage('c')])
      expect((await store.sessions.get(session.id))?.messageCount).toBe(3)
    })

    test('may have the same id in two sessions', async () => {
      const { store } = await openForTest(open)
      const [one, two] = [newSession(), newSession()]
      await done(store, accept(one, { start: { messages: [newMessage('a', { content: 'one' })] } }))
      await done(store, accept(two, { start: { messages: [newMessage('a', { content: 'two' })] } }))

      expect((await store.messages.page(one.id, 10)).map(({ content }) => content)).toEqual(['one'])
      expect((await store.messages.page(two.id, 10)).map(({ content }) => content)).toEqual(['two'])
    })

    test('are paged backwards from a message', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      // Ids and times say nothing about the order.
      const ids = ['m', 'b', 'z', 'a', 'y']
      const messages = ids.map((id, i) => newMessage(id, { createdAt: 1_000 - i }))
      await done(store, accept(session, { start: { messages } }))
      const page = async (limit: number, before?: string) =>
        idsOf(await store.messages.page(session.id, limit, { before }))

      expect(await page(2)).toEqual(['a', 'y'])
      expect(await page(2, 'a')).toEqual(['b', 'z'])
      expect(await page(2, 'b')).toEqual(['m'])
      expect(await page(2, 'm')).toEqual([])
      expect(await page(100)).toEqual(ids)
      expect(await store.messages.page(newId(), 10)).toEqual([])
    })

    test('are found among the ids that a client names', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const messages = ['a', 'b', 'c'].map((id) => newMessage(id))
      await done(store, accept(session, { start: { messages } }))
      const known = async (...ids: string[]) => idsOf(await store.messages.known(session.id, ids)).sort()

      expect(await known('c', 'nope', 'a')).toEqual(['a', 'c'])
      expect(await known()).toEqual([])
      expect(await known('a', 'a')).toEqual(['a'])
      expect(await store.messages.known(session.id, ['b'])).toEqual([newMessage('b')])
      expect(await store.messages.known(newId(), ['b'])).toEqual([])
    })
  })

  describe('the last words of a session', () => {
    test('are what its user said last up to a time, and what the agent has said since then', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      const agent = (id: string, content: string, more: Partial<StoredMessage> = {}) =>
        newMessage(id, { role: 'assistant', content, ...more })
      const parts = [{ type: 'text' as const, text: 'Book it.' }]
      const messages = [
        newMessage('q1', { content: 'Where to?', createdAt: NOW + 1 }),
        agent('a1', 'To Rome.', { createdAt: NOW + 2 }),
        newMessage('q2', { content: parts, createdAt: NOW + 3 }),
        agent('s', 'Inside.', { lane: 'planner', createdAt: NOW + 4 }),
        agent('a2', 'I look.', { createdAt: NOW + 4 }),
        agent('a3', '', { toolCalls: [], createdAt: NOW + 5 }),
        newMessage('t', { role: 'tool', toolCallId: 'c', content: 'Found.', createdAt: NOW + 6 }),
      ]
      const run = await acceptedRun(store, accept(session, { start: { messages: [] } }))
      await done(store, append(run, [text('x')], { messages }))

      expect(await store.messages.lastWords([])).toEqual([])
      for await (const current of beforeAndAfter(store, reopen)) {
        const at = (ms: number, sessionId = session.id) => ({ sessionId, at: NOW + ms })
        expect(await current.messages.lastWords([at(9), at(3), at(2), at(0), at(9, newId())])).toEqual([
          { user: 'Book it.', agent: 'I look.' },
          { user: 'Book it.', agent: null },
          { user: 'Where to?', agent: 'To Rome.' },
          { user: null, agent: null },
          { user: null, agent: null },
        ])
      }
    })

    test('are the beginning of a long text, and nothing of long parts', async () => {
      const { store } = await openForTest(open)
      const long = 'x'.repeat(1_000_000)
      for (const [content, words] of [
        [long, 'x'.repeat(400)],
        [`\u0001${long}`, null],
        [[{ type: 'text' as const, text: long }], null],
        [`{"structured":true}`, `{"structured":true}`],
      ] as const) {
        const session = newSession()
        const messages = [newMessage('q', { content: typeof content === 'string' ? content : [...content] })]
        await acceptedRun(store, accept(session, { start: { messages } }))
        const [found] = await store.messages.lastWords([{ sessionId: session.id, at: NOW + 9 }])

        expect(found?.user?.slice(0, 400) ?? null).toBe(words)
      }
    })
  })

  describe('messages of sub-agents', () => {
    const said = (id: string, lane: string, values: Partial<StoredMessage> = {}) =>
      newMessage(id, { role: 'assistant', lane, ...values })

    test('are kept apart from the conversation by lane, and are not counted', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session, { start: { messages: [newMessage('q')] } }))
      const lanes = [said('p1', 'planner'), said('t1', 'tutor', { role: 'tool' }), said('p2', 'planner')]
      await done(store, append(run, [text('x')], { messages: lanes }))
      await done(store, finish(run, { messages: [said('p3', 'planner'), newMessage('a', { role: 'assistant' })] }))

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(idsOf(await current.messages.page(session.id, 2))).toEqual(['q', 'a'])
        expect(idsOf(await current.messages.page(session.id, 10, { before: 'a' }))).toEqual(['q'])
        expect(await current.messages.ofLane(session.id, 'planner', 10)).toEqual([
          said('p1', 'planner'),
          said('p2', 'planner'),
          said('p3', 'planner'),
        ])
        expect(idsOf(await current.messages.ofLane(session.id, 'planner', 2))).toEqual(['p2', 'p3'])
        expect(await current.messages.ofLane(session.id, 'planner', 0)).toEqual([])
        expect(idsOf(await current.messages.ofLane(session.id, 'nobody', 10))).toEqual([])
        expect(await current.messages.ofLane(newId(), 'planner', 10)).toEqual([])
        expect(idsOf(await current.messages.all(session.id))).toEqual(['q', 'p1', 't1', 'p2', 'p3', 'a'])
        expect(idsOf(await current.messages.known(session.id, ['t1']))).toEqual(['t1'])
        expect((await current.sessions.get(session.id))?.messageCount).toBe(2)
      }
    })

    test('are superseded together with the conversation', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const messages = [
        newMessage('q'),
        said('p1', 'planner'),
        newMessage('q2'),
        said('p2', 'planner'),
        newMessage('a2', { role: 'assistant' }),
      ]
      const first = await acceptedRun(store, accept(session, { start: { messages } }))
      await done(store, finish(first))

      const second = await acceptedRun(store, accept(session, { start: { supersedeAfter: 'q2' } }))

      expect(idsOf(await store.messages.ofLane(session.id, 'planner', 10))).toEqual(['p1'])
      expect(idsOf(await store.messages.page(session.id, 10))).toEqual(['q', 'q2'])
      expect(await store.messages.known(session.id, ['p2'])).toEqual([
        said('p2', 'planner', { supersededBy: second.id }),
      ])
      expect((await store.sessions.get(session.id))?.messageCount).toBe(2)
    })
  })

  describe('summaries', () => {
    const summary = (id: string, upTo: string, after: string | null) => ({
      message: newMessage(id, { role: 'activity', content: '', lane: SUMMARIES, createdAt: 86_400_000 }),
      ...{
        upTo,
        after,
        agent: 'tester',
        usage: [{ provider: 'openai', model: 'small', inputTokens: 7, outputTokens: 2 }],
      },
    })

    test('each extends the newest one, and covers what is still said', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      const messages = [newMessage('q1'), newMessage('a1', { role: 'assistant' }), newMessage('q2'), newMessage('q3')]
      await done(store, finish(await acceptedRun(store, accept(session, { start: { messages } }))))
      const update = { type: 'update_session', sessionId: session.id } as const
      const keep = (...of: Parameters<typeof summary>) => ({
        ...update,
        summary: summary(...of),
        entries: [fact('summarized')],
      })
      expect(await refusal(store, keep('s1', 'unknown', null))).toBe('conflict')
      expect(await refusal(store, keep('s1', 'q1', 'none'))).toBe('conflict')
      const { results } = await store.commit([
        keep('s1', 'a1', null),
        keep('s1 of another', 'a1', null),
        keep('s2', 'q2', 's1'),
      ])
      expect(results.map(({ ok }) => ok)).toEqual([true, false, true])

      const newest = async (of: Store) => idsOf(await of.messages.ofLane(session.id, SUMMARIES, 1))
      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await newest(current)).toEqual(['s2'])
        const used = await current.usage.totals({ from: 0, to: 30_000, sessionId: session.id, model: 'openai/small' })
        expect(used).toMatchObject([{ input: 14, output: 4, runs: 0 }])
        expect(idsOf(await current.messages.page(session.id, 10))).toEqual(['q1', 'a1', 'q2', 'q3'])
        expect((await current.sessions.get(session.id))?.messageCount).toBe(4)
      }
    })

    test('one that was made before a branch goes with what it may cover', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const messages = [newMessage('q1'), newMessage('q2'), newMessage('q3')]
      await done(store, finish(await acceptedRun(store, accept(session, { start: { messages } }))))
      const update = { type: 'update_session', sessionId: session.id } as const
      await done(store, { ...update, summary: summary('s1', 'q2', null) })
      await acceptedRun(store, accept(session, { start: { supersedeAfter: 'q1' } }))

      expect(await store.messages.ofLane(session.id, SUMMARIES, 1)).toEqual([])
      expect(await refusal(store, { ...update, summary: summary('s2', 'q2', null) })).toBe('conflict')
      await done(store, { ...update, summary: summary('s3', 'q1', null) })
    })
  })

  describe('asides', () => {
    const activity = (id: string, ships: number) =>
      newMessage(id, {
        role: 'activity',
        content: '',
        lane: ACTIVITIES,
        activity: { type: 'SHIPS', content: { ships } },
      })

    test('are read among the messages of a page if they are asked for', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session, { start: { messages: [newMessage('q1')] } }))
      const said = newMessage('s1', { role: 'assistant', lane: 'call' })
      const messages = [said, newMessage('a1', { role: 'assistant' }), activity('x', 1), newMessage('q2')]
      await done(store, append(run, [text('x')], { messages }))
      await done(store, append(run, [text('y')], { messages: [activity('y', 1)] }))

      for await (const current of beforeAndAfter(store, reopen)) {
        const read = async (limit: number, before?: string) =>
          idsOf(await current.messages.page(session.id, limit, { before, asides: true }))
        expect(await read(10)).toEqual(['q1', 's1', 'a1', 'x', 'q2', 'y'])
        expect(await read(2)).toEqual(['a1', 'x', 'q2', 'y'])
        expect(await read(1, 'q2')).toEqual(['a1', 'x'])
        expect(await read(10, 'a1')).toEqual(['q1', 's1'])
        expect(idsOf(await current.messages.page(session.id, 10))).toEqual(['q1', 'a1', 'q2'])
      }
    })

    test('are limited to the newest ones', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session, { start: { messages: [newMessage('q')] } }))
      const long = 'x'.repeat(1_500_000)
      const messages = ['s1', 's2', 's3', 's4'].map((id) => newMessage(id, { content: long, lane: 'call' }))
      await done(store, append(run, [text('x')], { messages }))

      expect(idsOf(await store.messages.page(session.id, 10, { asides: true }))).toEqual(['q', 's2', 's3', 's4'])
    })

    test('show an activity at its first place with its latest content, and it replaces nothing else', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session, { start: { messages: [newMessage('q')] } }))
      await done(
        store,
        append(run, [text('x')], { messages: [activity('x', 1), newMessage('a', { role: 'assistant' })] }),
      )
      await done(store, append(run, [text('y')], { messages: [activity('x', 2), activity('a', 3)] }))

      expect(await store.messages.page(session.id, 10, { asides: true })).toEqual([
        newMessage('q'),
        activity('x', 2),
        newMessage('a', { role: 'assistant' }),
      ])
      expect((await store.sessions.get(session.id))?.messageCount).toBe(2)
    })
  })

  describe('a run that branches off', () => {
    test('supersedes what followed: that is kept, but neither shown nor counted', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      const history = [
        newMessage('q1'),
        newMessage('a1', { role: 'assistant' }),
        newMessage('q2'),
        newMessage('a2', { role: 'assistant' }),
      ]
      const first = await acceptedRun(store, accept(session, { start: { messages: history } }))
      await done(store, finish(first))

      const second = await acceptedRun(
        store,
        accept(session, {
          start: { supersedeAfter: 'q1', messages: [newMessage('b1', { role: 'assistant' })] },
        }),
      )

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(idsOf(await current.messages.page(session.id, 100))).toEqual(['q1', 'b1'])
        expect(idsOf(await current.messages.page(session.id, 100, { before: 'a2' }))).toEqual(['q1'])
        const known = await current.messages.known(session.id, ['q1', 'a1', 'q2', 'a2', 'b1'])
        expect(idsOf(await current.messages.all(session.id))).toEqual(['q1', 'a1', 'q2', 'a2', 'b1'])
        expect((await current.runs.list(session.id)).map(({ id }) => id)).toEqual([first.id, second.id])
        expect(known.map(({ id, supersededBy }) => [id, supersededBy]).sort()).toEqual([
          ['a1', second.id],
          ['a2', second.id],
          ['b1', undefined],
          ['q1', undefined],
          ['q2', second.id],
        ])
        expect((await current.sessions.get(session.id))?.messageCount).toBe(2)
      }
    })

    test('does not supersede again what the run before it superseded', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run1 = await acceptedRun(store, accept(session, { start: { messages: [newMessage('q')] } }))
      await done(store, finish(run1, { messages: [newMessage('a1', { role: 'assistant' })] }))
      const branch = { start: { supersedeAfter: 'q' } }
      const run2 = await acceptedRun(store, accept(session, branch))
      await done(store, finish(run2, { messages: [newMessage('a2', { role: 'assistant' })] }))
      const run3 = await acceptedRun(store, accept(session, branch))

      expect(idsOf(await store.messages.page(session.id, 10))).toEqual(['q'])
      const known = await store.messages.known(session.id, ['a1', 'a2'])
      expect(new Map(known.map(({ id, supersededBy }) => [id, supersededBy]))).toEqual(
        new Map([
          ['a1', run2.id],
          ['a2', run3.id],
        ]),
      )
    })

    test('supersedes when it starts, not while it is queued', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const messages = [newMessage('q'), newMessage('a', { role: 'assistant' })]
      const first = await acceptedRun(store, accept(session, { start: { messages } }))
      const start = { entries: [], messages: [], supersedeAfter: 'q' }
      const queued = await acceptedRun(store, accept(session, { start }))
      const command = { type: 'start_run', runId: queued.id, leaseOwner: 'p', now: NOW, start } as const

      expect(await refusal(store, command)).toBe('conflict')
      expect(idsOf(await store.messages.page(session.id, 10))).toEqual(['q', 'a'])

      await done(store, finish(first))
      await done(store, command)
      expect(idsOf(await store.messages.page(session.id, 10))).toEqual(['q'])
    })

    /** A session with q1 a1 q2 a2, and then a run that edited q2. */
    async function openEdited() {
      const { store } = await openForTest(open)
      const session = newSession()
      const history = ['q1', 'a1', 'q2', 'a2'].map((id) =>
        newMessage(id, { role: id.startsWith('a') ? 'assistant' : 'user' }),
      )
      await done(store, finish(await acceptedRun(store, accept(session, { start: { messages: history } }))))
      const edit = { start: { supersedeAfter: 'a1', messages: [newMessage('edited')] } }
      const edited = await acceptedRun(store, accept(session, edit))
      await done(store, finish(edited, { messages: [newMessage('a3', { role: 'assistant' })] }))
      const begin = async (start: { supersedeAfter?: string; messages?: StoredMessage[] }) =>
        done(store, finish(await acceptedRun(store, accept(session, { start }))))
      return { store, session, edit, begin, shown: async () => idsOf(await store.messages.page(session.id, 10)) }
    }

    test('supersedes everything from the start', async () => {
      const { store, session, begin, shown } = await openEdited()

      await begin({ supersedeAfter: START, messages: [newMessage('new')] })

      expect(await shown()).toEqual(['new'])
      expect((await store.sessions.get(session.id))?.messageCount).toBe(1)
    })

    test('answers a message again that was accepted in the meantime, and does not hide it', async () => {
      const { store, session, edit, begin, shown } = await openEdited()

      await begin(edit.start)

      expect(await shown()).toEqual(['q1', 'a1', 'edited'])
      expect((await store.sessions.get(session.id))?.messageCount).toBe(3)
    })

    test('answers a repeated message again even without an edit, and keeps what came before it', async () => {
      const { begin, shown } = await openEdited()

      await begin({ messages: [newMessage('q1')] })
      expect(await shown()).toEqual(['q1'])
      await begin({ messages: [newMessage('q1'), newMessage('q3')] })

      expect(await shown()).toEqual(['q1', 'q3'])
    })

    test('hides nothing if its branch point is superseded by then', async () => {
      const { begin, shown } = await openEdited()

      await begin({ supersedeAfter: 'a2', messages: [newMessage('q3')] })

      expect(await shown()).toEqual(['q1', 'a1', 'edited', 'a3', 'q3'])
    })

    test.each([
      ['without a message of its own', { supersedeAfter: 'q2' }],
      ['with one that is superseded by then', { messages: [newMessage('q2')] }],
      ['with an edit that is', { supersedeAfter: 'a1', messages: [newMessage('q2')] }],
    ])('answers the last message %s', async (_how, start) => {
      const { begin, shown } = await openEdited()

      await begin(start)

      expect(await shown()).toEqual(['q1', 'a1', 'edited'])
    })
  })
}
