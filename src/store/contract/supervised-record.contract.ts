import { describe, expect, test } from 'vitest'
import type { Alert, Prompt, Standby, SupervisedApproval, SupervisedRecord } from '../../domain/records/record.ts'
import { MOST_PERMISSIONS, MOST_STEERING, MOST_TASKS } from '../../domain/supervision/supervision.ts'
import type { RecordChange, Supervise } from '../ports/supervised.ts'
import type { Store } from '../store.ts'
import {
  answer,
  approve,
  askedElsewhere,
  beforeAndAfter,
  commit,
  done,
  event,
  expire,
  NOW,
  newAudit,
  newId,
  type OpenStore,
  openForTest,
  refusal,
  reject,
} from './samples.contract.ts'
import { checkpoint, diff, instruction, opened, step } from './supervised-samples.contract.ts'

const changeTo = (id: string, status: string): RecordChange =>
  status === 'approved'
    ? { id, patch: {}, answer: approve(id) }
    : status === 'rejected'
      ? { id, patch: {}, answer: reject(id) }
      : { id, patch: { status } }

const permission = (sessionId: string): SupervisedApproval => diff(sessionId, { kind: 'permission' })

/** What prompts, waits and alerts share with approvals. */
const shared = (sessionId: string) => {
  const { kind: _, status: __, wait: ___, ...rest } = diff(sessionId)
  const { id, owner, agent, createdAt, expiresAt, runId, callId, tool, lane, messageRefs } = rest
  const asked = { id, owner, agent, createdAt, expiresAt, runId, callId, tool, lane, messageRefs, sessionId }
  const open = {
    arguments: '{}',
    continuationRunId: null,
    decidedAt: null,
    decidedBy: null,
    decidedVia: null,
    reason: null,
  }
  return { ...asked, ...open, status: 'pending' as const }
}
const { host, contentKey, returnedAt } = askedElsewhere
const prompt = (sessionId: string): Prompt => ({
  ...shared(sessionId),
  wait: 'prompt',
  supervised: { host, contentKey, returnedAt },
  promptText: 'Go on?',
  promptType: 'continuation',
  elapsedSeconds: null,
  actionsTaken: 3,
  decision: null,
  instruction: null,
})
const standby = (sessionId: string): Standby => ({
  ...shared(sessionId),
  wait: 'standby',
  supervised: { host, contentKey, returnedAt },
  message: 'What next?',
  timeoutSeconds: 0,
  instruction: null,
})
const alert = (sessionId: string): Alert => ({
  ...shared(sessionId),
  wait: 'alert',
  supervised: { host },
  lastTool: null,
  lastActivityAt: NOW,
  idleSeconds: 300,
  nudgeCount: 0,
  nudgeMessage: null,
  lastNudgeAt: null,
  nudgedBy: null,
  progressSnapshot: null,
})

/** Everything that a refused step must leave alone. */
const everything = async (store: Store, id: string) => ({
  session: await store.sessions.get(id),
  waits: await store.waits.list({ sessionId: id, limit: 100 }),
  entries: await store.entries(id, 0, 100),
  audit: await store.audit.entries(0, 100),
  feed: await store.feed.items(0, 100),
  steering: await store.supervised.instructions({ sessionId: id, limit: 100 }),
  checkpoints: await store.supervised.checkpoints({ limit: 100 }),
  pin: await store.supervised.pin('/srv/shop'),
})

export function describeSupervisedRecords(open: OpenStore): void {
  describe('supervise: records', () => {
    test('a refused step writes nothing at all', async () => {
      const { store } = await openForTest(open)
      const session = await opened(store)
      const { id } = session
      const before = await everything(store, id)
      const question = diff(id)
      const all: Partial<Supervise> = {
        supervision: { title: 'never' },
        proposals: [{ approvalId: question.id, diff: 'd', after: null }],
        instructions: [instruction(session)],
        checkpoints: [checkpoint(id)],
        pin: { workspaceRoot: '/srv/shop', sha256: 'a', text: '{}', at: NOW, by: 'ann' },
        entries: [event('RUN_STARTED')],
        runId: newId(),
        audit: [newAudit('ann')],
      }

      expect(await refusal(store, step(id, 1, { ...all, ask: [question, diff(id)] }))).toBe('approval_pending')
      expect(await refusal(store, step(id, 1, { ...all, settle: [{ id: newId(), patch: {} }] }))).toBe(
        'record_not_found',
      )
      expect(await refusal(store, step(id, 9, { ...all }))).toBe('conflict')

      expect(await everything(store, id)).toEqual(before)
      expect(await store.supervised.proposal(question.id)).toBe(null)
    })

    test('one pending diff, one active alert and 16 permissions for each session', async () => {
      const { store } = await openForTest(open)
      const [{ id }, other] = [await opened(store), await opened(store)]
      const first = diff(id)
      await done(store, step(id, 1, { ask: [first, prompt(id), standby(id), alert(id)] }))

      const [refused] = await commit(store, step(id, 2, { ask: [diff(id)] }))
      expect(refused).toMatchObject({ error: { code: 'approval_pending', details: { request_id: first.id } } })
      expect(await refusal(store, step(id, 2, { ask: [alert(id)] }))).toBe('conflict')
      expect(await refusal(store, step(id, 2, { ask: [first] }))).toBe('conflict')
      await done(store, step(other.id, 1, { ask: [diff(other.id)] }))

      const many = Array.from({ length: MOST_PERMISSIONS }, () => permission(id))
      await done(store, step(id, 2, { ask: many }))
      expect(await refusal(store, step(id, 3, { ask: [permission(id)] }))).toBe('limit')
      // Whoever answers makes space, in the same step too.
      const settle = [
        { id: first.id, patch: {}, answer: reject(first.id) },
        { id: many[0]?.id ?? '', patch: { status: 'expired' } },
      ]
      await done(store, step(id, 3, { settle, ask: [diff(id), permission(id)] }))
    })

    test.each<[string, (id: string) => SupervisedRecord, string[], string[]]>([
      ['an approval', diff, ['approved', 'consumed'], ['approved', 'pending']],
      ['an approval', diff, ['approved', 'interrupted'], ['consumed']],
      ['an approval', diff, ['rejected'], ['approved', 'consumed']],
      ['an approval', diff, ['expired'], ['approved']],
      ['a prompt', prompt, ['decided'], ['interrupted', 'pending']],
      ['a wait', standby, ['resumed'], ['timeout']],
      ['a wait', standby, ['timeout'], ['resumed']],
      ['an alert', alert, ['nudged', 'escalated', 'self_recovered'], ['nudged', 'dismissed']],
      ['an alert', alert, ['escalated', 'dismissed'], ['self_recovered']],
      ['an alert', alert, ['nudged', 'dismissed'], ['pending']],
    ])('%s %# goes its way and no other', async (_what, make, way, wrong) => {
      const { store } = await openForTest(open)
      const { id } = await opened(store)
      const record = make(id)
      await done(store, step(id, 1, { ask: [record] }))
      let version = 2
      for (const status of way) {
        await done(store, step(id, version, { settle: [changeTo(record.id, status)] }))
        version += 1
        expect((await store.waits.get(record.id))?.status).toBe(status)
      }
      for (const status of wrong) {
        expect(await refusal(store, step(id, version, { settle: [changeTo(record.id, status)] }))).toBe('conflict')
      }
    })

    test('only an answer decides an approval, and a patch alone never does', async () => {
      const { store } = await openForTest(open)
      const { id } = await opened(store)
      const record = diff(id)
      await done(store, step(id, 1, { ask: [record] }))

      for (const status of ['approved', 'rejected']) {
        const patch = { status, decidedBy: 'ann', decidedAt: NOW }
        expect(await refusal(store, step(id, 2, { settle: [{ id: record.id, patch }] }))).toBe('conflict')
      }
      expect(await store.waits.get(record.id)).toEqual(record)
    })

    test('a patch changes what it names, but never who a record belongs to', async () => {
      const { store, reopen } = await openForTest(open)
      const [{ id }, other] = [await opened(store), await opened(store)]
      const record = diff(id)
      await done(store, step(id, 1, { ask: [record] }))
      const patch = { reason: 'Fine.', supervised: { ...record.supervised, isEdited: true } }
      const foreign = { id: 'x', sessionId: other.id, owner: 'eve', wait: 'prompt', createdAt: 1 }

      await done(store, step(id, 2, { settle: [{ id: record.id, patch: { ...patch, ...foreign } }] }))

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.waits.get(record.id)).toEqual({ ...record, ...patch })
        const command = { settle: [{ id: record.id, patch: { reason: 'Mine.' } }] }
        expect(await refusal(current, step(other.id, 1, command))).toBe('record_not_found')
      }
    })

    test('answers for runs of our own do not touch them', async () => {
      const { store } = await openForTest(open)
      const { id } = await opened(store)
      const [one, two] = [diff(id), prompt(id)]
      await done(store, step(id, 1, { ask: [one, two] }))

      const answers = [approve(one.id), expire(one.id), answer(two.id)]
      const { answered } = await done(store, { type: 'settle_waits', answers, now: NOW })

      expect(answered?.map(({ applied }) => applied)).toEqual([false, false, false])
      expect((await store.waits.list({ sessionId: id, isWaiting: true, limit: 10 })).length).toBe(2)
    })

    test.each(['terminated', 'interrupted'] as const)(
      'a session that is %s takes what is pending with it',
      async (status) => {
        const { store } = await openForTest(open)
        const { id } = await opened(store)
        const [approved, pending] = [diff(id, { status: 'approved' }), diff(id)]
        const records = [approved, pending, permission(id), prompt(id), standby(id), alert(id)]
        await done(store, step(id, 1, { ask: records }))

        await done(store, step(id, 2, { supervision: { status } }))

        const statuses = await Promise.all(records.map(async (one) => (await store.waits.get(one.id))?.status))
        expect(statuses).toEqual(['approved', 'interrupted', 'interrupted', 'interrupted', 'interrupted', 'dismissed'])
        expect(await store.waits.list({ sessionId: id, isWaiting: true, limit: 10 })).toEqual([])
        expect(await store.waits.get(pending.id)).toMatchObject({ decidedAt: NOW + 1, decidedBy: null })
      },
    )

    test('a handover gives the pending records to the new owner, and keeps the old ones', async () => {
      const { store } = await openForTest(open)
      const { id } = await opened(store)
      const [old, pending] = [diff(id, { status: 'rejected' }), prompt(id)]
      await done(store, step(id, 1, { ask: [old, pending] }))

      await done(store, step(id, 2, { owner: 'eve' }))

      expect((await store.sessions.get(id))?.owner).toBe('eve')
      expect((await store.waits.get(pending.id))?.owner).toBe('eve')
      expect((await store.waits.get(old.id))?.owner).toBe('ann')
      expect((await store.waits.list({ wait: 'prompt', owner: 'eve', limit: 10 })).map((one) => one.id)).toEqual([
        pending.id,
      ])
    })

    test('records that expire are found like all others', async () => {
      const { store } = await openForTest(open)
      const { id } = await opened(store)
      const [soon, later] = [diff(id, { expiresAt: NOW + 5 }), { ...prompt(id), expiresAt: NOW + 50 }]
      await done(store, step(id, 1, { ask: [soon, later] }))

      expect((await store.waits.expired(NOW + 5, 10)).map((one) => one.id)).toEqual([soon.id])
    })

    test('the bytes of a proposal come back as they are, and a new one takes its place', async () => {
      const { store, reopen } = await openForTest(open)
      const { id } = await opened(store)
      const [one, two] = [diff(id), permission(id)]
      const after = Uint8Array.from([0, 255, 10, 13])
      const proposals = [
        { approvalId: one.id, diff: '--- a\n', after },
        { approvalId: two.id, diff: '', after: null },
      ]
      await done(store, step(id, 1, { ask: [one, two], proposals }))

      for await (const current of beforeAndAfter(store, reopen)) {
        const found = await current.supervised.proposal(one.id)
        expect([found?.diff, [...(found?.after ?? [])]]).toEqual(['--- a\n', [0, 255, 10, 13]])
        expect(await current.supervised.proposal(two.id)).toEqual({ approvalId: two.id, diff: '', after: null })
      }
    })

    test('changes that are used up and not written are found, oldest first', async () => {
      const { store } = await openForTest(open)
      const { id } = await opened(store)
      const asked = (createdAt: number, values: Partial<SupervisedApproval> = {}) =>
        diff(id, { createdAt, status: 'consumed', ...values })
      const [late, early] = [asked(NOW + 9), asked(NOW + 1)]
      const others = [
        asked(NOW, { status: 'approved' }),
        asked(NOW, { kind: 'permission' }),
        asked(NOW, { supervised: { ...askedElsewhere, appliedAt: NOW } }),
        asked(NOW, { supervised: { ...askedElsewhere, notApplied: 'The file has changed.' } }),
      ]
      await done(store, step(id, 1, { ask: [late, early, ...others] }))

      expect(await store.supervised.unapplied(10)).toEqual([early, late])
      expect(await store.supervised.unapplied(1)).toEqual([early])
    })
  })

  describe('supervise: instructions, checkpoints and pins', () => {
    test('steering waits for its session, a task for the next one of its owner and workspace', async () => {
      const { store, reopen } = await openForTest(open)
      const [one, two] = [await opened(store), await opened(store)]
      const [steering, task] = [instruction(one), instruction(one, { kind: 'task' })]
      await done(store, step(one.id, 1, { instructions: [steering, task] }))
      const ofWorkspace = {
        kind: 'task',
        workspace: { owner: 'ann', root: '/srv/shop' },
        isWaiting: true,
        limit: 10,
      } as const

      expect(await store.supervised.instructions({ sessionId: one.id, isWaiting: true, limit: 10 })).toEqual([steering])
      expect(await store.supervised.instructions(ofWorkspace)).toEqual([task])
      expect(
        await store.supervised.instructions({ ...ofWorkspace, workspace: { owner: 'eve', root: '/srv/shop' } }),
      ).toEqual([])

      await done(store, step(two.id, 1, { deliver: [task.id, newId()] }))
      await done(store, step(one.id, 2, { deliver: [steering.id, task.id] }))
      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.supervised.instructions(ofWorkspace)).toEqual([])
        expect(await current.supervised.instructions({ sessionId: two.id, limit: 10 })).toEqual([
          { ...task, sessionId: two.id, deliveredAt: NOW + 1 },
        ])
        expect(await current.supervised.instructions({ sessionId: one.id, limit: 10 })).toEqual([
          { ...steering, deliveredAt: NOW + 1 },
        ])
      }
    })

    test.each([
      ['steering', MOST_STEERING],
      ['task', MOST_TASKS],
    ] as const)('%s: only so many wait', async (kind, most) => {
      const { store } = await openForTest(open)
      const session = await opened(store)
      const all = Array.from({ length: most }, () => instruction(session, { kind }))
      await done(store, step(session.id, 1, { instructions: all }))

      expect(await refusal(store, step(session.id, 2, { instructions: [instruction(session, { kind })] }))).toBe(
        'limit',
      )
      await done(store, step(session.id, 2, { deliver: [all[0]?.id ?? ''] }))
      await done(store, step(session.id, 3, { instructions: [instruction(session, { kind })] }))
    })

    test('checkpoints are listed newest first: of a session, of an owner, or all', async () => {
      const { store, reopen } = await openForTest(open)
      const [one, two] = [await opened(store), await opened(store, {}, { owner: 'eve' })]
      const first = checkpoint(one.id)
      const second = checkpoint(one.id, { label: null, progressSnapshot: null, createdAt: NOW + 1 })
      const third = checkpoint(two.id, { owner: 'eve', createdAt: NOW + 2 })
      await done(store, step(one.id, 1, { checkpoints: [first] }))
      await done(store, step(one.id, 2, { checkpoints: [second] }))
      await done(store, step(two.id, 1, { checkpoints: [third] }))

      for await (const current of beforeAndAfter(store, reopen)) {
        const { supervised: reads } = current
        expect(await reads.checkpoints({ sessionId: one.id, limit: 10 })).toEqual([second, first])
        expect(await reads.checkpoints({ owner: 'eve', limit: 10 })).toEqual([third])
        expect(await reads.checkpoints({ limit: 2 })).toEqual([third, second])
        expect(await reads.checkpoint(first.id)).toEqual(first)
        expect(await reads.checkpoint(newId())).toBe(null)
      }
    })

    test('a workspace has one pinned policy, the last', async () => {
      const { store, reopen } = await openForTest(open)
      const { id } = await opened(store)
      const pin = (text: string) => ({
        workspaceRoot: '/srv/shop',
        sha256: `hash of ${text}`,
        text,
        at: NOW,
        by: 'ann',
      })
      await done(store, step(id, 1, { pin: pin('one') }))
      await done(store, step(id, 2, { pin: pin('two') }))

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.supervised.pin('/srv/shop')).toEqual(pin('two'))
        expect(await current.supervised.pin('/work')).toBe(null)
      }
    })
  })
}
