// Groups and remembered decisions of agents elsewhere, at the doors.

import { expect, test } from 'vitest'
import { ulidOf } from '../../../domain/ids.ts'
import type { SupervisedApproval } from '../../../domain/records/record.ts'
import { askElsewhere } from '../../../supervision/testing/ask-elsewhere.ts'
import { asEve, asLocalUser, asOperator, refusalOf } from '../../testing/open-doors.ts'
import { openSupervisedDoors } from '../../testing/open-supervised-doors.ts'
import { GrantSchema, GroupDecidedSchema } from './schema.ts'

type Values = Parameters<typeof askElsewhere>[3]

async function openAsked(count: number, values: Values = {}) {
  const doors = await openSupervisedDoors()
  const session = await doors.open()
  const { takeStep } = doors.elsewhere
  const ask = (more: Values = {}) => askElsewhere(takeStep, session, doors.ids.uuid(), { ...values, ...more })
  const asked: SupervisedApproval[] = []
  for (let i = 0; i < count; i += 1) asked.push(await ask())
  return {
    ...doors,
    session,
    ask,
    asked,
    decide: (decision: string, items: readonly { id: string; digest: string }[], more: object = {}) =>
      doors.post(
        '/approvals',
        { decision, items: items.map(({ id, digest }) => ({ id, digest })), ...more },
        asOperator,
      ),
    statuses: async () => {
      const found = await Promise.all(asked.map(({ id }) => doors.store.waits.get(id)))
      return found.map((one) => one?.status)
    },
    trail: async () =>
      (await doors.store.audit.entries(0, 1_000))
        .map(({ text }) => JSON.parse(text))
        .filter(({ kind }) => kind === 'decision'),
  }
}

test('a group is decided after one look, each with its own digest and entry in the trail', async () => {
  await using doors = await openAsked(3)
  const answer = await doors.decide('approve', doors.asked, { reason: 'Fine.', looked_at: { whole: true } })

  expect([answer.status, GroupDecidedSchema.parse(await answer.json())]).toEqual([
    200,
    { items: doors.asked.map(({ id }) => ({ approval_id: id, status: 'approved' })) },
  ])
  expect(await doors.trail()).toMatchObject(
    doors.asked.map(({ id, digest }) => ({
      by: 'operator',
      details: { approval: id, digest, decision: 'approved', group: true, group_size: 3 },
    })),
  )
  // The same request again decides nothing more.
  const again = GroupDecidedSchema.parse(await (await doors.decide('reject', doors.asked)).json())
  expect(again.items).toEqual(
    doors.asked.map(({ id }) => ({
      approval_id: id,
      status: 'approved',
      error: { code: 'approval_decided', message: expect.stringContaining('already approved') },
    })),
  )
})

test('one that has changed or was decided meanwhile says so, and the others go on', async () => {
  await using doors = await openAsked(3)
  const [first, second, third] = doors.asked
  if (first === undefined || second === undefined || third === undefined) throw new Error('nothing was asked')
  await doors.post(`/approvals/${first.id}`, { decision: 'reject', reason: 'No.' }, asOperator)
  const items = [first, { id: ulidOf(second.id), digest: 'other' }, third]
  const { items: decided } = GroupDecidedSchema.parse(await (await doors.decide('approve', items)).json())

  expect(decided).toEqual([
    { approval_id: first.id, status: 'rejected', error: expect.objectContaining({ code: 'approval_decided' }) },
    { approval_id: second.id, status: 'pending', error: expect.objectContaining({ code: 'approval_changed' }) },
    { approval_id: third.id, status: 'approved' },
  ])
})

test.each<[string, Values]>([
  ['a higher risk', { risk: 'high' }],
  ['a critical risk', { risk: 'critical' }],
  ['another tool', { tool: 'Shell' }],
  ['nothing in common', { matches: [{ type: 'begins', words: ['npm', 'run'] }] }],
  ['several people to ask', { quorum: 2 }],
])('with one of %s among them nothing is decided', async (_, values) => {
  await using doors = await openAsked(2)
  const odd = await doors.ask(values)
  const answer = await doors.decide('approve', [...doors.asked, odd])

  expect(await answer.json()).toMatchObject({
    status: 400,
    code: 'invalid_request',
    detail: 'These are not one group, so nothing was decided. Decide about each by itself.',
    errors: [{ pointer: '/items/2/id' }],
  })
  expect(await doors.statuses()).toEqual(['pending', 'pending'])
  // Nor is it a group by itself.
  if (odd.risk !== 'low' || odd.quorum === 2) expect((await doors.decide('approve', [odd])).status).toBe(400)
})

test('nobody decides with a body that is not clear, or without being an operator', async () => {
  await using doors = await openAsked(1)
  const [one] = doors.asked
  if (one === undefined) throw new Error('nothing was asked')
  const twice = [one, { ...one, id: ulidOf(one.id) }]
  expect(await refusalOf(await doors.decide('approve', twice))).toEqual({ status: 400, code: 'invalid_request' })
  expect(await refusalOf(await doors.decide('approve', []))).toEqual({ status: 400, code: 'invalid_request' })
  expect(await refusalOf(await doors.decide('respond', [one]))).toEqual({ status: 400, code: 'invalid_request' })
  expect(
    (
      await doors.decide(
        'approve',
        Array.from({ length: 101 }, () => one),
      )
    ).status,
  ).toBe(400)
  const unknown = { id: doors.ids.uuid(), digest: 'x' }
  expect(await refusalOf(await doors.decide('approve', [one, unknown]))).toEqual({
    status: 404,
    code: 'approval_not_found',
  })
  const body = { decision: 'approve', items: [{ id: one.id, digest: one.digest }] }
  expect((await doors.post('/approvals', body, asLocalUser)).status).toBe(403)
  expect(await doors.statuses()).toEqual(['pending'])
})

test('whoever may decide about none of a group is refused as for one of them', async () => {
  await using doors = await openAsked(2)
  const items = doors.asked.map(({ id, digest }) => ({ id, digest }))
  const answer = await doors.post('/approvals', { decision: 'approve', items }, asEve)

  // Only what a request fails with is on record as refused.
  expect(await refusalOf(answer)).toEqual({ status: 403, code: 'forbidden' })
  expect(await doors.statuses()).toEqual(['pending', 'pending'])
})

test('what is remembered for an agent elsewhere is listed in words, and is revoked', async () => {
  await using doors = await openAsked(1)
  const [one] = doors.asked
  const grant = { match: one?.matches?.[1] }
  const yes = await doors.post(
    `/approvals/${one?.id}`,
    { decision: 'approve', remember: 'workspace', grant },
    asOperator,
  )
  expect(yes.status).toBe(200)
  const list = async () => {
    const { grants } = (await (await doors.get('/grants', asOperator)).json()) as { grants: unknown[] }
    return grants.map((each) => GrantSchema.parse(each))
  }
  const [made] = await list()
  expect(made).toMatchObject({
    agent: 'claude',
    tool: 'Bash',
    effect: 'allow',
    where: {},
    session_id: null,
    scope: 'workspace',
    label: 'Commands that begin with npm test',
    match: grant.match,
    workspace: '/srv/shop',
    owner: 'local_user',
    granted_by: 'operator',
    approval_id: one?.id,
    expires_at: null,
  })
  const gone = await fetch(`${doors.url}/grants/${made?.grant_id}`, { method: 'DELETE', headers: asOperator })
  expect([gone.status, await list()]).toEqual([204, []])
})
