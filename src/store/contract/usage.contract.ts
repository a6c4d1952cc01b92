import { describe, expect, test } from 'vitest'
import type { TokenUsage } from '../../domain/session/event.ts'
import { dayOf, tookLetter, USAGE_DAYS } from '../ports/usage.ts'
import type { Store } from '../store.ts'
import {
  accept,
  acceptedRun,
  beforeAndAfter,
  done,
  finish,
  NOW,
  newApproval,
  newClientCall,
  newSession,
  type OpenStore,
  openForTest,
  remove,
} from './samples.contract.ts'

const DAY_MS = 86_400_000
const TODAY = dayOf(NOW)
const well = { agent: '', failed: 0, cancelled: 0, took: '' }
const none = { cachedInput: 0, cacheWrite: 0, reasoning: 0, ...well }
const mini = { provider: 'openai', model: 'mini' }
const large = { provider: 'openai', model: 'large' }

const used = (of: Pick<TokenUsage, 'provider' | 'model'>, inputTokens: number, outputTokens: number): TokenUsage => ({
  ...of,
  inputTokens,
  outputTokens,
})

/** A run of a new session that has ended. */
async function ended(store: Store, usage: TokenUsage[], values: { owner?: string; agent?: string; now?: number } = {}) {
  const { owner = 'ann', agent = 'clerk', now = NOW } = values
  const session = newSession({ owner, agent })
  const run = await acceptedRun(store, accept(session, { run: { owner, agent } }))
  await done(store, finish(run, { usage, now }))
  return session
}

const range = { from: TODAY - 10, to: TODAY, limit: 100 }

export function describeUsage(open: OpenStore): void {
  describe('the usage of models', () => {
    test('beside sessions counts for its agent and model, and is nobody’s run', async () => {
      const { store, reopen } = await openForTest(open)
      const spent = (agent: string, tokens: number) => ({ at: NOW, agent, usage: used(mini, tokens, 0) })
      await done(store, { type: 'add_usage', usage: [spent('clerk', 10), spent('clerk', 20)] })
      await done(store, { type: 'add_usage', usage: [spent('tutor', 5)] })

      for await (const now of beforeAndAfter(store, reopen)) {
        expect(await now.usage.sums({ ...range, by: 'agent' })).toEqual([
          { ...mini, ...none, key: 'clerk', runs: 0, input: 30, output: 0, reasoning: 0, took: '' },
          { ...mini, ...none, key: 'tutor', runs: 0, input: 5, output: 0, reasoning: 0, took: '' },
        ])
        for (const by of ['session', 'owner'] as const) expect(await now.usage.sums({ ...range, by })).toEqual([])
      }
    })

    test('is added up by day, agent, model, session and owner, and is there after a restart', async () => {
      const { store, reopen } = await openForTest(open)
      const one = await ended(store, [used(mini, 10, 1), used(large, 5, 5), used(mini, 20, 2)])
      const two = await ended(store, [{ ...used(mini, 100, 50), cachedInputTokens: 80, reasoningTokens: 30 }], {
        owner: 'bob',
        agent: 'tutor',
        now: NOW - DAY_MS,
      })

      for await (const now of beforeAndAfter(store, reopen)) {
        const sums = (by: 'day' | 'agent' | 'model' | 'session' | 'owner') => now.usage.sums({ ...range, by })
        const tutor = {
          ...mini,
          runs: 1,
          input: 100,
          output: 50,
          cachedInput: 80,
          cacheWrite: 0,
          reasoning: 30,
          ...well,
        }
        const clerkMini = { ...mini, runs: 1, input: 30, output: 3, ...none }
        const clerkLarge = { ...large, runs: 0, input: 5, output: 5, ...none }
        const clerk = [clerkLarge, clerkMini]
        expect(await sums('agent')).toEqual([
          { key: 'tutor', ...tutor },
          ...clerk.map((sum) => ({ key: 'clerk', ...sum })),
        ])
        expect(await sums('owner')).toEqual([{ key: 'bob', ...tutor }, ...clerk.map((sum) => ({ key: 'ann', ...sum }))])
        expect(await sums('session')).toEqual([
          { key: two.id, ...tutor },
          ...clerk.map((sum) => ({ key: one.id, ...sum })),
        ])
        expect(await now.usage.ofSessions([one.id, 'nobody'])).toEqual(clerk.map((sum) => ({ key: one.id, ...sum })))
        expect(await now.usage.ofSessions([])).toEqual([])
        expect(await sums('day')).toEqual([
          { key: String(TODAY - 1), ...tutor },
          ...clerk.map((sum) => ({ key: String(TODAY), ...sum })),
        ])
        const miniSum = { ...mini, input: 130, output: 53, cachedInput: 80, cacheWrite: 0, reasoning: 30, ...well }
        // Here the run with two models counts at both.
        expect(await sums('model')).toEqual([
          { key: 'openai/mini', runs: 2, ...miniSum },
          { key: 'openai/large', ...clerkLarge, runs: 1 },
        ])
        expect(await now.usage.totals(range)).toEqual([
          { key: '', ...clerkLarge },
          { key: '', runs: 2, ...miniSum },
        ])
      }
    })

    test('looks up no more days of a session than are kept, whatever an import says of its age', async () => {
      const { store } = await openForTest(open)
      const session = newSession({ createdAt: 0, lastActivity: Number.MAX_SAFE_INTEGER })
      await done(store, { type: 'create_session', session })

      expect(await store.usage.ofSessions([session.id])).toEqual([])
    })

    test('leaves out other days and the smallest groups beyond the limit', async () => {
      const { store } = await openForTest(open)
      await ended(store, [used(mini, 1, 1)], { agent: 'small' })
      await ended(store, [used(mini, 5, 5)], { agent: 'large' })
      await ended(store, [used(mini, 500, 5)], { agent: 'old', now: NOW - 11 * DAY_MS })

      const query = { ...range, by: 'agent' as const }
      expect((await store.usage.sums(query)).map(({ key }) => key)).toEqual(['large', 'small'])
      expect((await store.usage.sums({ ...query, limit: 1 })).map(({ key }) => key)).toEqual(['large'])
    })

    test('is that of one session, if asked', async () => {
      const { store } = await openForTest(open)
      const one = await ended(store, [used(mini, 1, 1), used(large, 2, 2)])
      await ended(store, [used(mini, 5, 5)])
      const ofMini = { ...mini, runs: 1, input: 1, output: 1, ...none }
      const ofLarge = { ...large, runs: 0, input: 2, output: 2, ...none }
      const query = { ...range, sessionId: one.id }

      expect(await store.usage.sums({ ...query, by: 'model' })).toEqual([
        { key: 'openai/large', ...ofLarge, runs: 1 },
        { key: 'openai/mini', ...ofMini },
      ])
      expect(await store.usage.sums({ ...query, by: 'day' })).toEqual([
        { key: String(TODAY), ...ofLarge },
        { key: String(TODAY), ...ofMini },
      ])
      expect(await store.usage.totals(query)).toEqual([
        { key: '', ...ofLarge },
        { key: '', ...ofMini },
      ])
    })

    test('counts a run once, also if it waited, and counts no tokens that are none', async () => {
      const { store } = await openForTest(open)
      const run = await acceptedRun(store, accept(newSession()))
      const usage = [used(mini, 3, -1), { ...used(mini, Number.NaN, 1.4) }, { inputTokens: 2 }]
      await done(store, finish(run, { status: 'waiting', usage, waits: [newApproval(run)] }))
      await done(store, finish({ ...run, status: 'waiting' }, { status: 'cancelled', usage }))

      expect(await store.usage.sums({ ...range, by: 'owner' })).toEqual([
        { key: 'ann', provider: '', model: '', runs: 0, input: 2, output: 0, ...none },
        { key: 'ann', ...mini, runs: 1, input: 3, output: 1, ...none },
      ])
    })

    test('says how runs ended and how long they took, a person’s thinking aside', async () => {
      const { store, reopen } = await openForTest(open)
      const begun = async (agent = 'clerk') => acceptedRun(store, accept(newSession({ agent }), { run: { agent } }))
      const later = (ms: number) => ({ now: NOW + ms, model: mini })
      await done(store, finish(await begun(), { ...later(3_000), usage: [used(mini, 1, 1)] }))
      await done(store, finish(await begun(), { ...later(90), status: 'failed' }))
      await done(store, finish(await begun('tutor'), { ...later(90), status: 'cancelled' }))
      const waits = await begun('tutor')
      await done(store, finish(waits, { ...later(60_000), status: 'waiting', waits: [newApproval(waits)] }))
      // An hour later somebody says no. It counts no second time.
      await done(store, finish({ ...waits, status: 'waiting' }, { ...later(3_600_000), status: 'cancelled' }))

      const tokens = { input: 0, output: 0, cachedInput: 0, cacheWrite: 0, reasoning: 0 }
      const clerk = { ...mini, runs: 2, ...tokens, input: 1, output: 1, failed: 1, cancelled: 0 }
      const tutor = { ...mini, runs: 2, ...tokens, failed: 0, cancelled: 1 }
      const query = { ...range, withTimes: true }
      for await (const now of beforeAndAfter(store, reopen)) {
        expect(await now.usage.sums({ ...query, by: 'agent' })).toEqual([
          { key: 'clerk', agent: '', ...clerk, took: tookLetter(3_000) },
          { key: 'tutor', agent: '', ...tutor, took: tookLetter(60_000) },
        ])
        expect(await now.usage.sums({ ...query, by: 'day', split: 'agent' })).toEqual([
          { key: String(TODAY), agent: 'clerk', ...clerk, took: tookLetter(3_000) },
          { key: String(TODAY), agent: 'tutor', ...tutor, took: tookLetter(60_000) },
        ])
        expect(await now.usage.totals({ ...query, agent: 'tutor' })).toMatchObject([
          { runs: 2, took: tookLetter(60_000) },
        ])
        expect(await now.usage.totals({ ...query, owner: 'ann', model: 'openai/mini' })).toMatchObject([{ runs: 4 }])
        expect(await now.usage.totals({ ...query, owner: 'bob' })).toEqual([])
      }
    })

    test('stays when its session is deleted, and goes after its time', async () => {
      const { store } = await openForTest(open)
      const session = await ended(store, [used(mini, 3, 1)])
      await done(store, remove(session.id))
      const sums = () => store.usage.sums({ ...range, by: 'session' })
      expect((await sums()).map(({ key }) => key)).toEqual([session.id])
      const purge = (now: number) =>
        done(store, { type: 'purge_sessions', now, before: 0, unlistedBefore: 0, unsentBefore: 0, limit: 10 })

      await purge(NOW + USAGE_DAYS * DAY_MS)
      expect(await sums()).toHaveLength(1)
      await purge(NOW + (USAGE_DAYS + 1) * DAY_MS)
      expect(await sums()).toEqual([])
    })
  })

  test('a store counts the runs that wait, and what waits for a person', async () => {
    const { store } = await openForTest(open)
    const run = await acceptedRun(store, accept(newSession()))
    expect(await store.figures()).toMatchObject({ runs: { waiting: 0 } })
    await done(store, finish(run, { status: 'waiting', waits: [newApproval(run), newClientCall(run)] }))

    const { connections, ...figures } = await store.figures()
    // Only a store on a server has some.
    const some = { open: 0, idle: 0, waiting: 0, most: 0, reconnects: 0 }
    if (connections !== undefined) expect(Object.keys(connections).sort()).toEqual(Object.keys(some).sort())
    expect(figures).toEqual({
      bytes: expect.any(Number),
      walBytes: expect.any(Number),
      inbox: 1,
      runs: { queued: 0, running: 0, waiting: 1 },
      waits: {
        approval: { count: 1, oldestAt: expect.any(Number) },
        client_call: { count: 1, oldestAt: expect.any(Number) },
      },
      leases: expect.any(Array),
      outbox: {},
    })
  })
}
