import { describe, expect, test } from 'vitest'
import type { SessionRecord } from '../../domain/session.ts'
import {
  type Checkpoint,
  type Instruction,
  MOST_PERMISSIONS,
  MOST_STEERING,
  MOST_TASKS,
  mayBecome,
  type SupervisedStatus,
  type Supervision,
  supervisedStatuses,
} from '../../domain/supervision.ts'
import type { Alert, InstructionWait, Prompt, SupervisedApproval, SupervisedWait } from '../../domain/wait.ts'
import type { Supervise } from '../ports/supervised.ts'
import type { Store } from '../store.ts'
import {
  accept,
  answer,
  approve,
  askedElsewhere,
  auditors,
  beforeAndAfter,
  commit,
  done,
  event,
  expire,
  fact,
  NOW,
  newApproval,
  newAudit,
  newId,
  newRun,
  newSession,
  type OpenStore,
  openForTest,
  refusal,
  remove,
  supervisionSample,
} from './samples.contract.ts'

const supervised = (values: Partial<Supervision> = {}, session: Partial<SessionRecord> = {}): SessionRecord =>
  newSession({ agent: 'claude-code', ...session, supervision: { ...supervisionSample, ...values } })

const create = (session: SessionRecord, values: Partial<Supervise> = {}): Supervise => ({
  type: 'supervise',
  sessionId: session.id,
  now: NOW,
  create: session,
  ...values,
})

const step = (sessionId: string, version: number, values: Partial<Supervise> = {}): Supervise => ({
  type: 'supervise',
  sessionId,
  now: NOW + 1,
  version,
  ...values,
})

const diff = (sessionId: string, values: Partial<SupervisedApproval> = {}): SupervisedApproval => ({
  ...newApproval(newRun(sessionId), { kind: 'diff', tool: 'ask_approval' }),
  supervised: askedElsewhere,
  ...values,
})
const permission = (sessionId: string): SupervisedApproval => diff(sessionId, { kind: 'permission' })

/** What prompts, waits and alerts share with approvals. */
const shared = (sessionId: string) => {
  const { kind: _, status: __, wait: ___, ...rest } = diff(sessionId)
  const { id, owner, agent, createdAt, expiresAt, runId, callId, tool, lane, messageRefs } = rest
  const asked = { id, owner, agent, createdAt, expiresAt, runId, callId, tool, lane, messageRefs, sessionId }
  const open = { arguments: '{}', continuationRunId: null, decidedAt: null, decidedBy: null, reason: null }
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
const instructionWait = (sessionId: string): InstructionWait => ({
  ...shared(sessionId),
  wait: 'instruction',
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

const instruction = (session: SessionRecord, values: Partial<Instruction> = {}): Instruction => ({
  id: newId(),
  kind: 'steering',
  sessionId: values.kind === 'task' ? null : session.id,
  owner: session.owner,
  workspaceRoot: session.supervision?.workspaceRoot ?? '',
  text: 'Use pnpm.',
  source: 'ann via ctl',
  createdAt: NOW,
  deliveredAt: null,
  ...values,
})

const checkpoint = (sessionId: string, values: Partial<Checkpoint> = {}): Checkpoint => ({
  id: newId(),
  sessionId,
  owner: 'ann',
  label: 'before the refactoring',
  workspaceRoot: '/srv/shop',
  manifest: 'c'.repeat(64),
  files: 12,
  bytes: 3_000,
  hasContents: true,
  sessionState: { status: 'active', mode: 'remote', title: null, lastTool: 'heartbeat' },
  progressSnapshot: [{ label: 'Tests', status: 'done' }],
  createdAt: NOW,
  ...values,
})

/** A new supervised session in the store. Its version is 1. */
async function opened(store: Store, values: Partial<Supervision> = {}, session: Partial<SessionRecord> = {}) {
  const record = supervised(values, session)
  await done(store, create(record))
  return record
}

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

export function describeSupervision(open: OpenStore): void {
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

    test('only so many are open, and the refusal names them', async () => {
      const { store } = await openForTest(open)
      const [one, two] = [await opened(store, { status: 'created' }), await opened(store, { status: 'paused' })]
      const third = supervised()

      const [refused] = await commit(store, create(third, { maxOpen: 2 }))

      expect(refused).toMatchObject({ ok: false, error: { code: 'limit', details: { limit: 2 } } })
      expect(JSON.stringify(refused)).toContain(one.id)
      await done(store, step(two.id, 1, { supervision: { status: 'interrupted' } }))
      await done(store, create(third, { maxOpen: 2 }))
      // One that comes back counts again, and one that is open already does not count twice.
      expect(await refusal(store, step(two.id, 2, { supervision: { status: 'active' }, maxOpen: 2 }))).toBe('limit')
      await done(store, step(third.id, 1, { supervision: { title: 'still open' }, maxOpen: 2 }))
    })

    test('they are found by owner, workspace, token and status, newest activity first', async () => {
      const { store } = await openForTest(open)
      const a = await opened(store, { tokenId: 'a' }, { lastActivity: NOW })
      const b = await opened(store, { tokenId: 'b', workspaceRoot: '/srv/other' }, { lastActivity: NOW + 2 })
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
      await done(store, step(id, 1, { ask: [first, prompt(id), instructionWait(id), alert(id)] }))

      const [refused] = await commit(store, step(id, 2, { ask: [diff(id)] }))
      expect(refused).toMatchObject({ error: { code: 'approval_pending', details: { request_id: first.id } } })
      expect(await refusal(store, step(id, 2, { ask: [alert(id)] }))).toBe('conflict')
      expect(await refusal(store, step(id, 2, { ask: [first] }))).toBe('conflict')
      await done(store, step(other.id, 1, { ask: [diff(other.id)] }))

      const many = Array.from({ length: MOST_PERMISSIONS }, () => permission(id))
      await done(store, step(id, 2, { ask: many }))
      expect(await refusal(store, step(id, 3, { ask: [permission(id)] }))).toBe('limit')
      // Whoever answers makes room, in the same step too.
      const settle = [
        { id: first.id, patch: { status: 'rejected' } },
        { id: many[0]?.id ?? '', patch: { status: 'expired' } },
      ]
      await done(store, step(id, 3, { settle, ask: [diff(id), permission(id)] }))
    })

    test.each<[string, (id: string) => SupervisedWait, string[], string[]]>([
      ['an approval', diff, ['approved', 'consumed'], ['approved', 'pending']],
      ['an approval', diff, ['approved', 'interrupted'], ['consumed']],
      ['an approval', diff, ['rejected'], ['approved', 'consumed']],
      ['an approval', diff, ['expired'], ['approved']],
      ['a prompt', prompt, ['decided'], ['interrupted', 'pending']],
      ['a wait', instructionWait, ['resumed'], ['timeout']],
      ['a wait', instructionWait, ['timeout'], ['resumed']],
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
        await done(store, step(id, version, { settle: [{ id: record.id, patch: { status } }] }))
        version += 1
        expect((await store.waits.get(record.id))?.status).toBe(status)
      }
      for (const status of wrong) {
        expect(await refusal(store, step(id, version, { settle: [{ id: record.id, patch: { status } }] }))).toBe(
          'conflict',
        )
      }
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
        const records = [approved, pending, permission(id), prompt(id), instructionWait(id), alert(id)]
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
