import { describe, expect, test } from 'vitest'
import type { Caller, Decision } from '../../domain/supervision/decision.ts'
import type { WorkMatch } from '../../domain/supervision/grant.ts'
import { sameForEveryRisk } from '../../domain/supervision/quorum.ts'
import type { ProofPurpose, StepUp } from '../../domain/supervision/step-up.ts'
import { proofPurpose } from '../approvals/decide.ts'
import { everybody, type Operators } from '../sessions/may-command.ts'
import { askElsewhere, npmTest } from '../testing/ask-elsewhere.ts'
import { ann, eve, newSession, openSupervision, root, type SupervisionOptions } from '../testing/open-supervision.ts'

type Values = Parameters<typeof askElsewhere>[3]

async function openAsked(values: Values = {}, options: SupervisionOptions = {}) {
  const service = openSupervision(options)
  const session = await service.sessions.create(newSession('/srv/shop'))
  const ask = (more: Values = {}) => askElsewhere(service.takeStep, session, service.ids.uuid(), { ...values, ...more })
  const approval = await ask()
  return {
    ...service,
    session,
    ask,
    approval,
    say: (decision: Decision, by: Caller = ann) => service.approvals.decide(by, approval.id, decision),
    grants: () => service.store.grants.list({ now: service.clock.now() }),
    status: async () => (await service.store.waits.get(approval.id))?.status,
  }
}

const [exactly, begins] = npmTest
if (exactly === undefined || begins === undefined) throw new Error('Nothing is offered.')

describe('a yes that is remembered', () => {
  test.each([
    ['session', (id: string) => ({ sessionId: id, expiresAt: null })],
    ['15m', () => ({ sessionId: null, expiresAt: 900_000 })],
    ['workspace', () => ({ sessionId: null, expiresAt: null })],
  ] as const)('for %s comes with a grant of this agent, folder and owner', async (scope, where) => {
    const { session, approval, clock, say, grants, audit } = await openAsked()
    const { approval: after } = await say({ decision: 'approve', remember: { scope } })
    const place = where(session.id)

    expect(after.status).toBe('approved')
    const [made] = await grants()
    expect(await grants()).toEqual([
      {
        id: expect.any(String),
        agent: 'claude',
        tool: 'Bash',
        where: {},
        sessionId: place.sessionId,
        grantedBy: 'ann',
        approvalId: approval.id,
        policyVersion: 'elsewhere',
        createdAt: clock.now(),
        expiresAt: place.expiresAt === null ? null : clock.now() + place.expiresAt,
        elsewhere: { workspaceRoot: '/srv/shop', owner: 'ann', match: exactly, risk: 'low' },
      },
    ])
    const about = { grant: made?.id, approval: approval.id, by: 'ann' }
    expect((await audit()).slice(-2)).toMatchObject([
      { kind: 'decision', decision: 'approved', ...about },
      { kind: 'grant_made', scope, effect: 'allow', match: 'This command: npm test -- --watch', ...about },
    ])
  })

  test('covers what was chosen of what is offered', async () => {
    const { say, grants } = await openAsked()
    await say({
      decision: 'approve',
      remember: { scope: 'session', match: { type: 'begins', words: ['npm', 'test'] } },
    })
    expect(await grants()).toMatchObject([{ elsewhere: { match: begins } }])
  })

  test('by an admin counts for the owner', async () => {
    const { say, grants } = await openAsked()
    await say({ decision: 'approve', remember: { scope: 'workspace' } }, root)
    expect(await grants()).toMatchObject([{ grantedBy: 'root', elsewhere: { owner: 'ann' } }])
  })
})

test('who says the same again renews the grant that is there', async () => {
  const { approval, ask, approvals, grants, clock, audit } = await openAsked()
  const allow = (id: string, scope: 'session' | '15m' | 'workspace', match = exactly) =>
    approvals.decide(ann, id, { decision: 'approve', remember: { scope, match } })
  await allow(approval.id, '15m')
  const [first] = await grants()
  await clock.advance(60_000)
  const again = await ask()
  await allow(again.id, '15m')

  expect(await grants()).toEqual([
    { ...first, approvalId: again.id, createdAt: clock.now(), expiresAt: clock.now() + 900_000 },
  ])
  expect((await audit()).slice(-2)).toMatchObject([{ grant: first?.id }, { kind: 'grant_made', grant: first?.id }])
  // Another scope, another match or another answer is another decision.
  await allow((await ask()).id, 'workspace')
  await allow((await ask()).id, '15m', begins)
  await approvals.decide(ann, (await ask()).id, { decision: 'reject', remember: { scope: '15m', match: exactly } })
  expect(await grants()).toHaveLength(4)
})

test('a no that is remembered refuses from now on, also what is critical', async () => {
  const { say, grants, audit } = await openAsked({ risk: 'critical' })
  await say({ decision: 'reject', remember: { scope: 'workspace' } })
  expect(await grants()).toMatchObject([{ effect: 'refuse', elsewhere: { match: exactly, risk: 'critical' } }])
  expect((await audit()).at(-1)).toMatchObject({ kind: 'grant_made', effect: 'refuse', scope: 'workspace' })
})

describe('nothing is decided or remembered', () => {
  const other: WorkMatch = { type: 'begins', words: ['npm'] }
  test.each<[string, Values, Decision, string]>([
    ['of what is critical', { risk: 'critical' }, { decision: 'approve', remember: { scope: '15m' } }, 'critical'],
    ['of a policy', { kind: 'policy' }, { decision: 'approve', remember: { scope: 'session' } }, 'A policy counts'],
    ['if nothing is offered', { matches: [] }, { decision: 'approve', remember: { scope: 'session' } }, 'nothing like'],
    ['for always', {}, { decision: 'approve', remember: { scope: 'always' } }, 'for the `workspace` instead'],
    [
      'that was not offered',
      {},
      { decision: 'approve', remember: { scope: 'session', match: other } },
      'was not offered',
    ],
    [
      'with conditions on arguments',
      {},
      { decision: 'approve', remember: { scope: 'session', where: {} } },
      '`match` says what',
    ],
    [
      'for a time of its own',
      {},
      { decision: 'approve', remember: { scope: 'workspace', seconds: 60 } },
      'the scope says how long',
    ],
    [
      'together with other arguments',
      {},
      { decision: 'approve', arguments: { command: 'ls' }, remember: { scope: 'session' } },
      'was edited',
    ],
    [
      'together with another text',
      { kind: 'diff' },
      { decision: 'approve', content: 'x', remember: { scope: 'session' } },
      'was edited',
    ],
    ['after an edit', { editedArguments: '{}' }, { decision: 'reject', remember: { scope: 'session' } }, 'was edited'],
  ])('%s', async (_, values, decision, message) => {
    const { say, grants, status } = await openAsked(values)
    await expect(say(decision)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(message),
    })
    expect([await grants(), await status()]).toEqual([[], 'pending'])
  })

  test('by somebody who may not decide', async () => {
    const { say, grants, status } = await openAsked()
    await expect(say({ decision: 'approve', remember: { scope: 'session' } }, eve)).rejects.toMatchObject({
      code: 'forbidden',
    })
    expect([await grants(), await status()]).toEqual([[], 'pending'])
  })

  test('by somebody who only stands in for the owner', async () => {
    const standsIn: Operators = { ...everybody, isKnown: () => true, standsIn: (name) => name === 'eve' }
    const { say, grants, status } = await openAsked({}, { operators: standsIn })
    await expect(say({ decision: 'reject', remember: { scope: 'session' } }, eve)).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('Answer without `remember`.'),
    })
    expect([await grants(), await status()]).toEqual([[], 'pending'])
    expect((await say({ decision: 'reject' }, eve)).approval.status).toBe('rejected')
  })

  test('by one of several yeses', async () => {
    const { say, grants, status } = await openAsked({ quorum: 2 }, { quorum: sameForEveryRisk(2) })
    await expect(say({ decision: 'approve', remember: { scope: 'session' } })).rejects.toMatchObject({
      code: 'invalid_request',
    })
    expect([await grants(), await status()]).toEqual([[], 'pending'])
  })

  test('and the refusal lists what is offered', async () => {
    const { say } = await openAsked()
    const refused = await say({ decision: 'approve', remember: { scope: 'session', match: other } }).catch((e) => e)
    expect(refused.problems).toEqual([
      {
        pointer: '/grant/match',
        detail: `Send one of ${JSON.stringify(exactly)}, ${JSON.stringify(begins)}.`,
      },
    ])
  })
})

describe('it ends', () => {
  const workspace = { decision: 'approve', remember: { scope: 'workspace' } } as const

  test('when its owner or an admin revokes it, and nobody else can', async () => {
    const { say, grants, approvals, audit } = await openAsked()
    await say(workspace)
    const [{ id = '' } = {}] = await grants()
    await expect(approvals.revokeGrant(eve, id)).rejects.toMatchObject({ code: 'forbidden' })
    expect(await grants()).toHaveLength(1)
    await approvals.revokeGrant(root, id)
    expect(await grants()).toEqual([])
    expect((await audit()).at(-1)).toMatchObject({ kind: 'grant_revoked', by: 'root', grant: id })
  })

  test('when somebody changes the mode, with all of this agent, folder and owner', async () => {
    const { session, ask, say, grants, approvals, sessions, audit, takeStep, ids } = await openAsked()
    await say(workspace)
    const again = await ask()
    await approvals.decide(ann, again.id, { decision: 'reject', remember: { scope: 'session' } })
    const elsewhere = await sessions.create(newSession('/srv/other'))
    const other = await askElsewhere(takeStep, elsewhere, ids.uuid())
    await approvals.decide(ann, other.id, workspace)

    await sessions.setMode(ann, session.id, 'local')

    expect(await grants()).toMatchObject([{ approvalId: other.id }])
    expect((await audit()).at(-1)).toMatchObject({ what: 'mode', from: 'remote', to: 'local', forgotten: 2 })
    await sessions.setMode(ann, session.id, 'remote')
    expect((await audit()).at(-1)).not.toHaveProperty('forgotten')
  })

  test('when the agent changes its mode, except for a no', async () => {
    const { session, ask, say, grants, approvals, sessions } = await openAsked()
    await say(workspace)
    const again = await ask()
    await approvals.decide(ann, again.id, { decision: 'reject', remember: { scope: 'workspace' } })
    await sessions.setMode(null, session.id, 'local')
    expect(await grants()).toMatchObject([{ effect: 'refuse' }])
  })

  test('when its time is over or its session ends', async () => {
    const { session, ask, say, grants, approvals, sessions, clock } = await openAsked()
    await say({ decision: 'approve', remember: { scope: 'session' } })
    const again = await ask()
    await approvals.decide(ann, again.id, { decision: 'approve', remember: { scope: '15m' } })
    expect(await grants()).toHaveLength(2)
    await sessions.terminate(ann, session.id)
    expect(await approvals.grants()).toHaveLength(1)
    await clock.advance(900_000)
    expect(await approvals.grants()).toEqual([])
  })

  test('when the server reviews its grants it stays: we have none of its tools', async () => {
    const { say, grants, approvals } = await openAsked()
    await say(workspace)
    await approvals.review()
    expect(await grants()).toHaveLength(1)
  })
})

test('a passkey proves one scope and one match, and a yes for the workspace needs one', async () => {
  const asked: ProofPurpose[] = []
  const stepUp: StepUp = {
    async require(_, purpose) {
      asked.push(purpose)
      return {}
    },
  }
  const service = await openAsked({}, { stepUp })
  const say = async (remember: NonNullable<Decision['remember']>) =>
    service.approvals.decide(ann, (await service.ask()).id, { decision: 'approve', remember })
  await say({ scope: 'session' })
  await say({ scope: '15m' })
  expect(asked).toEqual([])
  await say({ scope: 'workspace' })
  await say({ scope: 'workspace', match: begins })
  expect(asked).toMatchObject([{ remember: 'workspace' }, { remember: 'workspace', brings: expect.any(String) }])
  // A proof for one of them is not for any other.
  const purposes = npmTest.flatMap((match) =>
    (['session', 'workspace'] as const).map((scope) =>
      proofPurpose('a', 'd', { decision: 'approve', remember: { scope, match } }),
    ),
  )
  expect(new Set(purposes.map((one) => JSON.stringify(one))).size).toBe(4)
})
