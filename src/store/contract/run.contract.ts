import { describe, expect, test } from 'vitest'
import {
  accept,
  acceptedRun,
  append,
  codeOf,
  commit,
  done,
  event,
  FINISHED,
  finish,
  NOW,
  newId,
  newMessage,
  newSession,
  type OpenStore,
  openForTest,
  outcomes,
  readSession,
  refusal,
  STARTED,
  start,
  text,
} from './samples.contract.ts'

export function describeRuns(open: OpenStore): void {
  test('the runs of a session are listed newest first, page by page, without their inputs', async () => {
    const { store } = await openForTest(open)
    const session = newSession()
    const runs = []
    for (let i = 0; i < 3; i += 1) runs.unshift(await acceptedRun(store, accept(session)))
    const other = await acceptedRun(store, accept(newSession()))
    const summaries = runs.map(({ input: _input, ...summary }) => summary)

    expect(await store.runs.latest(session.id, 10)).toEqual(summaries)
    expect(await store.runs.latest(session.id, 2)).toEqual(summaries.slice(0, 2))
    expect(await store.runs.latest(session.id, 2, runs[1]?.id)).toEqual(summaries.slice(2))
    expect(await store.runs.latest(session.id, 2, runs[2]?.id)).toEqual([])
    expect(await store.runs.latest(session.id, 2, newId())).toEqual([])
    expect(await store.runs.latest(other.sessionId, 2, other.id)).toEqual([])
  })

  describe('starting a queued run', () => {
    test('makes it the running one and writes its start', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const first = await acceptedRun(store, accept(session))
      const queued = await acceptedRun(store, accept(session))
      await done(store, finish(first))
      const question = newMessage('q')

      const result = await done(
        store,
        start(queued.id, {
          leaseOwner: 'process-2',
          start: { entries: [STARTED, text('a')], messages: [question], state: null },
        }),
      )

      expect(result.firstSeq).toBe(5)
      expect(await store.runs.get(queued.id)).toMatchObject({
        status: 'running',
        startedAt: NOW,
        fence: 1,
        leaseOwner: 'process-2',
        firstSeq: 5,
      })
      expect(await store.entries(session.id, 4, 10)).toEqual([
        { seq: 5, runId: queued.id, ...STARTED },
        { seq: 6, runId: queued.id, ...text('a') },
      ])
      expect(await store.messages.page(session.id, 10)).toEqual([question])
      expect(await store.sessions.get(session.id)).toEqual({ ...session, messageCount: 1, state: null })
    })

    test('is refused while the session is busy, and leaves nothing behind', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const first = await acceptedRun(store, accept(session))
      const queued = await acceptedRun(store, accept(session))
      const before = await readSession(store, session)
      const command = start(queued.id, { start: { entries: [STARTED], messages: [newMessage('q')], state: 1 } })

      expect(await refusal(store, command)).toBe('conflict')
      expect(await readSession(store, session)).toEqual(before)

      await done(store, finish(first, { status: 'waiting' }))
      expect(await refusal(store, command)).toBe('conflict')
    })

    test('is refused if it is running or has ended, or if there is no such run', async () => {
      const { store } = await openForTest(open)
      const run = await acceptedRun(store, accept(newSession()))

      expect(await refusal(store, start(run.id))).toBe('conflict')
      await done(store, finish(run))
      expect(await refusal(store, start(run.id))).toBe('conflict')
      expect(await refusal(store, start(newId()))).toBe('run_not_found')
    })

    test('happens once if two processes try it', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const first = await acceptedRun(store, accept(session))
      const queued = await acceptedRun(store, accept(session))

      const [, won, lost] = await commit(
        store,
        finish(first),
        start(queued.id, { leaseOwner: 'a' }),
        start(queued.id, { leaseOwner: 'b' }),
      )

      expect(won?.ok).toBe(true)
      expect(codeOf(lost)).toBe('conflict')
      expect(await store.runs.get(queued.id)).toMatchObject({ leaseOwner: 'a', fence: 1 })
    })
  })

  describe('finishing a run', () => {
    test.each(outcomes)('ends it as %s, with its last entries, its messages and its lease', async (status) => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      await done(store, append(run, [text('Hello')]))
      const answer = newMessage('a', { role: 'assistant', content: 'Hello', agentName: 'assistant' })
      const error = status === 'failed' ? { code: 'model_failed', message: 'No.' } : null
      const usage = [{ inputTokens: 12, outputTokens: 3, model: 'demo' }]

      const result = await done(
        store,
        finish(run, {
          status,
          entries: [event('TEXT_MESSAGE_END'), FINISHED],
          messages: [answer],
          usage,
          error,
        }),
      )

      expect(result.firstSeq).toBe(4)
      expect(await store.runs.get(run.id)).toEqual({
        ...run,
        // Once a run has ended, its input is in the messages. A store need not keep it twice.
        input: expect.anything(),
        status,
        finishedAt: NOW,
        usage,
        error,
        leaseOwner: null,
        fence: expect.any(Number),
        firstSeq: 2,
        lastSeq: 5,
      })
      expect((await store.entries(session.id, 3, 10)).map(({ data }) => data)).toEqual([
        event('TEXT_MESSAGE_END').data,
        FINISHED.data,
      ])
      expect(await store.messages.page(session.id, 10)).toEqual([answer])
    })

    test('is refused a second time, and for a process that does not own the run', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      const unsaid = { messages: [newMessage('unsaid')], error: { code: 'x', message: 'unsaid' } }

      expect(await refusal(store, finish({ ...run, fence: run.fence + 1 }, unsaid))).toBe('run_fenced')
      expect((await store.runs.get(run.id))?.status).toBe('running')

      const [first, second] = await commit(store, finish(run), finish(run, { status: 'failed', ...unsaid }))
      expect(first?.ok).toBe(true)
      expect(codeOf(second)).toBe('run_fenced')
      expect(await refusal(store, finish(run, { status: 'cancelled', ...unsaid }))).toBe('run_fenced')

      expect(await store.runs.get(run.id)).toMatchObject({ status: 'completed', error: null })
      expect((await store.entries(session.id, 2, 10)).map(({ data }) => data)).toEqual([FINISHED.data])
      expect(await store.messages.page(session.id, 10)).toEqual([])
    })

    test('frees the session for the next one', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const first = await acceptedRun(store, accept(session))

      await done(store, finish(first))

      expect(await store.runs.open(session.id)).toEqual([])
      expect(await acceptedRun(store, accept(session, { onBusy: 'reject' }))).toMatchObject({ status: 'running' })
    })

    test('ends a run that never started', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const first = await acceptedRun(store, accept(session))
      const second = await acceptedRun(store, accept(session))
      const third = await acceptedRun(store, accept(session))

      await done(store, finish(second, { status: 'cancelled', entries: [STARTED, FINISHED] }))

      expect(await store.runs.get(second.id)).toMatchObject({
        status: 'cancelled',
        startedAt: null,
        finishedAt: NOW,
        firstSeq: 5,
        lastSeq: 6,
      })
      expect((await store.runs.open(session.id)).map((run) => run.id)).toEqual([first.id, third.id])
      // The running one is not affected.
      expect(await done(store, append(first, [text('on')]))).toMatchObject({ firstSeq: 7 })
    })

    test('leaves a waiting run open, which anybody with its fence can end', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      const queued = await acceptedRun(store, accept(session))
      await done(store, finish(run, { status: 'waiting' }))

      const waiting = await store.runs.get(run.id)
      expect((await store.runs.open(session.id)).map(({ id, status }) => [id, status])).toEqual([
        [run.id, 'waiting'],
        [queued.id, 'queued'],
      ])

      await done(store, finish({ ...run, fence: waiting?.fence ?? 0 }, { entries: [] }))
      expect((await store.runs.get(run.id))?.status).toBe('completed')
      expect(await done(store, start(queued.id))).toMatchObject({ ok: true })
      expect(await refusal(store, finish({ ...run, fence: waiting?.fence ?? 0 }, { entries: [] }))).toBe('run_fenced')
    })

    test('is refused for a run that does not exist', async () => {
      const { store } = await openForTest(open)
      const run = await acceptedRun(store, accept(newSession()))

      expect(await refusal(store, finish({ ...run, id: newId() }))).toBe('run_not_found')
    })
  })
}
