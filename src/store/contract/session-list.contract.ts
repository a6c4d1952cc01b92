import { describe, expect, test } from 'vitest'
import type { SessionActivity } from '../../domain/session/session-overview.ts'
import type { SessionQuery } from '../ports/sessions.ts'
import type { Store } from '../store.ts'
import {
  accept,
  acceptedRun,
  append,
  create,
  done,
  event,
  finish,
  NOW,
  newApproval,
  newMessage,
  newSession,
  type OpenStore,
  openForTest,
  remove,
  supervisionSample,
  text,
  waitingSession,
} from './samples.contract.ts'

const usage = [{ model: 'm', inputTokens: 10, outputTokens: 5, totalTokens: 15 }]

/** One session of each kind, by what it does. */
async function sample(store: Store) {
  const open = newSession({ lastActivity: NOW + 1 })
  const first = newMessage('q', { content: '  Where to\n in  May?  ' })
  const ran = await acceptedRun(store, accept(open, { start: { messages: [first] } }))
  await done(store, finish(ran, { usage }))
  const running = newSession({ lastActivity: NOW + 2, agent: 'other' })
  await acceptedRun(store, accept(running))
  const { session: waiting } = await waitingSession(store, (run) => [newApproval(run), newApproval(run)], {
    lastActivity: NOW + 3,
  })
  const elsewhere = (status: 'active' | 'paused' | 'terminated', lastActivity: number) =>
    newSession({ lastActivity, agent: 'claude', supervision: { ...supervisionSample, title: 'Shop', status } })
  const [active, paused, ended] = [
    elsewhere('active', NOW + 4),
    elsewhere('paused', NOW + 5),
    elsewhere('terminated', NOW + 6),
  ]
  for (const one of [active, paused, ended]) await done(store, create(one))
  const failed = newSession({ lastActivity: NOW + 7 })
  const failing = await acceptedRun(store, accept(failed))
  await done(store, finish(failing, { status: 'failed', error: { code: 'model_error', message: 'No \n luck\0.' } }))
  const names = new Map(
    Object.entries({ open, running, waiting, active, paused, ended, failed }).map(([k, v]) => [v.id, k]),
  )
  const list = async (query: Partial<SessionQuery>) =>
    (await store.sessions.list({ limit: 100, ...query })).map(({ id }) => names.get(id))
  return { open, running, waiting, active, paused, ended, failed, list }
}

export function describeSessionLists(open: OpenStore): void {
  describe('lists of sessions', () => {
    test('are narrowed by what sessions do, their kind, their agent and their last activity', async () => {
      const { store } = await openForTest(open)
      const { list } = await sample(store)
      const byActivity = async (activity: SessionActivity) => list({ activity })

      expect(await list({})).toEqual(['failed', 'ended', 'paused', 'active', 'waiting', 'running', 'open'])
      expect(await byActivity('open')).toEqual(['paused', 'open'])
      expect(await byActivity('running')).toEqual(['active', 'running'])
      expect(await byActivity('waiting')).toEqual(['waiting'])
      expect(await byActivity('ended')).toEqual(['ended'])
      expect(await byActivity('failed')).toEqual(['failed'])
      expect(await list({ activity: 'failed', owner: 'ann', agent: 'assistant' })).toEqual(['failed'])
      expect(await list({ kind: 'supervised' })).toEqual(['ended', 'paused', 'active'])
      expect(await list({ kind: 'chat', owner: 'ann' })).toEqual(['failed', 'waiting', 'running', 'open'])
      expect(await list({ agent: 'other' })).toEqual(['running'])
      expect(await list({ agent: 'claude', activity: 'open', owner: 'ann' })).toEqual(['paused'])
      expect(await list({ since: NOW + 3, until: NOW + 4 })).toEqual(['active', 'waiting'])
      expect(await list({ owner: 'bob', activity: 'running' })).toEqual([])
      const page = { kind: 'supervised', limit: 1, before: { lastActivity: NOW + 6, id: '~' } } as const
      expect(await list(page)).toEqual(['ended'])
    })

    test('come with a title, what waits and what was used', async () => {
      const { store } = await openForTest(open)
      const { open: idle, running, waiting, ended, failed } = await sample(store)
      const unknown = newSession().id

      expect(await store.sessions.overview([ended.id, unknown, waiting.id, running.id, idle.id])).toEqual([
        {
          id: ended.id,
          title: 'Shop',
          activity: 'ended',
          failure: null,
          pending: 0,
          tokens: 0,
          elsewhere: ended.supervision,
        },
        { id: waiting.id, title: '', activity: 'waiting', failure: null, pending: 2, tokens: 0, elsewhere: null },
        { id: running.id, title: '', activity: 'running', failure: null, pending: 0, tokens: 0, elsewhere: null },
        {
          id: idle.id,
          title: 'Where to in May?',
          activity: 'open',
          failure: null,
          pending: 0,
          tokens: 15,
          elsewhere: null,
        },
      ])
      expect(await store.sessions.overview([failed.id])).toMatchObject([
        { activity: 'failed', failure: 'No luck<U+0000>.' },
      ])
      await done(store, remove(idle.id))
      expect(await store.sessions.overview([idle.id])).toEqual([])
    })

    test('call a session failed until another run begins in it', async () => {
      const { store, reopen } = await openForTest(open)
      const { failed } = await sample(store)
      const said = async (current: Store) =>
        (await current.sessions.overview([failed.id])).map(({ activity, failure }) => [activity, failure])
      const next = await acceptedRun(store, accept(failed))

      expect(await said(store)).toEqual([['running', null]])
      await done(store, finish(next))
      expect(await said(await reopen())).toEqual([['open', null]])
    })

    test('call a session failed whose run a stop of the server ended', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      await done(store, finish(run, { status: 'interrupted', error: { code: 'interrupted', message: 'Stopped.' } }))

      expect(await store.sessions.overview([session.id])).toMatchObject([{ activity: 'failed', failure: 'Stopped.' }])
    })

    test('agree with the overview of each session', async () => {
      const { store } = await openForTest(open)
      await sample(store)
      const all = await store.sessions.list({ limit: 100 })
      for (const { id, activity } of await store.sessions.overview(all.map((one) => one.id))) {
        const same = await store.sessions.list({ limit: 100, activity })
        expect(same.map((one) => one.id)).toContain(id)
      }
    })
  })

  describe('a log read backwards', () => {
    test('gives the same entries as forwards, also text in flight', async () => {
      const { store } = await openForTest(open)
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      for (let i = 0; i < 5; i += 1) await done(store, append(run, [text('a'), text('b')]))
      await done(store, append(run, [event('STEP_FINISHED')], { sync: true }))
      await done(store, append(run, [text('c')]))
      const forwards = await store.entries(session.id, 0, 100)
      const head = await store.head(session.id)

      expect(await store.entriesBefore(session.id, head + 1, 100)).toEqual(forwards.toReversed())
      for (const { seq } of forwards) {
        const older = forwards.filter((one) => one.seq < seq).reverse()
        expect(await store.entriesBefore(session.id, seq, 100)).toEqual(older)
        expect(await store.entriesBefore(session.id, seq, 2)).toEqual(older.slice(0, 2))
        expect(await store.entriesBefore(session.id, seq, 100, 1)).toEqual(older.slice(0, 1))
      }
      await done(store, finish(run))
      const whole = await store.entries(session.id, 0, 100)
      expect(await store.entriesBefore(session.id, 1_000_000, 100)).toEqual(whole.toReversed())
      expect(await store.entriesBefore('nope', 5, 100)).toEqual([])
    })
  })
}
