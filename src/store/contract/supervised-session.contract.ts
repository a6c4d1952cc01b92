import { describe, expect, test } from 'vitest'
import { mayBecome, type SupervisedStatus, supervisedStatuses } from '../../domain/supervision/supervision.ts'
import type { Store } from '../store.ts'
import {
  accept,
  acceptedRun,
  approve,
  auditors,
  beforeAndAfter,
  commit,
  done,
  event,
  fact,
  finish,
  NOW,
  newApproval,
  newAudit,
  newId,
  newSession,
  type OpenStore,
  openForTest,
  refusal,
  remove,
  supervisionSample,
} from './samples.contract.ts'
import { checkpoint, create, diff, instruction, opened, step, supervised } from './supervised-samples.contract.ts'

export function describeSupervisedSessions(open: OpenStore): void {
  describe('supervise: sessions', () => {
    test('a new session is kept as it was given, with version 1, also after a restart', async () => {
      const { store, reopen } = await openForTest(open)
      const session = supervised({ prompt: 'Fix it', title: 'Fix', channelId: 'C1', spawned: { pid: 7, startedAt: 9 } })

      const { session: made } = await done(store, create(session, { audit: [newAudit('ann')] }))

      const expected = { ...session, supervision: { ...supervisionSample, ...session.supervision, version: 1 } }
      expect(made).toEqual(expected)
      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.sessions.get(session.id)).toEqual(expected)
        expect(await current.supervised.sessions({ limit: 10 })).toEqual([expected])
        expect(await auditors(current)).toEqual(['ann'])
        expect(await refusal(current, create(session))).toBe('conflict')
      }
    })

    test('a step changes the given values, keeps the others and raises the version', async () => {
      const { store } = await openForTest(open)
      const { id } = await opened(store, { progressSnapshot: [{ label: 'a', status: 'pending' }] })

      const { session } = await done(store, step(id, 1, { supervision: { lastTool: 'heartbeat', nudgeCount: 2 } }))

      expect(session?.supervision).toEqual({
        ...supervisionSample,
        version: 2,
        lastTool: 'heartbeat',
        nudgeCount: 2,
        progressSnapshot: [{ label: 'a', status: 'pending' }],
      })
      expect(await store.sessions.get(id)).toMatchObject({ lastActivity: NOW + 1, lastTool: 'heartbeat' })
    })

    test('of two steps from the same version one is refused', async () => {
      const { store } = await openForTest(open)
      const { id } = await opened(store)

      const [one, two] = await commit(
        store,
        step(id, 1, { supervision: { title: 'one' } }),
        step(id, 1, { supervision: { title: 'two' } }),
      )

      expect([one?.ok, two?.ok]).toEqual([true, false])
      expect((await store.sessions.get(id))?.supervision).toMatchObject({ title: 'one', version: 2 })
      expect(await refusal(store, step(newId(), 1))).toBe('session_not_found')
    })

    const pairs = supervisedStatuses.flatMap((from) => supervisedStatuses.map((to) => [from, to] as const))
    test.each(pairs.filter(([from, to]) => from !== to))('%s → %s is as the state machine says', async (from, to) => {
      const { store } = await openForTest(open)
      const { id } = await opened(store, { status: from, terminatedAt: from === 'interrupted' ? NOW : null })
      const command = step(id, 1, { supervision: { status: to } })

      if (!mayBecome(from, to)) return expect(await refusal(store, command)).toBe('conflict')

      const { session } = await done(store, command)
      const ends: SupervisedStatus[] = ['terminated', 'interrupted']
      expect(session?.supervision).toMatchObject({ status: to, terminatedAt: ends.includes(to) ? NOW + 1 : null })
    })

    test('each owner has only so many open, and the refusal names theirs alone', async () => {
      const { store } = await openForTest(open)
      const [one, two] = [await opened(store, { status: 'created' }), await opened(store, { status: 'paused' })]
      const eves = await opened(store, {}, { owner: 'eve' })
      const third = supervised()
      const maxOpen = { perOwner: 2, total: null }

      const [refused] = await commit(store, create(third, { maxOpen }))

      const details = { limit: 2, sessions: [one.id, two.id] }
      expect(refused).toMatchObject({ ok: false, error: { code: 'limit', details } })
      await done(store, step(two.id, 1, { supervision: { status: 'interrupted' } }))
      await done(store, create(third, { maxOpen }))
      // One that comes back counts again, and one that is open already does not count twice.
      expect(await refusal(store, step(two.id, 2, { supervision: { status: 'active' }, maxOpen }))).toBe('limit')
      await done(store, step(third.id, 1, { supervision: { title: 'still open' }, maxOpen }))
      // Nor does handing over make space.
      expect(await refusal(store, step(eves.id, 1, { owner: 'ann', maxOpen }))).toBe('limit')
      await done(store, step(one.id, 1, { owner: 'eve', maxOpen }))
    })

    test('all owners together have only so many open, and the refusal names no other owner’s', async () => {
      const { store } = await openForTest(open)
      const [anns, eves] = [await opened(store), await opened(store, {}, { owner: 'eve' })]
      const maxOpen = { perOwner: 2, total: 2 }

      const [refused, stranger] = await commit(
        store,
        create(supervised(), { maxOpen }),
        create(supervised({}, { owner: 'bob' }), { maxOpen }),
      )

      expect(refused).toMatchObject({ ok: false, error: { code: 'limit', details: { limit: 2, sessions: [anns.id] } } })
      expect(stranger).toMatchObject({ ok: false, error: { code: 'limit', details: { limit: 2, sessions: [] } } })
      expect(JSON.stringify([refused, stranger])).not.toContain(eves.id)
      // Handing over opens none.
      await done(store, step(eves.id, 1, { owner: 'ann', maxOpen }))
    })

    test('they are found by owner, workspace, token, connection and status, newest activity first', async () => {
      const { store } = await openForTest(open)
      const a = await opened(store, { tokenId: 'a', connectionId: 'a:1_%' }, { lastActivity: NOW })
      const b = await opened(
        store,
        { tokenId: 'b', workspaceRoot: '/srv/other', connectionId: 'a:2' },
        { lastActivity: NOW + 2 },
      )
      const c = await opened(store, { status: 'interrupted' }, { owner: 'eve', lastActivity: NOW + 1 })
      await done(store, { type: 'create_session', session: newSession() })
      const found = async (query: object) =>
        (await store.supervised.sessions({ limit: 10, ...query })).map(({ id }) => id)

      expect(await found({})).toEqual([b.id, c.id, a.id])
      expect(await found({ limit: 1 })).toEqual([b.id])
      expect(await found({ owner: 'ann' })).toEqual([b.id, a.id])
      expect(await found({ workspaceRoot: '/srv/shop' })).toEqual([c.id, a.id])
      expect(await found({ tokenId: 'b' })).toEqual([b.id])
      expect(await found({ statuses: ['interrupted'] })).toEqual([c.id])
      expect(await found({ connectionFrom: 'a:' })).toEqual([b.id, a.id])
      expect(await found({ connectionFrom: 'a:1_%' })).toEqual([a.id])
      expect(await found({ connectionFrom: 'a:%' })).toEqual([])
      expect(await found({ owner: 'eve', statuses: ['active'] })).toEqual([])
    })

    test('they are found by an MCP connection that they keep, also after a restart, until it is forgotten', async () => {
      const { store, reopen } = await openForTest(open)
      const connection = (id: string) => ({ id, tokenId: 'a', initialize: { clientInfo: { name: `"'$.mcp` } } })
      const [one, two] = [newId(), newId()]
      const a = await opened(store, { mcp: [connection(one), connection(two)] }, { lastActivity: NOW })
      const b = await opened(store, { mcp: [connection(two)] }, { lastActivity: NOW + 1 })
      await opened(store, { mcp: [] })
      await opened(store)
      const found = async (current: Store, mcpConnection: string) =>
        (await current.supervised.sessions({ mcpConnection, limit: 10 })).map(({ id }) => id)

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await found(current, one)).toEqual([a.id])
        expect(await found(current, two)).toEqual([b.id, a.id])
        expect(await found(current, newId())).toEqual([])
        expect((await current.sessions.get(b.id))?.supervision?.mcp).toEqual([connection(two)])
      }
      const later = await reopen()
      await done(later, step(b.id, 1, { supervision: { mcp: [] } }))
      expect(await found(later, two)).toEqual([a.id])
    })

    test('it takes no runs of our own agents', async () => {
      const { store } = await openForTest(open)
      const session = await opened(store)

      expect(await refusal(store, accept(session))).toBe('session_supervised')
    })

    test('a hosted session that is terminated stops its runs: one that waits ends with what it asked', async () => {
      const { store, reopen } = await openForTest(open)
      const waiting = await opened(store, { hosted: { acpSession: null } })
      const asking = await acceptedRun(store, accept(waiting))
      const approval = newApproval(asking)
      await done(store, finish(asking, { status: 'waiting', waits: [approval] }))
      const busy = await opened(store, { hosted: { acpSession: null } })
      const working = await acceptedRun(store, accept(busy))
      const queued = await acceptedRun(store, accept(busy))

      for (const { id } of [waiting, busy]) await done(store, step(id, 1, { supervision: { status: 'terminated' } }))

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.waits.get(approval.id)).toMatchObject({ status: 'interrupted', decidedAt: NOW + 1 })
        const ended = { status: 'cancelled', cancelRequested: true, finishedAt: NOW + 1 }
        expect(await current.runs.get(asking.id)).toMatchObject(ended)
        expect(await current.runs.get(working.id)).toMatchObject({ status: 'running', cancelRequested: true })
        expect(await current.runs.get(queued.id)).toMatchObject({ status: 'queued', cancelRequested: true })
        expect(await refusal(current, accept(waiting))).toBe('session_ended')
      }
    })

    test('a hosted session that is paused takes an answer and no message', async () => {
      const { store } = await openForTest(open)
      const session = await opened(store, { hosted: { acpSession: null } })
      const run = await acceptedRun(store, accept(session))
      const approval = newApproval(run)
      await done(store, finish(run, { status: 'waiting', waits: [approval] }))
      await done(store, step(session.id, 1, { supervision: { status: 'paused' } }))

      expect(await refusal(store, accept(session))).toBe('session_paused')
      const { run: next } = await done(store, accept(session, { answers: [approve(approval.id)] }))
      expect(next?.status).toBe('running')
    })

    test('entries go to the run that is named, and every change of a status is in the feed', async () => {
      const { store } = await openForTest(open)
      const { id } = await opened(store)
      const runId = newId()

      const { firstSeq } = await done(
        store,
        step(id, 1, { supervision: { status: 'paused', openRun: runId }, entries: [event('RUN_STARTED')], runId }),
      )

      expect(firstSeq).toBe(1)
      expect(await store.entries(id, 0, 10)).toMatchObject([{ seq: 1, runId, data: '{"type":"RUN_STARTED"}' }])
      const items = await store.feed.items(0, 10)
      expect(items).toMatchObject([
        { kind: 'session', id, status: 'active' },
        { kind: 'session', id, status: 'paused' },
      ])
    })
  })

  test('supervise: a fact needs no run, and keeps its place between the events of runs', async () => {
    const { store, reopen } = await openForTest(open)
    const { id } = await opened(store)
    const runId = newId()
    await done(store, step(id, 1, { entries: [fact('mcp_told')] }))
    await done(store, step(id, 2, { entries: [event('RUN_STARTED'), fact('mcp_answered')], runId }))
    await done(store, step(id, 3, { entries: [fact('mcp_told'), fact('mcp_told')] }))

    for await (const current of beforeAndAfter(store, reopen)) {
      const entries = await current.entries(id, 0, 10)
      expect(entries.map((entry) => [entry.seq, entry.runId, entry.kind])).toEqual([
        [1, null, 'fact'],
        [2, runId, 'event'],
        [3, runId, 'fact'],
        [4, null, 'fact'],
        [5, null, 'fact'],
      ])
      expect(await current.head(id)).toBe(5)
    }
  })

  describe('supervise: the end', () => {
    const purge = (before: number) =>
      ({ type: 'purge_sessions', before, unlistedBefore: before, unsentBefore: 0, now: NOW, limit: 100 }) as const

    test('an open session is neither deleted nor purged', async () => {
      const { store } = await openForTest(open)
      for (const status of ['created', 'active', 'paused'] as const) {
        const { id } = await opened(store, { status }, { lastActivity: 1 })
        expect(await refusal(store, remove(id))).toBe('conflict')
        await done(store, purge(NOW))
        expect((await store.sessions.get(id))?.supervision?.status).toBe(status)
      }
    })

    test.each(['terminated', 'interrupted'] as const)(
      'one that is %s is purged with all that belongs to it',
      async (status) => {
        const { store } = await openForTest(open)
        const session = await opened(store, {}, { lastActivity: 1 })
        const { id } = session
        const question = diff(id)
        const [steering, kept] = [instruction(session), checkpoint(id)]
        const proposals = [{ approvalId: question.id, diff: 'd', after: null }]
        await done(store, step(id, 1, { ask: [question], proposals, instructions: [steering], checkpoints: [kept] }))
        await done(store, step(id, 2, { supervision: { status } }))
        expect(await done(store, purge(NOW))).toMatchObject({ count: 0 })

        expect(await done(store, purge(NOW + 2))).toMatchObject({ count: 1 })

        expect(await store.sessions.get(id)).toBe(null)
        expect(await store.waits.get(question.id)).toBe(null)
        expect(await store.supervised.proposal(question.id)).toBe(null)
        expect(await store.supervised.checkpoint(kept.id)).toBe(null)
        expect(await store.supervised.instructions({ limit: 10 })).toEqual([])
        expect(await store.supervised.sessions({ limit: 10 })).toEqual([])
      },
    )

    test.each([
      ['elsewhere', { elsewhere: true }, 'own'],
      ['of ours', { agent: 'assistant' }, 'other'],
    ] as const)('a purge of agents %s spares one that only has the same name', async (_what, which, left) => {
      const { store } = await openForTest(open)
      const own = newSession({ agent: 'assistant', lastActivity: 1 })
      await done(store, { type: 'create_session', session: own })
      const other = await opened(store, {}, { agent: 'assistant', lastActivity: 1 })
      await done(store, step(other.id, 1, { supervision: { status: 'terminated' } }))

      expect(await done(store, { ...purge(NOW + 2), ...which })).toMatchObject({ count: 1 })

      const kept = [own, other].map(async ({ id }) => (await store.sessions.get(id)) !== null)
      expect(await Promise.all(kept)).toEqual([left === 'own', left === 'other'])
    })

    test('one that has ended can be deleted, and takes no steps after that', async () => {
      const { store } = await openForTest(open)
      const { id } = await opened(store, { status: 'terminated' })

      await done(store, remove(id))

      expect(await refusal(store, step(id, 1))).toBe('session_not_found')
      expect(await store.supervised.sessions({ limit: 10 })).toEqual([])
    })
  })
}
