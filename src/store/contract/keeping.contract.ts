import { describe, expect, type TestContext, test } from 'vitest'
import type { Store } from '../store.ts'
import {
  accept,
  acceptedRun,
  append,
  beforeAndAfter,
  commit,
  done,
  event,
  fact,
  finish,
  NOW,
  newMessage,
  newSession,
  type OpenStore,
  openForTest,
  readSession,
  type StoreUnderTest,
  text,
} from './samples.contract.ts'

export function describeKeeping(open: OpenStore): void {
  describe('what is committed', () => {
    test('survives a restart, including text in flight', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession({ alias: 'name', metadata: { a: 1 } })
      const first = await acceptedRun(store, accept(session, { start: { messages: [newMessage('q')], state: [1] } }))
      await done(store, append(first, [text('a'), text('b')]))
      await done(store, finish(first, { messages: [newMessage('a', { role: 'assistant' })] }))
      const second = await acceptedRun(store, accept(session))
      await done(store, append(second, [text('c')]))
      await done(store, append(second, [fact('tool_intent')], { sync: true, lastTool: 'search' }))
      await done(store, append(second, [text('d'), text('e')]))
      const third = await acceptedRun(store, accept(session))
      await done(store, append(second, [text('f')]))
      const runs = [first, second, third]
      const before = await readSession(store, session, runs)
      expect(before.entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 13 }, (_, i) => i + 1))

      const store2 = await reopen()

      expect(await readSession(store2, session, runs)).toEqual(before)
      expect((await store2.runs.orphans(NOW, 10)).map(({ id }) => id)).toEqual([second.id])
      expect(await readSession(await reopen(), session, runs)).toEqual(before)
    })

    test('survives a rest, and the store goes on as before', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session, { start: { messages: [newMessage('q')] } }))
      await done(store, append(run, [text('a')]))
      const before = await readSession(store, session, [run])

      store.rest()

      expect(await readSession(store, session, [run])).toEqual(before)
      await done(store, append(run, [text('b')]))
      store.rest()
      store.rest()
      await done(store, finish(run, { messages: [newMessage('ab', { role: 'assistant' })] }))
      expect((await store.runs.get(run.id))?.status).toBe('completed')
      expect((await store.entries(session.id, 0, 10)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
    })

    test('is a copy, so a caller cannot change it later', async () => {
      const { store } = await openForTest(open)
      const session = newSession({ metadata: { a: 1 } })
      const question = newMessage('q')
      const command = accept(session, { start: { messages: [question], state: { a: 1 } } })
      const run = await acceptedRun(store, command)
      const before = structuredClone(await readSession(store, session, [run]))

      session.metadata.a = 2
      question.content = 'changed'
      command.run.input.instructions.push('changed')
      Object.assign(command.start.state ?? {}, { a: 2 })
      const read = await readSession(store, session, [run])
      for (const message of read.messages) message.content = 'changed'
      for (const entry of read.entries) entry.data = 'changed'
      if (read.record !== null) read.record.metadata.a = 3
      run.status = 'failed'

      expect(await readSession(store, session, [run])).toEqual(before)
    })

    test('passes the check of the store', async () => {
      const { store } = await openForTest(open)

      expect(await store.check()).toBe(undefined)
    })

    test('may have 10,000 entries, read in pages', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session, { acceptEntries: [] }))
      const deltas = Array.from({ length: 9_999 }, (_, i) => text(`${i} `))
      for (let i = 0; i < deltas.length; i += 333) {
        const result = await done(store, append(run, deltas.slice(i, i + 333), { sync: i % 2 === 0 }))
        expect(result.firstSeq).toBe(i + 2)
      }

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.head(session.id)).toBe(10_000)
        const found: string[] = []
        for (let after = 0; ; ) {
          const page = await current.entries(session.id, after, 777)
          if (page.length === 0) break
          expect(page.map(({ seq }) => seq)).toEqual(page.map((_, i) => after + 1 + i))
          found.push(...page.map(({ data }) => data))
          after += page.length
          expect(page.length === 777 || after === 10_000).toBe(true)
        }
        expect(found.slice(1)).toEqual(deltas.map(({ data }) => data))
      }
    })

    test('may be big', async () => {
      const { store, reopen } = await openForTest(open)
      const big = '0123456789abcdef'.repeat(256 * 1024)
      const session = newSession({ metadata: { big } })
      const question = newMessage('q', { content: big, metadata: { big } })
      const run = await acceptedRun(store, accept(session, { start: { messages: [question], state: { big } } }))
      await done(store, append(run, [text(big), text('small')]))
      const results = await commit(store, ...Array.from({ length: 2_000 }, (_, i) => append(run, [text(`${i}`)])))
      expect(results.every((result) => result.ok)).toBe(true)
      const before = await readSession(store, session, [run])
      expect(before.entries.length).toBe(2_004)
      expect(before.entries[2]?.data.length).toBeGreaterThan(big.length)

      expect((await readSession(await reopen(), session, [run])).entries).toEqual(before.entries)
    })
  })

  describe('names and texts', () => {
    test.each(['__proto__', 'constructor', 'toString', '0', 'null', "'; DROP TABLE sessions; --", '%', ' a', 'a '])(
      'take %j like any other',
      async (name) => {
        const { store, reopen } = await openForTest(open)
        const session = newSession({ owner: name, alias: name, agent: name, metadata: JSON.parse(`{"${name}":1}`) })
        const idempotency = { key: name, digest: name, expiresAt: NOW + 1 }
        const command = accept(session, {
          leaseOwner: name,
          idempotency,
          run: { wireId: name },
          start: { messages: [newMessage(name)], state: JSON.parse(`{"${name}":{"a":1}}`) },
        })
        const run = await acceptedRun(store, command)
        await done(store, append(run, [text(name, name)], { lastTool: name }))
        await done(store, { type: 'renew_lease', leaseOwner: name, until: NOW + 1_000 })
        expect(await store.runs.orphans(NOW, 10)).toEqual([])

        for await (const current of beforeAndAfter(store, reopen)) {
          const record = await current.sessions.get(session.id)
          expect(record).toMatchObject({ owner: name, alias: name, agent: name, lastTool: name })
          expect(JSON.stringify(record?.metadata)).toBe(`{"${name}":1}`)
          expect(JSON.stringify(record?.state)).toBe(`{"${name}":{"a":1}}`)
          expect((await current.sessions.byAlias(name, name))?.id).toBe(session.id)
          expect((await current.sessions.list({ owner: name, limit: 10 })).map(({ id }) => id)).toEqual([session.id])
          expect((await current.runs.byWireId(session.id, name))?.id).toBe(run.id)
          expect((await current.runs.ofOwner(name, name))?.id).toBe(run.id)
          expect(await current.messages.page(session.id, 10)).toEqual([newMessage(name)])
          expect(await current.messages.known(session.id, [name])).toEqual([newMessage(name)])
          expect((await current.entries(session.id, 2, 1))[0]?.data).toBe(text(name, name).data)
          expect(await current.sessions.byAlias(name, `${name}x`)).toBe(null)
          expect(await done(current, command)).toMatchObject({ existing: true, run: { id: run.id } })
        }
      },
    )

    test('are compared exactly', async () => {
      const { store } = await openForTest(open)
      // Composed and decomposed, upper and lower case, with and without a space at the end.
      const names = ['\u00e9', 'e\u0301', 'a', 'A', 'a ', 'ß', 'ss', 'ｱ', 'ア', '😀', '😁']
      const session = newSession()
      const run = await acceptedRun(store, accept(session, { start: { messages: names.map((id) => newMessage(id)) } }))
      await commit(store, ...names.map((alias) => accept(newSession({ alias }), { run: { wireId: alias } })))

      expect((await store.messages.page(session.id, 100)).map(({ id }) => id)).toEqual(names)
      for (const name of names) {
        expect((await store.sessions.byAlias(session.owner, name))?.alias).toBe(name)
        expect((await store.runs.ofOwner(session.owner, name))?.wireId).toBe(name)
        expect((await store.messages.known(session.id, [name])).map(({ id }) => id)).toEqual([name])
      }
      expect((await store.runs.get(run.id))?.id).toBe(run.id)
    })

    test.each([
      ['text of many scripts', 'Grüße, Ελληνικά, עברית, العربية, हिन्दी, ไทย, 中文, 日本語, 한국어, 👩‍👩‍👧‍👦 🇳🇴'],
      ['characters beyond the first plane', '\u{10000}\u{1f600}\u{10ffff}'],
      ['line ends and other controls', 'a\nb\r\nc\td\u0000e\u0001f\u001fg\u007fh\u0085i\u2028j\u2029k'],
      ['marks that nobody sees', '\ufeffa\u200bb\u200dc\u202ed\ufffe\uffff'],
      ['quotes and slashes', '"\\\'`</script>\\u0041\\n%s$1'],
      // An answer that broke off in the middle of a character ends with half of it.
      ['half a character', 'a\ud83d'],
    ])('keep %s', async (_, sample) => {
      const { store, reopen } = await openForTest(open)
      const session = newSession({ metadata: { sample } })
      const messages = [
        newMessage('plain', { content: sample }),
        newMessage('parts', { content: [{ type: 'text', text: sample }], metadata: { sample } }),
        newMessage('error', { role: 'tool', toolCallId: 'c', content: '', error: sample }),
      ]
      const entries = [text(sample), event('CUSTOM', { [sample]: sample })]
      const run = await acceptedRun(store, accept(session, { start: { messages, state: { [sample]: sample } } }))
      await done(store, append(run, entries))
      await done(store, append(run, entries, { sync: true }))
      await done(store, finish(run, { status: 'failed', error: { code: 'tool_failed', message: sample } }))

      for await (const current of beforeAndAfter(store, reopen)) {
        const { record, entries: found, messages: read, runs } = await readSession(current, session, [run])
        expect(record).toMatchObject({ metadata: { sample }, state: { [sample]: sample } })
        expect(read).toEqual(messages)
        expect(found.slice(2, 6).map(({ data }) => data)).toEqual([...entries, ...entries].map(({ data }) => data))
        expect(runs[0]?.error?.message).toBe(sample)
      }
    })
  })

  describe('a power cut', () => {
    const cut = async (context: TestContext, opened: StoreUnderTest): Promise<Store> =>
      opened.powerCut === undefined ? context.skip('this store cannot be cut off from its power') : opened.powerCut()

    test('takes nothing that was synced, and never a part of a commit', async (context) => {
      const opened = await openForTest(open)
      const { store } = opened
      const session = newSession()
      const run = await acceptedRun(store, accept(session, { start: { messages: [newMessage('q')] } }))
      await done(store, append(run, [text('a')]))
      await done(store, append(run, [fact('tool_intent')], { sync: true, messages: [newMessage('t')] }))
      const synced = await readSession(store, session, [run])
      await store.commit([append(run, [text('b'), text('c')], { messages: [newMessage('lost')] })])

      const after = await cut(context, opened)

      const kept = await after.entries(session.id, 0, 100)
      expect(kept.slice(0, 4)).toEqual(synced.entries)
      expect([4, 6]).toContain(kept.length)
      expect((await after.messages.page(session.id, 10)).map(({ id }) => id)).toEqual(
        kept.length === 4 ? ['q', 't'] : ['q', 't', 'lost'],
      )
      expect((await after.runs.get(run.id))?.status).toBe('running')
    })

    test('never gives a seq two meanings, whichever command comes first after it', async (context) => {
      const writers = ['claim', 'cancel', 'queue'] as const
      for (const writer of writers) {
        const opened = await openForTest(open)
        const { store } = opened
        const session = newSession()
        const run = await acceptedRun(store, accept(session))
        const sent = await done(store, append(run, [text('a'), text('b')]))

        const after = await cut(context, opened)

        const entries = [fact('first after the cut')]
        const result = await done(
          after,
          writer === 'claim'
            ? { type: 'claim_run', runId: run.id, fence: run.fence, leaseOwner: 'next', entries }
            : writer === 'cancel'
              ? { type: 'request_cancel', runId: run.id, entries }
              : accept(session, { acceptEntries: entries }),
        )
        expect([writer, result.firstSeq > sent.firstSeq + 1]).toEqual([writer, true])
      }
    })

    test('never gives a seq two meanings, even after more text than one block of seqs', async (context) => {
      const opened = await openForTest(open)
      const { store } = opened
      const session = newSession()
      let run = await acceptedRun(store, accept(session))
      let sent = 0
      for (let i = 0; i < 30; i += 1) {
        const { firstSeq } = await done(
          store,
          append(
            run,
            Array.from({ length: 900 }, () => text('x')),
          ),
        )
        expect(firstSeq).toBeGreaterThan(sent)
        sent = firstSeq + 899
      }

      const after = await cut(context, opened)

      const claim = { type: 'claim_run', runId: run.id, fence: run.fence, leaseOwner: 'next' } as const
      const { firstSeq, run: claimed } = await done(after, { ...claim, entries: [fact('run_recovered')] })
      expect(firstSeq).toBeGreaterThan(sent)
      run = claimed ?? run
      expect((await done(after, append(run, [text('on')]))).firstSeq).toBe(firstSeq + 1)
    })
  })
}
