import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import type { Approval } from '../../domain/records/record.ts'
import type { Caller, Decision } from '../../domain/supervision/decision.ts'
import { sameForEveryRisk } from '../../domain/supervision/quorum.ts'
import { openProofs } from '../../http/auth/console/testing/open-proofs.ts'
import { configuredOperators, everybody } from '../sessions/may-command.ts'
import { agentIn, ann, callOf, eve, openSupervision, root } from '../testing/open-supervision.ts'
import { makeWorkspace } from '../testing/workspace.ts'
import { createReadDiff } from './read-diff.ts'

const yes: Decision = { decision: 'approve' }

async function openAsked(options: Parameters<typeof openSupervision>[0] = {}) {
  const workspace = makeWorkspace({ 'a.txt': 'one\ntwo\n' })
  const service = openSupervision(options)
  const agent = agentIn(workspace)
  const answer = service.tools.ask_approval(callOf(agent), {
    title: 'Change',
    diff: 'one\nthree\n',
    file_path: 'a.txt',
  })
  const asked = await service.nextWaiting()
  if (asked.wait !== 'approval') throw new Error('not an approval')
  return {
    ...service,
    workspace,
    agent,
    answer,
    asked,
    decide: (decision: Decision, by: Caller = ann) => service.approvals.decide(by, asked.id, decision),
  }
}

async function refusal(promise: Promise<unknown>) {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ServerError)) throw new Error('it was not refused', { cause: error })
  return { code: error.code, ...error.details }
}

test('of 50 operators at once one wins, and the others are told who', async () => {
  const service = await openAsked({ operators: { ...everybody, isAdmin: () => true } })

  const decided = await Promise.allSettled(
    Array.from({ length: 50 }, (_, i) =>
      service.approvals.decide({ user: `op${i}`, role: 'operator' }, service.asked.id, {
        decision: i % 2 === 0 ? 'approve' : 'reject',
      }),
    ),
  )

  const won = decided.filter((one) => one.status === 'fulfilled')
  expect(won).toHaveLength(1)
  const winner = won[0]?.value.approval
  for (const one of decided.filter((each) => each.status === 'rejected')) {
    expect(one.reason).toMatchObject({ code: 'approval_decided', details: { decided_by: winner?.decidedBy } })
  }
  expect((await service.answer).answer.status).toBe(winner?.status)
  expect((await service.audit()).filter(({ kind }) => kind === 'decision')).toHaveLength(1)
})

test('other operators see it and may not decide; an admin may; without a token nobody may', async () => {
  const service = await openAsked()
  expect((await service.approvals.get(eve, service.asked.id)).id).toBe(service.asked.id)

  expect(await refusal(service.approvals.decide(eve, service.asked.id, yes))).toMatchObject({
    code: 'forbidden',
    owner: 'ann',
  })
  const owner = { user: 'ann', role: 'user' } as const
  expect(await refusal(service.approvals.decide(owner, service.asked.id, yes))).toMatchObject({ code: 'forbidden' })
  const stranger = { user: 'bob', role: 'user' } as const
  expect(await refusal(service.approvals.decide(stranger, service.asked.id, yes))).toMatchObject({
    code: 'approval_not_found',
  })
  expect((await service.store.waits.get(service.asked.id))?.status).toBe('pending')

  await service.approvals.decide(root, service.asked.id, yes)
  expect((await service.answer).answer.status).toBe('approved')
})

test('after a handover the new owner decides', async () => {
  const service = await openAsked()
  await service.sessions.handOver(root, service.asked.sessionId, 'eve')

  expect(await refusal(service.decide(yes))).toMatchObject({ code: 'forbidden', owner: 'eve' })
  await service.approvals.decide(eve, service.asked.id, yes)
  expect((await service.answer).answer.status).toBe('approved')
})

test('a decision about something else than was shown is refused', async () => {
  const service = await openAsked()

  expect(await refusal(service.decide({ ...yes, digest: 'f'.repeat(64) }))).toMatchObject({
    code: 'approval_changed',
    approval_id: service.asked.id,
    digest: service.asked.digest,
  })
  await service.decide({ ...yes, digest: service.asked.digest })
  expect((await service.answer).answer.status).toBe('approved')
})

test('whoever only edits approves nothing, also with the same text', async () => {
  const service = await openAsked()

  expect(await refusal(service.decide({ ...yes, onlyEdit: true, content: 'one\nthree\n' }))).toMatchObject({
    code: 'invalid_request',
  })
  expect(await refusal(service.decide({ ...yes, onlyEdit: true, content: 'one\nfour\n' }))).toMatchObject({
    code: 'approval_changed',
  })
  expect(await service.approvals.get(ann, service.asked.id)).toMatchObject({ status: 'pending' })
})

test('an edited text is shown again before its yes, and the agent is told', async () => {
  const service = await openAsked()

  const first = await refusal(service.decide({ ...yes, content: 'one\nfour\n' }))
  expect(first).toMatchObject({
    code: 'approval_changed',
    approval_status: 'pending',
    diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+four\n',
  })
  const edited = (await service.approvals.get(ann, service.asked.id)) as Approval
  expect(edited).toMatchObject({
    status: 'pending',
    digest: Reflect.get(first, 'digest'),
    supervised: { isEdited: true },
  })
  // Whoever has not seen the edit cannot approve it by accident.
  expect(await refusal(service.decide(yes))).toMatchObject({ code: 'approval_changed' })
  expect(await refusal(service.decide({ ...yes, digest: service.asked.digest }))).toMatchObject({
    code: 'approval_changed',
  })

  await service.decide({ ...yes, content: 'one\nfour\n', digest: edited.digest })
  expect((await service.answer).answer).toMatchObject({
    status: 'approved',
    edited: true,
    diff: Reflect.get(first, 'diff'),
  })
  expect((await service.audit()).filter(({ kind }) => kind === 'decision')).toMatchObject([
    { decision: 'edited', digest: service.asked.digest, edited_digest: edited.digest },
    { decision: 'approved', digest: edited.digest },
  ])
})

test('the agent’s own text as content is a plain yes', async () => {
  const service = await openAsked()

  await service.decide({ ...yes, content: 'one\nthree\n' })

  expect((await service.answer).answer).not.toHaveProperty('edited')
})

test('an edit of a file that has changed on disk starts from the file as it is', async () => {
  const service = await openAsked()
  writeFileSync(join(service.workspace, 'a.txt'), 'zero\n')

  expect(await refusal(service.decide({ ...yes, content: 'zero\none\n' }))).toMatchObject({
    code: 'approval_changed',
    diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n zero\n+one\n',
  })
  await service.decide({ decision: 'reject' })
  await service.answer
})

test.each<[string, Decision]>([
  ['remembered for ever', { ...yes, remember: { scope: 'always' } }],
  ['given other arguments', { ...yes, arguments: { a: 1 } }],
  ['answered in its place', { decision: 'respond', result: 'Done.' }],
])('a change cannot be %s', async (_what, decision) => {
  const service = await openAsked()

  expect(await refusal(service.decide(decision))).toMatchObject({ code: 'invalid_request' })
  await service.decide({ decision: 'reject' })
  await service.answer
})

test('an answer after the time is over is told so, and the record has expired', async () => {
  const service = await openAsked()
  await service.clock.advance(50_000)
  await service.answer
  await service.clock.advance(3_600_000)

  expect(await refusal(service.decide(yes))).toMatchObject({ code: 'approval_expired' })
  expect(await service.store.waits.get(service.asked.id)).toMatchObject({ status: 'expired', decidedBy: 'timeout' })
  expect(await refusal(service.decide(yes))).toMatchObject({ code: 'approval_expired' })
  const again = await service.tools.ask_approval(callOf(service.agent), { request_id: service.asked.id })
  expect(again.answer.status).toBe('timeout')
})

test('expiring touches only approvals that wait', async () => {
  const service = await openAsked()
  await service.decide(yes)
  await service.answerAgent.expire(service.asked)

  expect((await service.store.waits.get(service.asked.id))?.status).toBe('approved')
  expect((await service.answer).answer.status).toBe('approved')
})

test('what somebody was shown is on record once, with digest, place and credential', async () => {
  const service = await openAsked()
  await service.noteShown(ann, service.asked.id, service.asked.digest, 'terminal')
  await service.noteShown(ann, service.asked.id, service.asked.digest, 'terminal')

  expect((await service.audit()).filter(({ kind }) => kind === 'shown')).toEqual([
    {
      kind: 'shown',
      by: 'ann',
      approval: service.asked.id,
      digest: service.asked.digest,
      surface: 'terminal',
      channel: 'ctl',
      credential: 'token-ann',
    },
  ])
  expect(await refusal(service.noteShown({ user: 'bob', role: 'user' }, service.asked.id, 'd', 'x'))).toMatchObject({
    code: 'approval_not_found',
  })
  await service.decide({ decision: 'reject' })
  await service.answer
})

test('where two have to say yes, one person cannot do it alone, and an edit asks everybody again', async () => {
  const service = await openAsked({ quorum: sameForEveryRisk(2) })
  const by = (who: typeof ann | typeof root) => (decision: Decision) =>
    service.approvals.decide(who, service.asked.id, decision)

  const { approval } = await by(ann)({ ...yes, force: true })
  expect(approval).toMatchObject({ status: 'pending', quorum: 2, decisions: [{ by: 'ann', via: 'ctl' }] })
  expect(await refusal(by(ann)(yes))).toMatchObject({ code: 'conflict', yeses: 1, needed: 2 })
  const { digest } = await refusal(by(root)({ ...yes, content: 'one\nfour\n' })).then((error) => ({
    digest: '',
    ...error,
  }))
  await by(root)({ ...yes, digest, force: true })
  expect((await service.approvals.get(ann, service.asked.id)).status).toBe('pending')

  const last = await by(ann)({ ...yes, digest })

  expect(last.approval).toMatchObject({
    status: 'approved',
    supervised: { mayForce: false },
    decisions: [{ by: 'root' }, { by: 'ann' }],
  })
  expect((await service.answer).answer).toMatchObject({ status: 'approved', edited: true })
  const trail = (await service.audit()).filter(({ kind }) => kind === 'decision')
  expect(trail.map(({ by: who, decision }) => `${who} ${decision}`)).toEqual([
    'ann yes',
    'root edited',
    'root yes',
    'ann approved',
  ])
})

test('where two have to say yes to a call, the second reads the arguments that the first one edited', async () => {
  const workspace = makeWorkspace({ 'a.txt': 'one\n' })
  const service = openSupervision({ quorum: sameForEveryRisk(2) })
  const input = { file_path: 'a.txt', content: 'two\n' }
  const answer = service.tools.approve_tool(callOf(agentIn(workspace)), { tool_name: 'Write', input })
  const { id } = await service.nextWaiting()
  const readDiff = createReadDiff(service.store)
  expect((await readDiff(await service.approvals.get(root, id)))?.diff).toContain('+two')

  const edited = { file_path: 'a.txt', content: 'th\u200bree\n' }
  await service.approvals.decide(ann, id, { ...yes, arguments: edited })

  const shown = await service.approvals.get(root, id)
  expect(shown).toMatchObject({
    status: 'pending',
    title: 'Call Write with edited arguments',
    description: 'Tool: Write\nfile_path: a.txt\ncontent: "th\\u200bree\\n"\nThe agent asked for this:\nTool: Write',
    risk: 'critical',
    beforeHash: null,
    afterHash: null,
    decisions: [{ by: 'ann' }],
    supervised: { change: null, isEdited: true },
  })
  expect(await readDiff(shown)).toBe(null)
  expect(await refusal(service.approvals.decide(root, id, yes))).toMatchObject({ code: 'approval_changed' })
  await service.approvals.decide(root, id, { ...yes, digest: shown.digest })
  expect((await answer).answer).toEqual({ behavior: 'allow', updatedInput: edited })
})

test.each([
  ['was lowered', 2, 1],
  ['was raised', 1, 2],
])(
  'if the number of people who have to say yes %s since the agent asked, the higher one counts',
  async (_, then, now) => {
    const before = openSupervision({ quorum: sameForEveryRisk(then) })
    const input = { command: 'rm -r build' }
    void before.tools.approve_tool(callOf(agentIn(makeWorkspace({}))), { tool_name: 'Bash', input })
    const { id } = await before.nextWaiting()
    const after = openSupervision({ store: before.store, clock: before.clock, quorum: sameForEveryRisk(now) })

    const { approval } = await after.approvals.decide(ann, id, yes)

    expect(approval).toMatchObject({ status: 'pending', quorum: 2, decisions: [{ by: 'ann' }] })
    expect((await after.approvals.decide(root, id, yes)).approval.status).toBe('approved')
  },
)

test('the first no closes, however many have said yes', async () => {
  const service = await openAsked({ quorum: sameForEveryRisk(3) })
  await service.decide(yes)
  await service.decide({ decision: 'reject' }, root)

  expect((await service.answer).answer.status).toBe('rejected')
})

const people = [
  { name: 'ann', console: 'ann@work', group: null, admin: false, local: true },
  { name: 'eve', console: null, group: 'night', admin: false, local: false },
  { name: 'root', console: null, group: null, admin: true, local: false },
]

test('whoever the escalation names may decide after its time, and not before, and the trail says so', async () => {
  const operators = configuredOperators(people, [{ afterMs: 600_000, to: ['night'] }])
  const service = await openAsked({ operators })
  expect(await refusal(service.decide(yes, eve))).toMatchObject({ code: 'forbidden' })
  await service.passTime(50_000)
  await service.answer
  await service.clock.advance(550_000)

  expect((await service.decide(yes, eve)).approval).toMatchObject({ status: 'approved', decidedBy: 'eve' })
  expect((await service.audit()).at(-1)).toMatchObject({ by: 'eve', decision: 'approved', escalated: true })
})

test('a person who comes under several names owns what is theirs, and counts once', async () => {
  const service = await openAsked({ operators: configuredOperators(people), quorum: sameForEveryRisk(2) })
  const inConsole = { user: 'ann@work', role: 'operator' } as const
  const atFirstStart = { user: 'operator', role: 'operator' } as const

  await service.decide(yes, inConsole)
  for (const again of [ann, atFirstStart, inConsole]) {
    expect(await refusal(service.decide(yes, again))).toMatchObject({ code: 'conflict', yeses: 1, needed: 2 })
  }

  expect((await service.decide(yes, root)).approval.status).toBe('approved')
  await service.answer
  expect((await service.audit()).filter((one) => 'escalated' in one)).toEqual([])
})

test('among several, an admin whom the settings do not name does not count, and is told so', async () => {
  const service = await openAsked({ operators: configuredOperators(people), quorum: sameForEveryRisk(2) })
  const boss = { user: 'corp:boss', role: 'operator', groups: ['sre'], isAdmin: true } as const
  await service.decide(yes)

  await expect(service.decide(yes, boss)).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('"corp:boss" is none of them.'),
  })
  expect((await service.approvals.get(ann, service.asked.id)).decisions).toMatchObject([{ by: 'ann' }])
  // One no is enough, and an admin may say it.
  expect((await service.decide({ decision: 'reject' }, boss)).approval.status).toBe('rejected')
  await service.answer
})

test('a member of a group that the settings name counts among several', async () => {
  const operators = configuredOperators(people, [], [{ group: 'sre', admin: true }])
  const service = await openAsked({ operators, quorum: sameForEveryRisk(2) })
  await service.decide(yes)

  const member = { user: 'corp:boss', role: 'operator', groups: ['sre'] } as const
  expect((await service.decide(yes, member)).approval.status).toBe('approved')
  await service.answer
})

test('a yes to what is critical, or was edited, needs a passkey once somebody has one', async () => {
  const { proofs, register, prove } = openProofs()
  const key = await register('ann')
  const workspace = makeWorkspace({ 'a.txt': 'one\ntwo\n' })
  const service = openSupervision({ stepUp: proofs })
  const ask = async (args: object) => {
    void service.tools.ask_approval(callOf(agentIn(workspace)), {
      title: 'Change',
      diff: 'one\nthree\n',
      file_path: 'a.txt',
      ...args,
    })
    const asked = await service.nextWaiting()
    if (asked.wait !== 'approval') throw new Error('not an approval')
    return asked
  }

  const { id, digest } = await ask({ risk_level: 'critical' })
  expect(await refusal(service.approvals.decide(ann, id, yes))).toMatchObject({ code: 'passkey_required' })
  expect(await service.approvals.get(ann, id)).toMatchObject({ status: 'pending' })
  const purpose = { kind: 'decision', approvalId: id, digest, decision: 'approve', remember: null } as const
  const proof = await prove('ann', purpose, key)
  expect(await service.approvals.decide({ ...ann, proof }, id, yes)).toMatchObject({ approval: { status: 'approved' } })
  expect((await service.audit()).find(({ kind }) => kind === 'decision' || kind === 'diff')).toMatchObject({
    passkey: expect.any(String),
  })
})
