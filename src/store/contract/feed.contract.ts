import { describe, expect, test } from 'vitest'
import type { FeedItem } from '../../domain/session/feed.ts'
import { FEED_MS } from '../ports/feed.ts'
import type { PurgeSessions } from '../ports/sessions.ts'
import type { Store } from '../store.ts'
import {
  accept,
  acceptedRun,
  addFile,
  append,
  approve,
  beforeAndAfter,
  commit,
  create,
  done,
  expire,
  finish,
  finishedSession,
  NOW,
  newApproval,
  newAudit,
  newClientCall,
  newFile,
  newMessage,
  newSession,
  type OpenStore,
  openForTest,
  refusal,
  reject,
  remove,
  start,
  text,
  waitingSession,
} from './samples.contract.ts'

const allItems = (store: Store): Promise<FeedItem[]> => store.feed.items(0, 1_000)

/** Reads the new items of the feed on each call: kind, id and status. */
async function follow(store: Store): Promise<() => Promise<string[][]>> {
  let after = await store.feed.head()
  return async () => {
    const items = await store.feed.items(after, 1_000)
    after = items.at(-1)?.n ?? after
    return items.map(({ kind, id, status }) => [kind, id, status])
  }
}

const purge = (values: Partial<PurgeSessions>): PurgeSessions => ({
  type: 'purge_sessions',
  before: null,
  unlistedBefore: 0,
  unsentBefore: 0,
  now: NOW,
  limit: 10,
  ...values,
})

export function describeFeed(open: OpenStore): void {
  describe('the feed', () => {
    test('has every new session, run and approval, with the fields that lists show', async () => {
      const { store, reopen } = await openForTest(open)
      expect([await store.feed.head(), await store.feed.oldest(), await allItems(store)]).toEqual([0, 1, []])
      const session = newSession({ owner: 'bob', agent: 'clerk' })
      const values = { owner: 'bob', agent: 'clerk', parentRunId: 'parent', createdAt: NOW + 1 }
      const run = await acceptedRun(store, accept(session, { run: values }))
      const approval = newApproval(run, { risk: 'low' })
      await done(store, finish(run, { status: 'waiting', now: NOW + 2, waits: [approval] }))

      const subject = { sessionId: session.id, owner: 'bob', agent: 'clerk' }
      const runItem = { ...subject, kind: 'run', id: run.id, parentRunId: 'parent' }
      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await allItems(current)).toEqual([
          { n: 1, at: NOW + 1, ...subject, kind: 'session', id: session.id, status: 'active' },
          { n: 2, at: NOW + 1, ...runItem, status: 'running' },
          {
            n: 3,
            at: NOW + 2,
            ...subject,
            kind: 'wait',
            id: approval.id,
            type: 'approval',
            status: 'pending',
            risk: 'low',
          },
          { n: 4, at: NOW + 2, ...runItem, status: 'waiting' },
        ])
        expect([await current.feed.head(), await current.feed.oldest()]).toEqual([4, 1])
        expect((await current.feed.items(1, 2)).map(({ n }) => n)).toEqual([2, 3])
        expect(await current.feed.items(4, 10)).toEqual([])
      }
    })

    test('reports every change of a status, in order', async () => {
      const { store } = await openForTest(open)
      const news = await follow(store)
      const session = newSession()
      await done(store, create(session))
      expect(await news()).toEqual([['session', session.id, 'active']])

      const first = await acceptedRun(store, accept(session))
      const queued = await acceptedRun(store, accept(session))
      expect(await news()).toEqual([
        ['run', first.id, 'running'],
        ['run', queued.id, 'queued'],
      ])

      await done(store, finish(first, { status: 'failed' }))
      const second = (await done(store, start(queued.id))).run ?? queued
      expect(await news()).toEqual([
        ['run', first.id, 'failed'],
        ['run', queued.id, 'running'],
      ])

      const [one, two] = [newApproval(second), newApproval(second, { callId: 'other' })]
      await done(store, finish(second, { status: 'waiting', waits: [one, two, newClientCall(second)] }))
      expect(await news()).toEqual([
        ['wait', one.id, 'pending'],
        ['wait', two.id, 'pending'],
        ['run', second.id, 'waiting'],
      ])

      const answered = await acceptedRun(store, accept(session, { answers: [approve(one.id)] }))
      expect(await news()).toEqual([
        ['wait', one.id, 'approved'],
        ['run', second.id, 'completed'],
        ['run', answered.id, 'running'],
      ])

      await done(store, append(answered, [], { consume: [{ waitId: one.id, digest: one.digest, at: NOW }] }))
      const again = newApproval(answered)
      await done(store, {
        type: 'ask_again',
        waitId: two.id,
        approval: again,
        by: 'ann',
        reason: 'new',
        at: NOW,
        audit: [],
      })
      expect(await news()).toEqual([
        ['wait', one.id, 'consumed'],
        ['wait', two.id, 'interrupted'],
        ['wait', again.id, 'pending'],
      ])

      await done(store, finish(answered, { status: 'cancelled' }))
      await done(store, remove(session.id))
      expect(await news()).toEqual([
        ['wait', again.id, 'interrupted'],
        ['run', answered.id, 'cancelled'],
        ['session', session.id, 'terminated'],
      ])
    })

    test('reports answers that start no run, and approvals that were never used', async () => {
      const { store } = await openForTest(open)
      const { run, waits } = await waitingSession(store, (it) => [
        newApproval(it),
        newApproval(it, { callId: 'other' }),
      ])
      const [one = newApproval(run), two = newApproval(run)] = waits
      const other = await waitingSession(store, (it) => [newApproval(it)])
      const [unused = newApproval(other.run)] = other.waits
      const taker = await acceptedRun(store, accept(other.session, { answers: [approve(unused.id)] }))
      const news = await follow(store)

      await done(store, { type: 'settle_waits', answers: [reject(one.id)], now: NOW })
      await done(store, { type: 'settle_waits', answers: [expire(two.id)], now: NOW })
      await done(store, finish(taker))

      expect(await news()).toEqual([
        ['wait', one.id, 'rejected'],
        ['wait', two.id, 'expired'],
        ['run', run.id, 'completed'],
        ['wait', unused.id, 'interrupted'],
        ['run', taker.id, 'completed'],
      ])
    })

    test('reports an imported session, its runs and its approvals', async () => {
      const { store } = await openForTest(open)
      const { session, run } = await waitingSession(store, (it) => [newApproval(it)])
      const waits = await store.waits.list({ sessionId: session.id, limit: 10 })
      const { store: second } = await openForTest(open)

      await done(second, { type: 'import_session', session, runs: [run], messages: [], entries: [], waits })

      expect((await allItems(second)).map(({ kind, id, status }) => [kind, id, status])).toEqual([
        ['session', session.id, 'active'],
        ['run', run.id, 'waiting'],
        ['wait', waits[0]?.id, 'pending'],
      ])
    })

    test('does not report changes that leave the status as it is', async () => {
      const { store } = await openForTest(open)
      const idle = await finishedSession(store)
      const session = newSession()
      const command = accept(session)
      const run = await acceptedRun(store, command)
      const news = await follow(store)

      for (let i = 0; i < 10; i += 1) await commit(store, append(run, [text(`${i}`)]))
      await done(store, append(run, [text('result')], { sync: true, messages: [newMessage('m')], lastTool: 'beep' }))
      await done(store, append(run, [], { state: 1, activeAgent: 'clerk', audit: [newAudit('ann')] }))
      await done(store, command)
      await done(store, { type: 'request_cancel', runId: run.id, entries: [] })
      await done(store, { type: 'release_run', runId: run.id, fence: run.fence })
      await done(store, { type: 'claim_run', runId: run.id, fence: run.fence + 1, leaseOwner: 'p', entries: [] })
      await done(store, {
        type: 'update_session',
        sessionId: session.id,
        lastRead: NOW + 1,
        title: 'Named',
        metadata: { a: 1 },
      })
      await done(store, { type: 'renew_lease', leaseOwner: 'p', until: NOW })
      await done(store, { type: 'add_audit', audit: [newAudit('ann')] })
      await done(store, addFile(newFile()))
      const head = await store.head(idle.session.id)
      await done(store, { type: 'compact_session', sessionId: idle.session.id, head, entries: [] })
      await done(store, purge({}))

      expect(await news()).toEqual([])
    })

    test('does not report refused commands', async () => {
      const { store } = await openForTest(open)
      const { session, run, waits } = await waitingSession(store, (it) => [newApproval(it)])
      const [wait = newApproval(run)] = waits
      const news = await follow(store)

      expect(await refusal(store, accept(session))).toBe('approval_pending')
      expect(await refusal(store, finish({ ...run, fence: 99 }))).toBe('run_fenced')
      expect(await refusal(store, start(run.id))).toBe('conflict')
      expect(await refusal(store, create(session))).toBe('conflict')
      expect(await refusal(store, remove(session.id))).toBe('conflict')
      const late = approve(wait.id, { at: NOW * 2 })
      await done(store, { type: 'settle_waits', answers: [late], now: NOW })
      const [refused, accepted] = await commit(store, create(session), create(newSession()))

      expect([refused?.ok, accepted?.ok]).toEqual([false, true])
      expect((await news()).length).toBe(1)
    })

    test('contains no text of conversations', async () => {
      const { store } = await openForTest(open)
      const secret = 'secret'
      const session = newSession({ metadata: { secret }, alias: secret, label: secret, state: secret })
      const said = { start: { messages: [newMessage('m', { content: secret })] } }
      const run = await acceptedRun(store, accept(session, said))
      const values = { tool: secret, arguments: secret, title: secret, description: secret, digest: secret }
      const approval = newApproval(run, values)
      await done(store, finish(run, { status: 'waiting', waits: [approval] }))
      const no = reject(approval.id, { by: secret, outcome: { type: 'rejected', reason: secret } })
      await done(store, { type: 'settle_waits', answers: [no], now: NOW })
      await done(store, remove(session.id))

      const items = await allItems(store)
      expect(items.length).toBe(7)
      expect(JSON.stringify(items)).not.toContain(secret)
    })

    test('reports purged sessions, unless they were deleted before', async () => {
      const { store } = await openForTest(open)
      const { session: kept } = await finishedSession(store, { lastActivity: NOW + 100 })
      const { session: old } = await finishedSession(store)
      const { session: deleted } = await finishedSession(store)
      await done(store, remove(deleted.id))
      const news = await follow(store)

      expect((await done(store, purge({ before: NOW + 50, now: NOW + 50 }))).count).toBe(2)

      expect(await news()).toEqual([['session', old.id, 'terminated']])
      expect(await store.sessions.get(kept.id)).not.toBe(null)
    })

    test('loses its old items in a purge, and continues its numbers', async () => {
      const { store, reopen } = await openForTest(open)
      for (const createdAt of [NOW, NOW + 1, NOW + FEED_MS]) await done(store, create(newSession({ createdAt })))

      await done(store, purge({ now: NOW + FEED_MS + 1 }))
      expect([await store.feed.oldest(), await store.feed.head()]).toEqual([2, 3])
      await done(store, purge({ now: NOW + 3 * FEED_MS }))
      expect([await store.feed.oldest(), await store.feed.head()]).toEqual([3, 3])

      const again = await reopen()
      await done(again, create(newSession()))
      expect((await allItems(again)).map(({ n }) => n)).toEqual([3, 4])
    })

    test('shows nothing that a power cut can take, so a number never has two meanings', async (context) => {
      const { store, powerCut } = await openForTest(open)
      if (powerCut === undefined) return context.skip('this store cannot be cut off from its power')
      const session = newSession()
      const run = await acceptedRun(store, accept(session))
      const { synced } = await store.commit([create(newSession()), create(newSession())])
      // Text in flight is not synced, so it must not confirm what came before it.
      await store.commit([append(run, [text('in flight')])])
      const seen = await allItems(store)
      const head = await store.feed.head()

      const after = await powerCut()
      await done(after, finish(run))

      const items = await allItems(after)
      expect(items.slice(0, seen.length)).toEqual(seen)
      expect(head).toBe(seen.at(-1)?.n)
      expect(items.at(-1)).toMatchObject({ id: run.id, status: 'completed' })
      await synced
    })

    test('keeps acknowledged items through a power cut, whichever command wrote them', async (context) => {
      const { store, powerCut } = await openForTest(open)
      if (powerCut === undefined) return context.skip('this store cannot be cut off from its power')
      const { session, waits } = await waitingSession(store, (it) => [newApproval(it)])
      const [wait] = waits
      await finishedSession(store, { lastActivity: 1 })
      await done(store, purge({ before: 2 }))
      const run = await acceptedRun(store, accept(session, { answers: [approve(wait?.id ?? '')] }))
      const consume = [{ waitId: wait?.id ?? '', digest: 'digest of the call', at: NOW }]
      await done(store, append(run, [], { consume }))
      const before = await allItems(store)

      expect(await allItems(await powerCut())).toEqual(before)
      expect(before.at(-1)).toMatchObject({ kind: 'wait', status: 'consumed' })
    })
  })
}
