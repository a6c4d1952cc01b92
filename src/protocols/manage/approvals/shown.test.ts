// What a person is shown before they decide, and what they may do with it: look at secrets, try an edit, say what they saw.

import { describe, expect, test } from 'vitest'
import { testTool } from '../../../engine/testing/open-engine.ts'
import { asAda, asConsole, asLocalUser, asOperator, refusalOf } from '../../testing/open-doors.ts'
import { interruptsOf, openGatedDoors, says } from '../../testing/open-gated-doors.ts'
import { EditCheckSchema, ShownApprovalSchema } from './schema.ts'

const nobody = '0192f3a1-7b2c-7def-8abc-0123456789ab'
const pay = {
  to: 'shop\u200b',
  url: 'https://p\u0430y.example/pay',
  api_key: 'sk-secret',
  headers: { Authorization: 'Bearer hidden', Accept: '*' },
}

/** An agent that asks to pay. Gives the approval, and what the tool got. */
async function openAsked(args: Record<string, unknown> = pay, { owner = asLocalUser } = {}) {
  const paid: unknown[] = []
  const tool = testTool({
    name: 'pay',
    effect: 'once',
    risk: 'high',
    parameters: {
      type: 'object',
      properties: { to: { type: 'string', minLength: 1 }, amount: { type: 'number' } },
      required: ['to'],
    },
    preview: async (given) => `Pays ${String(given.to)}.`,
    call: async ({ arguments: given }) => {
      paid.push(given)
      return { content: 'Paid.', isError: false }
    },
  })
  const doors = await openGatedDoors({
    tools: [tool],
    answers: [{ parts: [{ tool_call: { name: 'pay', arguments: args } }] }, says('Done.')],
  })
  const input = { threadId: 't', runId: doors.ids.uuid(), messages: [{ id: 'm', role: 'user', content: 'Go.' }] }
  const [first] = interruptsOf(await doors.run('/', input, owner))
  const id = first?.id ?? ''
  const show = async (query = '', headers: Record<string, string> = asOperator) =>
    ShownApprovalSchema.parse(await (await doors.get(`/approvals/${id}${query}`, headers)).json())
  const trail = async () =>
    (await doors.store.audit.entries(0, 1_000))
      .map(({ text }) => JSON.parse(text))
      .map(({ kind, by, details }) => ({ kind, by, ...details }))
  return Object.assign(doors, { id, paid, show, trail })
}

type Asked = Awaited<ReturnType<typeof openAsked>>

const check = (doors: Asked, body: unknown, headers: Record<string, string> = asOperator) =>
  doors.post(`/approvals/${doors.id}/check`, body, headers)
const reveal = (doors: Asked, body: unknown, headers: Record<string, string> = asOperator) =>
  doors.post(`/approvals/${doors.id}/reveal`, body, headers)
const decide = (doors: Asked, body: unknown, headers: Record<string, string> = asOperator) =>
  doors.post(`/approvals/${doors.id}`, body, headers)

describe('GET /approvals/{id}', () => {
  test('shows everything that would run, with marks, masks and warnings', async () => {
    await using doors = await openAsked()
    const { shown, risk, arguments: exact } = await doors.show()

    expect(risk).toBe('critical')
    expect(exact).toEqual(pay)
    expect(shown).toEqual({
      arguments: [
        { name: 'to', text: 'shop<U+200B>', json: false, secret: false, hidden: 1, bytes: 7, cut: null },
        { name: 'url', text: pay.url, json: false, secret: false, hidden: 0, bytes: 24, cut: null },
        { name: 'api_key', text: '[masked]', json: false, secret: true, hidden: 0, bytes: 8, cut: null },
        {
          name: 'headers',
          text: '{\n  "Authorization": "[masked]",\n  "Accept": "*"\n}',
          json: true,
          secret: true,
          hidden: 0,
          bytes: 50,
          cut: null,
        },
      ],
      warnings: [
        'The arguments have hidden characters. They are written as marks, such as <U+202E>.',
        'Look closely: "https://p<U+0430>y.example/pay" has letters that look like others.',
      ],
    })
  })

  test('cuts a long value and says so, unless everything is asked for', async () => {
    await using doors = await openAsked({ to: 'x'.repeat(300_000) })
    const sizes = async (query = '') => {
      const { shown } = await doors.show(query)
      return [shown.arguments[0]?.text.length, shown.arguments[0]?.cut?.shown_bytes]
    }

    expect(await sizes()).toEqual([200_000, 200_000])
    expect(await sizes('?include=all')).toEqual([300_000, undefined])
    expect(await sizes('?include=content,all')).toEqual([300_000, undefined])
    expect(await refusalOf(await doors.get(`/approvals/${doors.id}?include=more`, asOperator))).toEqual({
      status: 400,
      code: 'invalid_request',
    })
  })

  test('gives the console no secrets, anywhere', async () => {
    await using doors = await openAsked()
    const grant = { decision: 'approve', remember: 'always', grant: { where: { api_key: 'sk-secret' } } }
    for (const path of [`/approvals/${doors.id}`, '/approvals', '/inbox']) {
      const text = await (await doors.get(path, asConsole)).text()
      expect([path, /sk-secret|Bearer hidden/.test(text), text.includes('[masked]')]).toEqual([path, false, true])
    }
    const { digest } = await doors.show()
    const decided = await decide(
      doors,
      { decision: 'reject', remember: 'always', grant: grant.grant, digest },
      asConsole,
    )
    expect([decided.status, (await decided.text()).includes('sk-secret')]).toEqual([200, false])
    expect(await (await doors.get('/grants', asConsole)).text()).not.toContain('sk-secret')
    expect(await (await doors.get('/grants', asOperator)).text()).toContain('sk-secret')
  })
})

describe('POST /approvals/{id}/reveal', () => {
  test('shows one secret with marks, and each look is on record before it', async () => {
    await using doors = await openAsked({ to: 'ann', token: 'a\u202eb', headers: { Authorization: 'x' } })

    expect(await (await reveal(doors, { name: 'token' }, asConsole)).json()).toEqual({
      name: 'token',
      text: 'a<U+202E>b',
    })
    expect(await (await reveal(doors, { name: 'headers' })).json()).toEqual({
      name: 'headers',
      text: '{\n  "Authorization": "x"\n}',
    })
    await reveal(doors, { name: 'token' }, asConsole)
    const { digest } = await doors.show()
    expect((await doors.trail()).filter(({ kind }) => kind === 'revealed')).toMatchObject([
      { by: 'operator', approval: doors.id, name: 'token', channel: 'console', credential: 'token-of-a-browser' },
      { by: 'operator', approval: doors.id, digest, name: 'headers' },
      { by: 'operator', approval: doors.id, digest, name: 'token' },
    ])
  })

  test('takes the name as it is shown', async () => {
    await using doors = await openAsked({ to: 'ann', 'to\u202eken token': 'x' })
    expect(await (await reveal(doors, { name: 'to<U+202E>ken token' })).json()).toMatchObject({ text: 'x' })
    expect((await reveal(doors, { name: 'to\u202eken token' })).status).toBe(400)
  })

  test.each([
    ['a name that the call does not have', { name: 'nothing' }, asOperator, 400, 'invalid_request'],
    ['no name', {}, asOperator, 400, 'invalid_request'],
    ['no token', { name: 'to' }, {}, 403, 'forbidden'],
    ['the owner, who may not decide what is critical', { name: 'to' }, asLocalUser, 403, 'forbidden'],
    ['another user', { name: 'to' }, asAda, 404, 'approval_not_found'],
  ])('refuses %s, and puts nothing on record', async (_, body, headers: Record<string, string>, status, code) => {
    await using doors = await openAsked()
    expect(await refusalOf(await reveal(doors, body, headers))).toEqual({ status, code })
    expect((await doors.trail()).filter(({ kind }) => kind === 'revealed')).toEqual([])
  })
})

describe('POST /approvals/{id}/check', () => {
  const parsed = async (answer: Response) => EditCheckSchema.parse(await answer.json())

  test('says what would run, what is new and how dangerous it is, and decides nothing', async () => {
    await using doors = await openAsked({ to: 'ann', api_key: 'sk-secret' })
    const { digest } = await doors.show()

    expect(
      await parsed(await check(doors, { arguments: { to: 'eve\u202e', api_key: '[masked]', amount: 3 } })),
    ).toEqual({
      ok: true,
      problems: [],
      risk: 'critical',
      shown: {
        arguments: [
          { name: 'to', text: 'eve<U+202E>', json: false, secret: false, hidden: 1, bytes: 6, cut: null },
          { name: 'api_key', text: '[masked]', json: false, secret: true, hidden: 0, bytes: 8, cut: null },
          { name: 'amount', text: '3', json: true, secret: false, hidden: 0, bytes: 1, cut: null },
        ],
        warnings: ['The arguments have hidden characters. They are written as marks, such as <U+202E>.'],
      },
      changes: [
        { name: 'to', before: 'ann', after: 'eve<U+202E>' },
        { name: 'amount', before: null, after: '3' },
      ],
      preview: 'Pays eve<U+202E>.',
      change: null,
    })
    expect(await doors.show()).toMatchObject({ status: 'pending', digest, risk: 'high', edited_arguments: null })
    expect(doors.paid).toEqual([])
  })

  test('says why the tool would not take it', async () => {
    await using doors = await openAsked()
    const { ok, problems, changes } = await parsed(await check(doors, { arguments: { to: '', amount: 'many' } }))
    expect([ok, problems.length]).toEqual([false, 2])
    expect(changes.map(({ name, after }) => [name, after])).toEqual([
      ['to', ''],
      ['url', null],
      ['api_key', null],
      ['headers', null],
      ['amount', 'many'],
    ])
    expect((await parsed(await check(doors, { content: 'x' }))).problems).toEqual([
      'Only a change by an agent elsewhere can be edited as a file.',
    ])
  })

  test('what was checked can be approved, and a mask runs as its secret', async () => {
    await using doors = await openAsked({ to: 'ann', api_key: 'sk-secret', list: [{ token: 'A' }, { token: 'B' }] })
    const edited = { to: 'eve', api_key: '[masked]', list: [{ token: '[masked]' }, { token: '[masked]' }] }
    expect((await parsed(await check(doors, { arguments: edited }, asConsole))).ok).toBe(true)
    const { digest } = await doors.show('', asConsole)
    const decided = await decide(doors, { decision: 'approve', digest, arguments: edited }, asConsole)
    const { continuation_run_id } = (await decided.json()) as { continuation_run_id: string }
    await (await doors.get(`/runs/${continuation_run_id}/events`)).text()

    expect(doors.paid).toEqual([{ to: 'eve', api_key: 'sk-secret', list: [{ token: 'A' }, { token: 'B' }] }])
  })

  test.each([
    ['a mask without a secret', { arguments: { to: 'ann', password: '[masked]' } }, asOperator, 400, 'invalid_request'],
    ['neither arguments nor content', {}, asOperator, 400, 'invalid_request'],
    ['both', { arguments: {}, content: '' }, asOperator, 400, 'invalid_request'],
    ['no token', { arguments: {} }, {}, 403, 'forbidden'],
    ['another user', { arguments: {} }, asAda, 404, 'approval_not_found'],
  ])('refuses %s', async (_, body, headers: Record<string, string>, status, code) => {
    await using doors = await openAsked()
    expect(await refusalOf(await check(doors, body, headers))).toEqual({ status, code })
  })

  test('is late once somebody has decided, or the time is over', async () => {
    await using doors = await openAsked()
    await decide(doors, { decision: 'reject' })
    expect(await refusalOf(await check(doors, { arguments: {} }))).toEqual({ status: 409, code: 'approval_decided' })
    expect((await doors.post(`/approvals/${nobody}/check`, { arguments: {} }, asOperator)).status).toBe(404)
    await using late = await openAsked()
    late.wait(24 * 3_600_000)
    expect(await refusalOf(await check(late, { arguments: {} }))).toEqual({ status: 410, code: 'approval_expired' })
  })
})

describe('a decision', () => {
  test('by the console must name the digest that was shown', async () => {
    await using doors = await openAsked()
    for (const decision of ['approve', 'reject']) {
      const refused = await decide(doors, { decision }, asConsole)
      expect(await refused.json()).toMatchObject({
        status: 400,
        errors: [{ pointer: '/digest', detail: 'Send the digest of what you showed.' }],
      })
    }
    const other = await decide(doors, { decision: 'approve', digest: 'x' }, asConsole)
    expect(await refusalOf(other)).toEqual({ status: 409, code: 'approval_changed' })
    const resume = [{ interruptId: doors.id, status: 'resolved', payload: { approved: true } }]
    const input = { threadId: 't', runId: doors.ids.uuid(), messages: [], resume }
    expect(await refusalOf(await doors.post('/', input, asConsole))).toEqual({ status: 400, code: 'invalid_request' })
    const { digest } = await doors.show('', asConsole)
    const decided = await decide(doors, { decision: 'approve', digest }, asConsole)
    expect(await decided.json()).toMatchObject({ status: 'approved', decided_channel: 'console' })
    expect(await doors.trail()).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'shown', surface: 'console', digest }),
        expect.objectContaining({ kind: 'decision', channel: 'console', credential: 'token-of-a-browser' }),
      ]),
    )
  })

  const parts = Array.from({ length: 7 }, (_, i) => ({ name: `part${i}\u202e`, shown: i, total: 100 }))
  test.each([
    ['everything', { whole: true }, 'everything'],
    ['a part', { whole: false, not_seen: parts.slice(0, 1) }, 'not everything: part0<U+202E> (0 of 100 bytes)'],
    ['who knows what', { whole: false }, 'not everything'],
    [
      'many parts',
      { whole: false, not_seen: parts },
      'not everything: part0<U+202E> (0 of 100 bytes), part1<U+202E> (1 of 100 bytes), part2<U+202E> (2 of 100 bytes), part3<U+202E> (3 of 100 bytes), part4<U+202E> (4 of 100 bytes), 2 more',
    ],
  ])('says that the person looked at %s, and the trail keeps it', async (_, looked_at, words) => {
    await using doors = await openAsked()
    expect(await (await decide(doors, { decision: 'reject', looked_at })).json()).toMatchObject({
      status: 'rejected',
      decided_channel: 'http',
    })
    const decided = (await doors.trail()).filter(({ kind }) => kind === 'decision')
    expect(decided).toMatchObject([{ decision: 'rejected', looked_at: words }])
  })

  test.each([
    [{ whole: 'yes' }],
    [{ whole: false, not_seen: [{ name: 'x', shown: -1, total: 1 }] }],
    [{ whole: false, not_seen: Array.from({ length: 101 }, () => ({ name: 'x', shown: 0, total: 1 })) }],
  ])('is refused with a looked_at that cannot be: %#', async (looked_at) => {
    await using doors = await openAsked()
    expect((await decide(doors, { decision: 'reject', looked_at })).status).toBe(400)
  })
})
