import { describe, expect, test } from 'vitest'
import {
  ACCEPTED,
  type AcceptValues,
  accept,
  acceptedRun,
  codeOf,
  commit,
  done,
  event,
  fact,
  finish,
  NOW,
  newMessage,
  newRun,
  newSession,
  type OpenStore,
  openForTest,
  PROCESS,
  readSession,
  refusal,
  STARTED,
} from './samples.contract.ts'

export function describeAccepting(open: OpenStore): void {
  describe('accepting a run', () => {
    test('merges metadata into that of the session key by key, once', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession({ metadata: { kept: 1, replaced: { deep: 1 } } })
      const first = accept(session, { metadata: { replaced: 2, added: null } })
      const second = accept(session, { metadata: { added: { list: [3] } } })

      expect((await done(store, first)).session?.metadata).toEqual({ kept: 1, replaced: 2, added: null })
      // This run is queued, but its metadata counts at once.
      expect((await done(store, second)).session?.metadata).toEqual({ kept: 1, replaced: 2, added: { list: [3] } })
      await done(store, first)

      const merged = { kept: 1, replaced: 2, added: { list: [3] } }
      expect((await store.sessions.get(session.id))?.metadata).toEqual(merged)
      expect((await (await reopen()).sessions.get(session.id))?.metadata).toEqual(merged)
    })

    test('a message without an id leaves the conversation as it is', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session, { start: { messages: [newMessage('q')] } }))
      await done(store, finish(run))
      await done(store, accept(session, { start: { messages: [newMessage('')] } }))

      expect((await store.messages.page(session.id, 10)).map(({ id }) => id)).toEqual(['q', ''])
    })

    test('creates the session, starts the run and writes what belongs to both', async () => {
      const { store } = await openForTest(open)
      const session = newSession({ alias: 'my chat', metadata: { colour: 'red' } })
      const question = newMessage('q', { content: 'Hi' })
      const command = accept(session, {
        acceptEntries: [ACCEPTED, fact('second')],
        start: { entries: [STARTED, event('STATE_SNAPSHOT')], messages: [question], state: { step: 1 } },
      })

      const result = await done(store, command)

      const record = { ...session, messageCount: 1, state: { step: 1 } }
      const run = {
        ...command.run,
        status: 'running',
        startedAt: NOW,
        fence: 1,
        leaseOwner: PROCESS,
        firstSeq: 3,
        // A store may set the last seq only when the run has ended.
        lastSeq: result.run?.lastSeq,
      }
      expect(result).toMatchObject({ ok: true, firstSeq: 1, run, session: record })
      expect(result.existing ?? false).toBe(false)
      const runId = command.run.id
      expect(await readSession(store, session, [command.run])).toEqual({
        record,
        byAlias: record,
        head: 4,
        entries: [
          { seq: 1, runId, ...ACCEPTED },
          { seq: 2, runId, ...fact('second') },
          { seq: 3, runId, ...STARTED },
          { seq: 4, runId, ...event('STATE_SNAPSHOT') },
        ],
        messages: [question],
        openRuns: [run],
        runs: [run],
      })
    })

    test('finds the session again by its id and keeps what it holds', async () => {
      const { store } = await openForTest(open)
      const session = newSession({ alias: 'first name', metadata: { kept: true } })
      const first = await acceptedRun(store, accept(session, { start: { state: 'old', messages: [newMessage('a')] } }))
      await done(store, finish(first))

      const later = { ...session, agent: 'other', alias: 'second name', metadata: {}, state: 'ignored' }
      const second = accept(later, { start: { messages: [newMessage('b')] } })
      const result = await done(store, second)

      expect(result.firstSeq).toBe(4)
      expect(result.run).toMatchObject({ status: 'running', fence: 1, firstSeq: 5 })
      expect(result.session).toEqual({ ...session, messageCount: 2, state: 'old' })
      expect(await store.sessions.byAlias(session.owner, 'second name')).toBe(null)
    })

    test('uses the session that has the name by now, whatever id the request has', async () => {
      const { store } = await openForTest(open)
      const [first, second] = [newSession({ alias: 'shared' }), newSession({ alias: 'shared' })]

      const results = await commit(store, accept(first), accept(second))

      expect(results).toMatchObject([
        { ok: true, run: { sessionId: first.id, status: 'running' }, session: { id: first.id } },
        { ok: true, run: { sessionId: first.id, status: 'queued' }, session: { id: first.id } },
      ])
      expect(await store.sessions.get(second.id)).toBe(null)
      expect((await store.sessions.byAlias(first.owner, 'shared'))?.id).toBe(first.id)
    })

    test('keeps the session names of owners apart', async () => {
      const { store } = await openForTest(open)
      const [anns, bobs] = [newSession({ alias: 'chat' }), newSession({ alias: 'chat', owner: 'bob' })]

      await commit(store, accept(anns), accept(bobs))

      expect((await store.sessions.byAlias(anns.owner, 'chat'))?.id).toBe(anns.id)
      expect((await store.sessions.byAlias('bob', 'chat'))?.id).toBe(bobs.id)
      expect(await store.sessions.byAlias('carol', 'chat')).toBe(null)
    })

    test('never uses the session of another owner', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      await done(store, finish(run))
      const before = await readSession(store, session, [run])

      const foreign = accept({ ...session, owner: 'mallory' }, { run: { wireId: run.wireId } })

      expect(await refusal(store, foreign)).toBe('session_not_found')
      expect(await readSession(store, session, [run])).toEqual(before)
    })

    test('refuses a new session beyond the limit, which counts all owners but no deleted sessions', async () => {
      const { store } = await openForTest(open)
      const [one, two, three] = [newSession(), newSession({ owner: 'bob', unlisted: true }), newSession()]
      const run = await acceptedRun(store, accept(one, { maxSessions: 2 }))
      await done(store, accept(two, { maxSessions: 2 }))

      expect(await refusal(store, accept(three, { maxSessions: 2 }))).toBe('too_many_sessions')
      expect(await store.sessions.get(three.id)).toBe(null)
      expect(await done(store, accept(one, { maxSessions: 2 }))).toMatchObject({ run: { status: 'queued' } })

      for (const open of await store.runs.open(one.id)) await done(store, finish(open))
      expect((await store.runs.get(run.id))?.status).toBe('completed')
      await done(store, { type: 'delete_session', sessionId: one.id, now: NOW })
      expect(await done(store, accept(three, { maxSessions: 2 }))).toMatchObject({ session: { id: three.id } })
    })
  })

  describe('accepting a run into a busy session', () => {
    const behind: AcceptValues = { start: { entries: [STARTED], messages: [newMessage('unsaid')], state: 'unsaid' } }

    test('queues in order and writes only the acceptance', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const first = await acceptedRun(store, accept(session))

      const results = [await done(store, accept(session, behind)), await done(store, accept(session, behind))]

      expect(results.map(({ firstSeq }) => firstSeq)).toEqual([3, 4])
      const queued = results.map(({ run }) => run)
      const waits = { status: 'queued', startedAt: null, fence: 0, leaseOwner: null, firstSeq: null }
      expect(queued).toMatchObject([waits, waits])
      expect((await store.runs.open(session.id)).map((run) => run.id)).toEqual([
        first.id,
        ...queued.map((run) => run?.id),
      ])
      expect(await store.entries(session.id, 2, 10)).toEqual([
        { seq: 3, runId: queued[0]?.id, ...ACCEPTED },
        { seq: 4, runId: queued[1]?.id, ...ACCEPTED },
      ])
      expect(await store.messages.page(session.id, 10)).toEqual([])
      expect(await store.sessions.get(session.id)).toEqual(session)
    })

    test('keeps the input of a queued run until it starts', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      const input = {
        ...newRun(session.id).input,
        forwardedProps: { a: null },
        state: null,
        regenerateAfter: 'q',
        instructions: ['Whisper.'],
      }
      await done(store, accept(session))
      const queued = await acceptedRun(store, accept(session, { run: { input } }))

      expect((await store.runs.get(queued.id))?.input).toEqual(input)
      expect((await (await reopen()).runs.get(queued.id))?.input).toEqual(input)
    })

    test('puts a run behind the queued ones, even if nothing is running', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const first = await acceptedRun(store, accept(session))
      const second = await acceptedRun(store, accept(session))
      await done(store, finish(first))

      const third = await acceptedRun(store, accept(session))

      expect(third.status).toBe('queued')
      expect((await store.runs.open(session.id)).map((run) => run.id)).toEqual([second.id, third.id])
    })

    test('refuses a run if the queue is full', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      await done(store, accept(session))
      await done(store, accept(session, { maxQueued: 1 }))
      const before = await readSession(store, session)

      const command = accept(session, { maxQueued: 1, idempotency: { key: 'k', digest: 'd', expiresAt: NOW + 1 } })

      expect(await refusal(store, command)).toBe('queue_full')
      expect(await store.runs.get(command.run.id)).toBe(null)
      expect(await readSession(store, session)).toEqual(before)
      expect(await done(store, { ...command, maxQueued: 2 })).toMatchObject({ run: { status: 'queued' } })
    })

    test('needs no place in the queue for a run that can start at once', async () => {
      const { store } = await openForTest(open)

      const run = await acceptedRun(store, accept(newSession(), { maxQueued: 0 }))

      expect(run.status).toBe('running')
    })

    test('refuses a run that does not want to wait', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const first = await acceptedRun(store, accept(session, { onBusy: 'reject' }))
      const command = accept(session, { onBusy: 'reject' })

      expect(await refusal(store, command)).toBe('run_in_progress')
      expect(await store.runs.get(command.run.id)).toBe(null)

      await done(store, finish(first))
      expect(await done(store, command)).toMatchObject({ run: { status: 'running' } })
    })

    test('queues a run that interrupts, because the owner of the other run has to stop it', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const first = await acceptedRun(store, accept(session))

      const second = await acceptedRun(store, accept(session, { onBusy: 'interrupt' }))

      expect(second.status).toBe('queued')
      expect(await store.runs.get(first.id)).toEqual(first)
      expect(await refusal(store, accept(session, { onBusy: 'interrupt', maxQueued: 1 }))).toBe('queue_full')
    })

    test('refuses one command without affecting its neighbours', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const other = newSession()

      const results = await commit(
        store,
        accept(session),
        accept(session, { onBusy: 'reject' }),
        accept(session),
        accept(other, { maxSessions: 1 }),
        accept(other),
      )

      expect(results.map((result) => (result.ok ? result.run?.status : codeOf(result)))).toEqual([
        'running',
        'run_in_progress',
        'queued',
        'too_many_sessions',
        'running',
      ])
      expect(await store.head(session.id)).toBe(3)
      expect(await store.head(other.id)).toBe(2)
    })
  })
}
