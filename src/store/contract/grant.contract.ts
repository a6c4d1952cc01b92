import { describe, expect, test } from 'vitest'
import type { Grant } from '../../domain/supervision/grant.ts'
import type { Supervise } from '../ports/supervised.ts'
import type { Store } from '../store.ts'
import {
  ACCEPTED,
  accept,
  acceptedRun,
  append,
  approve,
  auditors,
  beforeAndAfter,
  done,
  NOW,
  newApproval,
  newAudit,
  newGrant,
  newId,
  newSession,
  type OpenStore,
  openForTest,
  refusal,
  reject,
  waitingSession,
} from './samples.contract.ts'
import { diff, opened, step } from './supervised-samples.contract.ts'

/** Makes grants in the usual way: together with an approval. */
async function grant(store: Store, ...grants: Grant[]): Promise<void> {
  const { session, waits } = await waitingSession(store, (run) => [newApproval(run)])
  const approvalId = waits[0]?.id ?? ''
  const made = grants.map((one) => Object.assign(one, { approvalId }))
  await done(store, accept(session, { answers: [approve(approvalId)], grants: made }))
}

const elsewhere = (approvalId: string, sessionId: string | null): Grant => ({
  ...newGrant({ approvalId, sessionId, agent: 'claude-code', tool: 'Bash', where: {} }),
  elsewhere: {
    workspaceRoot: '/srv/shop',
    owner: 'ann',
    match: { type: 'begins', words: ['npm', 'test'] },
    risk: 'low',
  },
})

const idsOf = (grants: readonly Grant[]): string[] => grants.map(({ id }) => id)

export function describeGrants(open: OpenStore): void {
  describe('grants', () => {
    test('are made together with their approval, and survive a restart', async () => {
      const { store, reopen } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [newApproval(run), newApproval(run)])
      const [yes = '', no = ''] = waits.map(({ id }) => id)
      const made = newGrant({ approvalId: yes, sessionId: session.id, expiresAt: NOW + 900_000 })
      const others = [newGrant({ approvalId: no }), newGrant({ approvalId: newId() })]

      await done(
        store,
        accept(session, {
          answers: [approve(yes), reject(no)],
          grants: [made, ...others],
          answerAudit: {
            [yes]: newAudit('yes'),
            [no]: newAudit('no'),
            [made.id]: newAudit('granted'),
            [others[0]?.id ?? '']: newAudit('not granted'),
          },
        }),
      )

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.grants.list({ now: NOW })).toEqual([made])
        expect(await current.grants.get(made.id)).toEqual(made)
        expect(await current.grants.get(others[0]?.id ?? '')).toBe(null)
        expect(await auditors(current)).toEqual(['yes', 'no', 'granted'])
      }
    })

    test('do not change: a second one with the same id is neither made nor recorded', async () => {
      const { store } = await openForTest(open)
      const first = newGrant()
      await grant(store, first)
      const { session, waits } = await waitingSession(store, (run) => [newApproval(run)])
      const approvalId = waits[0]?.id ?? ''
      const second = newGrant({ id: first.id, approvalId, tool: 'other' })

      const answerAudit = { [approvalId]: newAudit('yes'), [second.id]: newAudit('granted') }
      const grants = [second]
      await done(store, accept(session, { answers: [approve(approvalId)], grants, answerAudit }))

      expect(await store.grants.list({ now: NOW })).toEqual([first])
      expect(await auditors(store)).toEqual(['yes'])
    })

    test('are found by agent and by session, oldest first, until they expire', async () => {
      const { store } = await openForTest(open)
      const [s1, s2] = [newId(), newId()]
      const everywhere = newGrant({ createdAt: 3 })
      const inOne = newGrant({ createdAt: 1, sessionId: s1, expiresAt: 100 })
      const inTwo = newGrant({ createdAt: 4, sessionId: s2 })
      const ofOther = newGrant({ createdAt: 2, agent: 'other' })
      await grant(store, everywhere, inOne, inTwo, ofOther)
      const found = async (query: { now?: number; agent?: string; sessionId?: string }) =>
        idsOf(await store.grants.list({ now: 0, ...query }))

      expect(await found({})).toEqual(idsOf([inOne, ofOther, everywhere, inTwo]))
      expect(await found({ agent: 'assistant' })).toEqual(idsOf([inOne, everywhere, inTwo]))
      expect(await found({ sessionId: s1 })).toEqual(idsOf([inOne, ofOther, everywhere]))
      expect(await found({ agent: 'assistant', sessionId: s1 })).toEqual(idsOf([inOne, everywhere]))
      expect(await found({ agent: 'assistant', sessionId: s1, now: 99 })).toEqual(idsOf([inOne, everywhere]))
      expect(await found({ agent: 'assistant', sessionId: s1, now: 100 })).toEqual(idsOf([everywhere]))
      expect(await found({ agent: 'nobody' })).toEqual([])
    })

    test('are revoked once, and the audit trail says by whom', async () => {
      const { store, reopen } = await openForTest(open)
      const [kept, gone] = [newGrant(), newGrant()]
      await grant(store, kept, gone)
      const revoke = (grantId: string) =>
        ({ type: 'revoke_grant', grantId, audit: newAudit('ann', { kind: 'grant_revoked' }) }) as const

      await done(store, revoke(gone.id))

      expect(await refusal(store, revoke(gone.id))).toBe('conflict')
      expect(await refusal(store, revoke(newId()))).toBe('conflict')
      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.grants.list({ now: NOW })).toEqual([kept])
        expect(await current.grants.get(gone.id)).toBe(null)
        expect(await auditors(current)).toEqual(['ann'])
      }
    })

    test('let nothing begin once they are revoked', async () => {
      const { store } = await openForTest(open)
      const [kept, gone] = [newGrant(), newGrant()]
      await grant(store, kept, gone)
      const run = await acceptedRun(store, accept(newSession()))
      const begin = (...grants: string[]) => append(run, [ACCEPTED], { sync: true, grants })
      await done(store, begin(kept.id, gone.id))
      await done(store, { type: 'revoke_grant', grantId: gone.id, audit: newAudit('ann', { kind: 'grant_revoked' }) })

      const head = await store.head(run.sessionId)
      const { results } = await store.commit([begin(kept.id, gone.id)])

      expect(results).toMatchObject([{ ok: false, error: { code: 'conflict', details: { grant: gone.id } } }])
      expect(await store.head(run.sessionId)).toBe(head)
      await done(store, begin(kept.id))
    })

    test('of an agent elsewhere come with the answer that decides, or not at all', async () => {
      const { store, reopen } = await openForTest(open)
      const session = await opened(store)
      const asked = diff(session.id, { kind: 'permission', quorum: 2 })
      const other = diff(session.id, { kind: 'permission' })
      await done(store, step(session.id, 1, { ask: [asked, other] }))
      const yes = elsewhere(asked.id, session.id)
      const no = { ...elsewhere(other.id, null), effect: 'refuse' as const }
      const by = (name: string) => ({
        ...approve(asked.id),
        outcome: { ...approve(asked.id).outcome, yes: { by: name, via: 'ctl' } },
      })
      const say = (version: number, name: string, values: Partial<Supervise>) =>
        step(session.id, version, { settle: [{ id: asked.id, patch: {}, answer: by(name) }], ...values })

      // One yes of two decides nothing, a grant without an answer has none, and a yes is no no.
      expect(await refusal(store, say(2, 'ann', { grant: yes }))).toBe('conflict')
      expect(await refusal(store, step(session.id, 2, { grant: yes }))).toBe('conflict')
      expect(await refusal(store, say(2, 'ann', { grant: { ...yes, approvalId: other.id } }))).toBe('conflict')
      expect([await store.grants.list({ now: NOW }), (await store.waits.get(asked.id))?.status]).toEqual([
        [],
        'pending',
      ])

      await done(store, say(2, 'ann', {}))
      await done(store, say(3, 'root', { grant: yes }))
      const refused = { id: other.id, patch: {}, answer: reject(other.id) }
      await done(store, step(session.id, 4, { settle: [refused], grant: no }))

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.grants.get(yes.id)).toEqual(yes)
        expect(await current.grants.get(no.id)).toEqual(no)
        expect(await current.waits.get(asked.id)).toMatchObject({ status: 'approved' })
      }
    })

    test('let a step of an agent elsewhere through only while they are there, and end with one', async () => {
      const { store } = await openForTest(open)
      const session = await opened(store)
      const [kept, gone] = [newGrant(), newGrant()]
      await grant(store, kept, gone)

      await done(store, step(session.id, 1, { uses: [kept.id, gone.id] }))
      await done(store, step(session.id, 2, { forget: [gone.id, newId()] }))

      expect(await refusal(store, step(session.id, 3, { uses: [kept.id, gone.id] }))).toBe('conflict')
      await done(store, step(session.id, 3, { uses: [kept.id] }))
      expect(await store.grants.list({ now: NOW })).toEqual([kept])
    })

    test.each<[string, Partial<Supervise>]>([
      ['is terminated', { supervision: { status: 'terminated' } }],
      ['is interrupted', { supervision: { status: 'interrupted' } }],
      ['gets another owner', { owner: 'root' }],
    ])('for one session of an agent elsewhere end when it %s', async (_, values) => {
      const { store, reopen } = await openForTest(open)
      const session = await opened(store)
      const [inIt, inOther, everywhere] = [session.id, newId(), null].map((sessionId) => newGrant({ sessionId }))
      if (inIt === undefined || inOther === undefined || everywhere === undefined) throw new Error('no grants')
      await grant(store, inIt, inOther, everywhere)

      await done(store, step(session.id, 1, { supervision: { mode: 'local' } }))
      expect(await store.grants.get(inIt.id)).toEqual(inIt)
      await done(store, step(session.id, 2, values))

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(new Set(idsOf(await current.grants.list({ now: NOW })))).toEqual(new Set([inOther.id, everywhere.id]))
      }
    })

    test('are removed by a purge once they have expired', async () => {
      const { store } = await openForTest(open)
      const [lasting, over, soon] = [newGrant(), newGrant({ expiresAt: NOW }), newGrant({ expiresAt: NOW + 1 })]
      await grant(store, lasting, over, soon)

      await done(store, {
        type: 'purge_sessions',
        before: null,
        unlistedBefore: 0,
        unsentBefore: 0,
        now: NOW,
        limit: 10,
      })

      expect(await Promise.all([lasting, over, soon].map(({ id }) => store.grants.get(id)))).toEqual([
        lasting,
        null,
        soon,
      ])
    })
  })
}
