import { describe, expect, test } from 'vitest'
import type { RunRecord } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { StoredEntry } from '../ports/journal.ts'
import type { CompactSession, ImportSession } from '../ports/sessions.ts'
import type { Store } from '../store.ts'
import {
  accept,
  acceptedRun,
  append,
  approve,
  beforeAndAfter,
  codeOf,
  commit,
  create,
  done,
  event,
  finish,
  finishedSession,
  NOW,
  newApproval,
  newClientCall,
  newId,
  newMessage,
  newRun,
  newSession,
  type OpenStore,
  openForTest,
  readSession,
  refusal,
  STARTED,
  text,
} from './samples.contract.ts'

/** Entries 1 and 2 are the start, 3 to 6 a text in three deltas with something between them, 7 and 8 the end. */
async function talk(store: Store): Promise<{ session: SessionRecord; run: RunRecord; merged: StoredEntry }> {
  const session = newSession()
  const run = await acceptedRun(store, accept(session))
  await done(store, append(run, [text('Hel'), text('lo ')]))
  await done(store, append(run, [event('CUSTOM')], { sync: true }))
  await done(store, append(run, [text('you')]))
  await done(store, append(run, [event('TEXT_MESSAGE_END')]))
  await done(store, finish(run))
  const merged: StoredEntry = {
    seq: 6,
    runId: run.id,
    ...text('Hello you'),
    spans: [
      [3, 3],
      [4, 3],
      [6, 3],
    ],
  }
  return { session, run, merged }
}

const compact = (sessionId: string, head: number, entries: readonly StoredEntry[]): CompactSession => ({
  type: 'compact_session',
  sessionId,
  head,
  entries,
})

export function describeCompaction(open: OpenStore): void {
  describe('compacting a session', () => {
    test('replaces the entries that a new one spans, and leaves the others', async () => {
      const { store, reopen } = await openForTest(open)
      const { session, merged } = await talk(store)
      const before = await store.entries(session.id, 0, 100)
      expect(before.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])

      await done(store, compact(session.id, 8, [merged]))

      const [accepted, started, , , custom, , end, finished] = before
      const after = [accepted, started, custom, merged, end, finished]
      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.entries(session.id, 0, 100)).toEqual(after)
        // A reader that was in the middle of the text still finds it.
        expect(await current.entries(session.id, 3, 100)).toEqual(after.slice(2))
        expect(await current.entries(session.id, 5, 1)).toEqual([merged])
        expect(await current.entries(session.id, 6, 100)).toEqual(after.slice(4))
        expect(await current.head(session.id)).toBe(8)
      }
    })

    test('accepts the whole log as well, changed or not', async () => {
      const { store, reopen } = await openForTest(open)
      const { session, merged } = await talk(store)
      const log = await store.entries(session.id, 0, 100)
      const whole = log.flatMap((entry) =>
        entry.seq === 6 ? [merged] : entry.seq === 3 || entry.seq === 4 ? [] : [entry],
      )

      await done(store, compact(session.id, 8, whole))

      expect(await store.entries(session.id, 0, 100)).toEqual(whole)
      expect(await (await reopen()).entries(session.id, 0, 100)).toEqual(whole)
    })

    test('is refused if the log has grown or a run is open', async () => {
      const { store } = await openForTest(open)
      const { session, merged } = await talk(store)
      const before = await store.entries(session.id, 0, 100)
      expect(await refusal(store, compact(session.id, 7, [merged]))).toBe('conflict')
      expect(await store.entries(session.id, 0, 100)).toEqual(before)

      const run = await acceptedRun(store, accept(session))
      expect(await refusal(store, compact(session.id, 8, [merged]))).toBe('conflict')
      expect(await refusal(store, compact(session.id, 10, [merged]))).toBe('conflict')
      await done(store, finish(run, { status: 'waiting' }))
      expect(await refusal(store, compact(session.id, 11, [merged]))).toBe('conflict')
      expect((await store.entries(session.id, 0, 8)).slice(0, 8)).toEqual(before)
    })

    test('lets the session continue, and be compacted again', async () => {
      const { store, reopen } = await openForTest(open)
      const { session, merged } = await talk(store)
      await done(store, compact(session.id, 8, [merged]))

      const run = await acceptedRun(store, accept(session))
      expect(run.firstSeq).toBe(10)
      await done(store, append(run, [text('a'), text('b')]))
      await done(store, finish(run))
      const first = await store.entries(session.id, 0, 5)
      const again: StoredEntry = {
        seq: 12,
        runId: run.id,
        ...text('ab'),
        spans: [
          [11, 1],
          [12, 1],
        ],
      }
      await done(store, compact(session.id, 13, [again]))

      const entries = await (await reopen()).entries(session.id, 0, 100)
      expect(entries.map(({ seq, spans }) => [seq, spans?.length])).toEqual([
        [1, undefined],
        [2, undefined],
        [5, undefined],
        [6, 3],
        [7, undefined],
        [8, undefined],
        [9, undefined],
        [10, undefined],
        [12, 2],
        [13, undefined],
      ])
      expect(entries.slice(0, 5)).toEqual(first)
    })

    test('may come in parts, and is due until the last of them', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      // More than a row holds, so that parts begin and end inside of rows and between them.
      const delta = 'x'.repeat(1_000)
      for (let i = 0; i < 20; i += 1)
        await done(
          store,
          append(
            run,
            Array.from({ length: 5 }, () => text(delta)),
          ),
        )
      await done(store, finish(run))
      const log = await store.entries(session.id, 0, 1_000)
      const [accepted, started, ...texts] = log
      const finished = texts.pop()
      const joined = (from: number, to: number): StoredEntry => ({
        seq: texts[to - 1]?.seq ?? 0,
        runId: run.id,
        ...text(delta.repeat(to - from)),
        spans: texts.slice(from, to).map(({ seq }) => [seq, delta.length]),
      })
      const part = (entry: StoredEntry) => ({ ...compact(session.id, finished?.seq ?? 0, [entry]), isPart: true })

      for (const entry of [joined(0, 33), joined(33, 71)]) {
        await done(store, part(entry))
        expect(await store.sessions.toCompact(NOW + 1, 10)).toEqual([session.id])
      }
      const middle = [accepted, started, joined(0, 33), joined(33, 71), ...texts.slice(71), finished]
      expect(await store.entries(session.id, 0, 1_000)).toEqual(middle)
      await done(store, { ...part(joined(71, 100)), isPart: false })
      expect(await store.sessions.toCompact(NOW + 1, 10)).toEqual([])
      await done(store, part(joined(0, 71)))

      const after = [accepted, started, joined(0, 71), joined(71, 100), finished]
      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.entries(session.id, 0, 1_000)).toEqual(after)
      }
    })

    test('is due for idle sessions with finished runs, once', async () => {
      const { store } = await openForTest(open)
      const idle = await finishedSession(store, { lastActivity: 100 })
      await finishedSession(store, { lastActivity: 200 })
      const busy = newSession({ lastActivity: 100 })
      await done(store, accept(busy, { run: { createdAt: 100 } }))
      await done(store, create(newSession({ lastActivity: 100 })))

      expect(await store.sessions.toCompact(100, 10)).toEqual([])
      expect(await store.sessions.toCompact(101, 10)).toEqual([idle.session.id])
      expect((await store.sessions.toCompact(300, 10)).length).toBe(2)
      expect((await store.sessions.toCompact(300, 1)).length).toBe(1)

      await done(store, compact(idle.session.id, 3, []))
      expect(await store.sessions.toCompact(101, 10)).toEqual([])
      const again = accept(idle.session, { run: { createdAt: 101 } })
      const next = await acceptedRun(store, again)
      await done(store, finish(next, { now: 101 }))
      expect(await store.sessions.toCompact(102, 10)).toEqual([idle.session.id])
    })
  })

  describe('importing a session', () => {
    async function exported(store: Store): Promise<ImportSession> {
      const { session, run, merged } = await talk(store)
      await done(store, compact(session.id, 8, [merged]))
      const failed = await acceptedRun(store, accept(session, { start: { messages: [newMessage('q')], state: null } }))
      await done(
        store,
        finish(failed, {
          status: 'failed',
          error: { code: 'model_failed', message: 'No.' },
          messages: [newMessage('a', { role: 'assistant', brokenOff: true })],
        }),
      )
      const runs = await Promise.all([run, failed].map(({ id }) => store.runs.get(id)))
      return {
        type: 'import_session',
        session: (await store.sessions.get(session.id)) ?? session,
        runs: runs.filter((one) => one !== null),
        messages: await store.messages.page(session.id, 100),
        entries: await store.entries(session.id, 0, 100),
      }
    }

    test('creates the same session in another store', async () => {
      const source = (await openForTest(open)).store
      const { store, reopen } = await openForTest(open)
      const command = await exported(source)

      await done(store, command)

      const expected = await readSession(source, command.session, command.runs)
      expect(expected.entries.length).toBeGreaterThan(0)
      expect(expected.messages.length).toBe(2)
      expect(await readSession(store, command.session, command.runs)).toEqual(expected)
      expect(await readSession(await reopen(), command.session, command.runs)).toEqual(expected)
    })

    test('includes waits, sub-agents and the active agent', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession({ activeAgent: 'tutor', messageCount: 1 })
      const run = newRun(session.id, { status: 'waiting', fence: 1, firstSeq: 1, lastSeq: 1 })
      const waits = [newApproval(run), newClientCall(run)]
      const [approval, call] = waits
      const messages = [newMessage('q'), newMessage('p', { lane: 'planner' })]
      const entries = [{ seq: 1, runId: run.id, ...STARTED }]
      const command = { type: 'import_session', session, runs: [run], messages, entries, waits } as const

      await done(store, command)

      expect(await store.sessions.get(session.id)).toEqual(session)
      expect(await store.messages.ofLane(session.id, 'planner', 10)).toEqual([messages[1]])
      const copy = newSession()
      const other = newRun(copy.id)
      const taken = { ...command, session: copy, runs: [other], messages: [], entries: [] }
      expect(await refusal(store, taken)).toBe('conflict')
      expect(await store.sessions.get(copy.id)).toBe(null)
      const store2 = await reopen()
      expect(await Promise.all([approval, call].map((wait) => store2.waits.get(wait?.id ?? '')))).toEqual(waits)
      const next = await done(store2, accept(session, { answers: [approve(approval?.id ?? '')] }))
      expect(next).toMatchObject({ run: { status: 'running' }, completed: { id: run.id } })
    })

    test('keeps superseded messages hidden', async () => {
      const { store } = await openForTest(open)
      const hidden = newMessage('old', { supersededBy: 'some run' })
      const session = newSession({ messageCount: 1 })

      await done(store, { type: 'import_session', session, runs: [], messages: [newMessage('q'), hidden], entries: [] })

      expect(await store.messages.page(session.id, 10)).toEqual([newMessage('q')])
      expect(await store.messages.known(session.id, ['old'])).toEqual([hidden])
      expect(await store.sessions.get(session.id)).toEqual(session)
    })

    test('lets the session continue after the imported log', async () => {
      const source = (await openForTest(open)).store
      const { store } = await openForTest(open)
      const command = await exported(source)
      await done(store, command)

      const result = await done(store, accept(command.session))

      expect(result.firstSeq).toBeGreaterThan(command.entries.at(-1)?.seq ?? 0)
      expect((await store.entries(command.session.id, 0, 100)).slice(0, -2)).toEqual(command.entries)
    })

    test('is refused if the session, its name or one of its runs exists, and leaves nothing', async () => {
      const source = (await openForTest(open)).store
      const { store } = await openForTest(open)
      const command = await exported(source)
      const named = newSession({ alias: 'name' })
      await done(store, command)
      await done(store, create(named))
      const before = await readSession(store, command.session, command.runs)
      const copy = { ...command, session: { ...command.session, id: newId(), alias: 'copy' } }
      const clash = { ...command, session: { ...newSession({ alias: 'name' }) }, runs: [newRun(newId())] }
      const neighbour = newSession()

      const results = await commit(store, command, copy, clash, create(neighbour))

      expect(results.slice(0, 3).map(codeOf)).toEqual(['conflict', 'conflict', 'conflict'])
      expect(await store.sessions.get(neighbour.id)).toEqual(neighbour)
      expect(await readSession(store, command.session, command.runs)).toEqual(before)
      for (const refused of [copy, clash]) {
        const { id, owner } = refused.session
        expect(await store.sessions.get(id)).toBe(null)
        expect([await store.entries(id, 0, 1), await store.messages.page(id, 1)]).toEqual([[], []])
        expect((await store.sessions.byAlias(owner, 'copy')) ?? null).toBe(null)
      }
      expect(await store.runs.get(clash.runs[0]?.id ?? '')).toBe(null)
    })

    test('brings back a run that was cut off as an orphan', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = newRun(session.id, { status: 'running', fence: 3, leaseOwner: 'gone', firstSeq: 1, startedAt: NOW })
      const entries = [{ seq: 1, runId: run.id, ...STARTED }]

      await done(store, { type: 'import_session', session, runs: [run], messages: [], entries })

      expect(await store.runs.orphans(NOW, 10)).toEqual([run])
      const claim = await done(store, {
        type: 'claim_run',
        runId: run.id,
        fence: 3,
        leaseOwner: 'me',
        entries: [text('on')],
      })
      expect(claim.firstSeq).toBeGreaterThan(1)
      expect(await store.runs.get(run.id)).toMatchObject({ fence: 4, leaseOwner: 'me' })
    })
  })
}
