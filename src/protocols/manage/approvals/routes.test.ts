import { describe, expect, test } from 'vitest'
import { ulidOf } from '../../../domain/ids.ts'
import { outline } from '../../../engine/testing/open-engine.ts'
import { asAda, asLocalUser, asOperator, eventsOf, refusalOf } from '../../testing/open-doors.ts'
import { calls, interruptsOf, openGatedDoors, says } from '../../testing/open-gated-doors.ts'
import { readSse } from '../../testing/sse-reader.ts'
import { ApprovalSchema } from '../records/kinds/approval.ts'
import { GrantSchema, ShownApprovalSchema } from './schema.ts'

type Doors = Awaited<ReturnType<typeof openGatedDoors>>
type Headers = Record<string, string>

const nobody = '0192f3a1-7b2c-7def-8abc-0123456789ab'
const sending = { answers: [calls(['send', 'bob']), says('Done.')] }
const noting = { answers: [calls(['note', 'bob']), says('Done.')] }

/** Lets the agent ask in a thread; gives the ids of what it asks. */
async function ask(doors: Doors, threadId = 'thread', headers: Headers = {}): Promise<string[]> {
  const message = { id: `${threadId} ${doors.ids.uuid()}`, role: 'user', content: 'Go.' }
  const input = { threadId, runId: doors.ids.uuid(), messages: [message] }
  return interruptsOf(await doors.run('/', input, headers)).map(({ id }) => id)
}

const decide = (doors: Doors, id: string, body: unknown, headers: Headers = asOperator) =>
  doors.post(`/approvals/${id}`, body, headers)

async function list(doors: Doors, query = '', headers: Headers = asOperator) {
  const response = await doors.get(`/approvals${query}`, headers)
  expect(response.status).toBe(200)
  const { approvals } = (await response.json()) as { approvals: { approval_id: string; status: string }[] }
  return { ids: approvals.map(({ approval_id }) => approval_id), link: response.headers.get('link'), approvals }
}

/** How the run that went on after an answer ended. */
async function continued(doors: Doors, decided: Response): Promise<string[]> {
  const { continuation_run_id } = ApprovalSchema.parse(await decided.json())
  return outline(eventsOf(await readSse(await doors.get(`/runs/${continuation_run_id}/events`)).rest()))
}

describe('an invalid decision', () => {
  test('is not even read where there is nothing to decide', async () => {
    await using doors = await openGatedDoors(sending)
    const headers = { 'Content-Type': 'application/json', ...asOperator }

    const answer = await fetch(`${doors.url}/approvals/${nobody}`, { method: 'POST', headers, body: '{"broken' })

    expect(await refusalOf(answer)).toEqual({ status: 404, code: 'approval_not_found' })
  })

  test.each([
    ['{"decision":"reject","decision":"approve"}'],
    ['{"decision":"approve","arguments":{"to":"bob","to":"eve"}}'],
    ['{"decision":"approve","arguments":{"to":"bob","t\\u006f":"eve"}}'],
  ])('is refused if it says two things under one key: %s', async (body) => {
    await using doors = await openGatedDoors(sending)
    const [id = ''] = await ask(doors)
    const headers = { 'Content-Type': 'application/json', ...asOperator }

    const answer = await fetch(`${doors.url}/approvals/${id}`, { method: 'POST', headers, body })

    expect(await answer.json()).toMatchObject({
      status: 400,
      code: 'malformed_json',
      detail: expect.stringContaining('same key twice'),
    })
    expect([(await list(doors)).ids, doors.delivered]).toEqual([[id], []])
  })

  test('is refused so in AG-UI’s resume too, whose other inputs may say anything twice', async () => {
    await using doors = await openGatedDoors(sending)
    const [id = ''] = await ask(doors)
    const send = (path: string, body: string) =>
      fetch(`${doors.url}${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...asOperator },
        body,
      })
    const answer = `[{"interruptId":"${id}","status":"resolved","payload":{"approved":false,"approved":true}}]`
    const input = (resume: string) => `{"threadId":"thread","runId":"r2","messages":[],"resume":${resume}}`

    const single = `{"method":"agent/run","params":{"agentId":"default"},"body":${input(answer)}}`
    for (const [path, body] of [
      ['/', input(answer)],
      ['/agents/tester', input(answer)],
      ['/copilotkit/agent/default/run', input(answer)],
      ['/copilotkit', single],
    ] as const) {
      expect([path, await refusalOf(await send(path, body))]).toEqual([path, { status: 400, code: 'malformed_json' }])
    }
    expect([(await list(doors)).ids, doors.delivered]).toEqual([[id], []])
    const twice = '{"threadId":"other","runId":"r3","runId":"r3","messages":[],"resume":[]}'
    expect((await send('/', twice)).status).toBe(200)
  })

  test('is refused when it is larger than any decision, or has too many conditions', async () => {
    await using doors = await openGatedDoors(sending)
    const [id = ''] = await ask(doors)
    const reject = { decision: 'reject', reason: 'x'.repeat(12_000_001) }
    const where = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`k${i}`, {}]))

    expect(await refusalOf(await decide(doors, id, reject))).toEqual({ status: 413, code: 'body_too_large' })
    const many = await decide(doors, id, { decision: 'approve', remember: 'always', grant: { where } })
    expect(await many.json()).toMatchObject({
      status: 400,
      errors: [{ pointer: '/grant/where', detail: 'A grant has at most 100 conditions.' }],
    })
  })
})

describe('GET /approvals', () => {
  test('shows all there is to know about what waits', async () => {
    await using doors = await openGatedDoors(sending)
    const [id] = await ask(doors)
    const session = await doors.engine.sessions.get('local_user', 'thread')

    const { approvals } = await list(doors)

    expect(approvals).toEqual([
      {
        approval_id: id,
        status: 'pending',
        kind: 'tool_call',
        title: 'Call send',
        description: expect.stringContaining('bob'),
        action: null,
        preview: null,
        question: null,
        response: null,
        risk: 'high',
        tool: 'send',
        arguments: { to: 'bob' },
        edited_arguments: null,
        agent: 'tester',
        session_id: session.id,
        run_id: expect.any(String),
        continuation_run_id: null,
        tool_call_id: expect.stringMatching(/^call_/),
        answerable_by: 'owner',
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        policy_version: expect.stringMatching(/^[0-9a-f]{64}-[0-9a-f]{64}$/),
        before_hash: null,
        after_hash: null,
        created_at: expect.any(String),
        expires_at: expect.any(String),
        decided_at: null,
        decided_by: null,
        decided_channel: null,
        nobody_waits_since: null,
        host: null,
        change: null,
        edited: false,
        quorum: 1,
        decisions: [],
        view: expect.objectContaining({ title: 'send', asks: 'asks to call a tool', body: [] }),
        reason: null,
        consumed_at: null,
      },
    ])
    expect(approvals.map((one) => ApprovalSchema.safeParse(one).success)).toEqual([true])
  })

  test('shows a user those of their own sessions, an operator all', async () => {
    await using doors = await openGatedDoors({ answers: [calls(['send', 'bob'])] })
    const [ours] = await ask(doors)
    const [hers] = await ask(doors, 'hers', asAda)

    expect((await list(doors, '', {})).ids).toEqual([ours])
    expect((await list(doors, '', asAda)).ids).toEqual([hers])
    expect((await list(doors)).ids).toEqual([hers, ours])
  })

  test('can be narrowed to a state and to a session, by its id or its own name for it', async () => {
    await using doors = await openGatedDoors({
      answers: [calls(['send', 'bob']), calls(['send', 'eve']), says('Done.')],
    })
    const [one = ''] = await ask(doors, 'one')
    const [two = ''] = await ask(doors, 'two')
    await continued(doors, await decide(doors, one, { decision: 'reject' }))
    const session = await doors.engine.sessions.get('local_user', 'two')

    expect((await list(doors)).ids).toEqual([two])
    expect((await list(doors, '?status=rejected')).ids).toEqual([one])
    expect((await list(doors, '?status=all')).ids).toEqual([two, one])
    expect((await list(doors, '?status=all&session_id=one')).ids).toEqual([one])
    expect((await list(doors, `?status=all&session_id=${ulidOf(session.id)}`)).ids).toEqual([two])
    expect((await list(doors, `?session_id=${nobody}`)).ids).toEqual([])
  })

  test('comes in pages, newest first, each with a link to the next', async () => {
    const answers = [calls(['send', 'a'], ['send', 'b'], ['send', 'c'], ['send', 'd'], ['send', 'e'])]
    await using doors = await openGatedDoors({ answers })
    const asked = await ask(doors)

    const pages: string[][] = []
    let path: string | undefined = '?limit=2&status=pending'
    while (path !== undefined && pages.length < 10) {
      const { ids, link } = await list(doors, path)
      pages.push(ids)
      path = /^<\/approvals(\?.*)>; rel="next"$/.exec(link ?? '')?.[1]
    }

    expect(pages.map((page) => page.length)).toEqual([2, 2, 1])
    expect(pages.flat().toSorted()).toEqual(asked.toSorted())
  })

  test.each([
    ['?status=open', 400, 'invalid_request', 'status'],
    ['?limit=0', 400, 'invalid_request', 'limit'],
    ['?limit=101', 400, 'invalid_request', 'limit'],
    [`?before=${nobody}`, 400, 'invalid_request', 'before'],
  ])('refuses %s and names the parameter', async (query, status, code, pointer) => {
    await using doors = await openGatedDoors()

    const response = await doors.get(`/approvals${query}`, asOperator)

    expect(await response.json()).toMatchObject({ status, code, errors: [{ pointer }] })
  })

  test('does not show a user somebody else’s session', async () => {
    await using doors = await openGatedDoors(sending)
    await ask(doors, 'hers', asAda)
    const session = await doors.engine.sessions.get('ada', 'hers')

    expect(await refusalOf(await doors.get(`/approvals?session_id=${session.id}`))).toEqual({
      status: 404,
      code: 'session_not_found',
    })
  })
})

describe('GET /approvals/{id}', () => {
  test('shows one, under either spelling of its id', async () => {
    await using doors = await openGatedDoors(sending)
    const [id = ''] = await ask(doors)

    expect(await (await doors.get(`/approvals/${id}`)).json()).toMatchObject({ approval_id: id, status: 'pending' })
    expect(await (await doors.get(`/approvals/${ulidOf(id)}`)).json()).toMatchObject({ approval_id: id })
  })

  test.each([nobody, 'nonsense'])('knows no %s', async (id) => {
    await using doors = await openGatedDoors()

    expect(await refusalOf(await doors.get(`/approvals/${id}`, asOperator))).toEqual({
      status: 404,
      code: 'approval_not_found',
    })
  })

  test('does not show a user somebody else’s', async () => {
    await using doors = await openGatedDoors(sending)
    const [id] = await ask(doors, 'hers', asAda)

    expect((await doors.get(`/approvals/${id}`)).status).toBe(404)
    expect((await doors.get(`/approvals/${id}`, asAda)).status).toBe(200)
    expect((await doors.get(`/approvals/${id}`, asOperator)).status).toBe(200)
  })
})

describe('POST /approvals/{id}', () => {
  test('takes the digest of what was shown; another is 409 with the question that waits', async () => {
    await using doors = await openGatedDoors(sending)
    const [id = ''] = await ask(doors)
    const { digest } = ShownApprovalSchema.parse(await (await doors.get(`/approvals/${id}`, asOperator)).json())

    const refused = await decide(doors, id, { decision: 'approve', digest: 'other' })
    expect(await refused.json()).toMatchObject({
      status: 409,
      code: 'approval_changed',
      approval_id: id,
      digest,
    })
    expect((await decide(doors, id, { decision: 'approve', digest })).status).toBe(200)
  })

  test('carries out what was approved, once', async () => {
    await using doors = await openGatedDoors(sending)
    const [id = ''] = await ask(doors)

    const response = await decide(doors, id, { decision: 'approve', reason: 'Fine.' })
    const copy = response.clone()

    expect(response.status).toBe(200)
    expect(await copy.json()).toMatchObject({
      approval_id: id,
      status: 'approved',
      decided_by: 'operator',
      decided_at: expect.any(String),
      reason: 'Fine.',
    })
    expect((await continued(doors, response)).slice(0, 2)).toEqual(['RUN_STARTED', 'TOOL_CALL_RESULT send: bob'])
    expect(await (await doors.get(`/approvals/${id}`)).json()).toMatchObject({
      status: 'consumed',
      consumed_at: expect.any(String),
    })
    expect(doors.delivered).toEqual([['send', 'bob']])
  })

  test('tells the model why something was rejected', async () => {
    await using doors = await openGatedDoors(sending)
    const [id = ''] = await ask(doors)

    const seen = await continued(doors, await decide(doors, id, { decision: 'reject', reason: 'Bob has left.' }))

    expect(seen[1]).toContain('Reason: Bob has left.')
    expect(doors.delivered).toEqual([])
  })

  test('runs with the arguments that the answer gives', async () => {
    await using doors = await openGatedDoors(sending)
    const [id = ''] = await ask(doors)

    const response = await decide(doors, id, { decision: 'approve', arguments: { to: 'eve' } })
    await continued(doors, response)

    expect(await (await doors.get(`/approvals/${id}`)).json()).toMatchObject({
      arguments: { to: 'bob' },
      edited_arguments: { to: 'eve' },
      edited: true,
    })
    expect(doors.delivered).toEqual([['send', 'eve']])
  })

  test('refuses arguments that the tool does not take, and leaves it pending', async () => {
    await using doors = await openGatedDoors(sending)
    const [id = ''] = await ask(doors)

    const response = await decide(doors, id, { decision: 'approve', arguments: { to: 'eve', cc: 'mallory' } })

    expect(await response.json()).toMatchObject({
      status: 400,
      code: 'invalid_request',
      errors: [{ pointer: '/arguments', detail: expect.stringContaining('cc') }],
    })
    expect((await list(doors)).ids).toEqual([id])
  })

  test('tells a second decider who decided what and when', async () => {
    await using doors = await openGatedDoors(sending)
    const [id = ''] = await ask(doors)
    await continued(doors, await decide(doors, id, { decision: 'reject', reason: 'Not on a Friday.' }))
    const { decided_at } = ShownApprovalSchema.parse(await (await doors.get(`/approvals/${id}`)).json())

    const response = await decide(doors, id, { decision: 'approve' })

    expect(await response.json()).toMatchObject({
      status: 409,
      code: 'approval_decided',
      detail: `This was already rejected by operator at ${decided_at}.`,
      decided_by: 'operator',
      decided_at,
      reason: 'Not on a Friday.',
    })
    expect(doors.delivered).toEqual([])
  })

  test('is too late when its time is up', async () => {
    await using doors = await openGatedDoors(sending)
    const [id = ''] = await ask(doors)
    doors.wait(3_600_001)

    expect(await refusalOf(await decide(doors, id, { decision: 'approve' }))).toEqual({
      status: 410,
      code: 'approval_expired',
    })
    expect(doors.delivered).toEqual([])
  })

  test('is refused to those without standing, and leaves it pending', async () => {
    await using doors = await openGatedDoors({ answers: [calls(['fire', 'bob'])] })
    const [id = ''] = await ask(doors)

    const response = await decide(doors, id, { decision: 'approve' }, asLocalUser)

    expect(await response.json()).toMatchObject({
      status: 403,
      code: 'forbidden',
      detail: expect.stringMatching(
        /^Only an operator may answer this\. It is still pending\. An operator answers it in the console .*by: owner/,
      ),
      answerable_by: 'operator',
    })
    expect((await list(doors)).ids).toEqual([id])
    expect(await refusalOf(await decide(doors, id, { decision: 'approve' }, asAda))).toEqual({
      status: 404,
      code: 'approval_not_found',
    })
  })

  test.each([
    ['note', 'user'],
    ['send', 'user'],
    ['fire', 'operator'],
  ])('about %s is refused without a token, and says which to send', async (tool, role) => {
    await using doors = await openGatedDoors({ answers: [calls([tool, 'bob'])] })
    const [id = ''] = await ask(doors, 'thread', {})

    for (const decision of ['approve', 'reject']) {
      const response = await decide(doors, id, { decision }, {})
      expect(await response.json()).toMatchObject({
        status: 403,
        code: 'forbidden',
        detail: expect.stringMatching(
          new RegExp(
            `Send an? ${role}'s token in the header "Authorization: Bearer <token>"; in a page, .*\`quarterdeck tokens create --role ${role}\` prints one\\.$`,
          ),
        ),
      })
    }

    expect((await list(doors)).ids).toEqual([id])
    expect(doors.delivered).toEqual([])
  })

  test.each([[noting], [sending]])('is open to the owner where the approval says so', async (script) => {
    await using doors = await openGatedDoors(script)
    const [id = ''] = await ask(doors, 'hers', asAda)

    const response = await decide(doors, id, { decision: 'approve' }, asAda)

    expect(ApprovalSchema.parse(await response.json())).toMatchObject({ answerable_by: 'owner', decided_by: 'ada' })
  })

  test('is decided once, however many answer at the same time', async () => {
    await using doors = await openGatedDoors(sending)
    const [id = ''] = await ask(doors)

    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, i) => decide(doors, id, { decision: i % 2 === 0 ? 'approve' : 'reject' })),
    )

    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409, 409, 409, 409])
  })

  test.each([
    ['no object', [], ''],
    ['no decision', {}, '/decision'],
    ['another word', { decision: 'maybe' }, '/decision'],
    ['an unknown key', { decision: 'approve', loudly: true }, '/loudly'],
    ['a file for a call', { decision: 'approve', content: 'x' }, '/content'],
    ['force for a rejection', { decision: 'reject', force: true }, '/force'],
    ['arguments that are no object', { decision: 'approve', arguments: [] }, '/arguments'],
    ['a reason that is a book', { decision: 'reject', reason: 'x'.repeat(2_001) }, '/reason'],
    ['arguments for a rejected call', { decision: 'reject', arguments: {} }, '/arguments'],
    ['an answer without a result', { decision: 'respond' }, '/result'],
    ['a result without an answer', { decision: 'approve', result: 'x' }, '/result'],
    ['an answer to remember', { decision: 'respond', result: 'x', remember: 'session' }, '/remember'],
    ['an answer that is a library', { decision: 'respond', result: 'x'.repeat(50_001) }, '/result'],
    ['a grant that holds nowhere', { decision: 'approve', grant: { seconds: 60 } }, '/grant'],
    ['a grant for no time', { decision: 'approve', remember: 'session', grant: { seconds: 0 } }, '/grant/seconds'],
    [
      'a grant for an eternity',
      { decision: 'approve', remember: 'always', grant: { seconds: 1e12 } },
      '/grant/seconds',
    ],
    [
      'a condition that is none',
      { decision: 'approve', remember: 'session', grant: { where: { to: { like: 'x' } } } },
      '/grant/where/to',
    ],
  ])('refuses %s and says where', async (_what, body, pointer) => {
    await using doors = await openGatedDoors(sending)
    const [id = ''] = await ask(doors)

    const response = await decide(doors, id, body)
    const problem = (await response.json()) as { code: string; errors: { pointer: string }[] }

    expect([response.status, problem.code]).toEqual([400, 'invalid_request'])
    expect(problem.errors[0]?.pointer.startsWith(pointer)).toBe(true)
    expect((await list(doors)).ids).toEqual([id])
  })
})

describe('a yes that is remembered', () => {
  const twice = { answers: [calls(['send', 'bob']), calls(['send', 'bob']), says('Done.')] }
  const remember = (more: object = {}) => ({ decision: 'approve', remember: 'session', ...more })

  async function grants(doors: Doors, query = '') {
    const response = await doors.get(`/grants${query}`, asOperator)
    expect(response.status).toBe(200)
    const { grants: found } = (await response.json()) as { grants: unknown[] }
    return found.map((one) => GrantSchema.parse(one))
  }

  test('lets the same call run unasked, is listed, and is gone when it is revoked', async () => {
    const answers = [calls(['send', 'bob']), calls(['send', 'bob']), says('Done.'), calls(['send', 'bob'])]
    await using doors = await openGatedDoors({ answers })
    const [id = ''] = await ask(doors)
    const session = await doors.engine.sessions.get('local_user', 'thread')

    const seen = await continued(doors, await decide(doors, id, remember()))

    expect(seen.at(-1)).toBe('RUN_FINISHED success')
    expect(doors.delivered).toEqual([
      ['send', 'bob'],
      ['send', 'bob'],
    ])
    const [grant, ...more] = await grants(doors)
    expect(more).toEqual([])
    expect(grant).toMatchObject({
      agent: 'tester',
      tool: 'send',
      session_id: session.id,
      granted_by: 'operator',
      approval_id: id,
    })
    const minutes = (Date.parse(grant?.expires_at ?? '') - Date.parse(grant?.created_at ?? '')) / 60_000
    expect(minutes).toBe(15)

    expect((await doors.remove(`/grants/${grant?.grant_id}`, asOperator)).status).toBe(204)
    expect(await grants(doors)).toEqual([])
    expect(await ask(doors)).toHaveLength(1)
    expect(await refusalOf(await doors.remove(`/grants/${grant?.grant_id}`, asOperator))).toEqual({
      status: 404,
      code: 'grant_not_found',
    })
  })

  test('is shown as it was written', async () => {
    await using doors = await openGatedDoors({ answers: [calls(['send', 'bob@a.org']), says('Done.')] })
    const [id = ''] = await ask(doors)
    const where = { to: { not: { one_of: ['eve@a.org', 'mallory@a.org'] } } }

    await continued(doors, await decide(doors, id, remember({ remember: 'always', grant: { where, seconds: null } })))

    expect(await grants(doors)).toMatchObject([{ where, session_id: null, expires_at: null }])
    expect(await grants(doors, '?agent=nobody')).toEqual([])
    expect(await grants(doors, '?session_id=thread')).toHaveLength(1)
  })

  test('covers what its glob covers and nothing else', async () => {
    const answers = [calls(['send', 'bob@a.org']), calls(['send', 'ann@a.org']), calls(['send', 'ann@b.org'])]
    await using doors = await openGatedDoors({ answers })
    const [id = ''] = await ask(doors)

    const seen = await continued(doors, await decide(doors, id, remember({ grant: { where: { to: '*@a.org' } } })))

    expect(seen.at(-1)).toBe('RUN_FINISHED interrupt')
    expect(doors.delivered).toEqual([
      ['send', 'bob@a.org'],
      ['send', 'ann@a.org'],
    ])
  })

  test('must cover the call itself', async () => {
    await using doors = await openGatedDoors(twice)
    const [id = ''] = await ask(doors)

    const response = await decide(doors, id, remember({ grant: { where: { to: 'eve' } } }))

    expect(await response.json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining('does not fit `where`'),
    })
    expect(await grants(doors)).toEqual([])
    expect((await list(doors)).ids).toEqual([id])
  })

  test('for every session is an operator’s to give', async () => {
    await using doors = await openGatedDoors(noting)
    const [id = ''] = await ask(doors, 'hers', asAda)

    const response = await decide(doors, id, remember({ remember: 'always' }), asAda)

    expect(await refusalOf(response)).toEqual({ status: 400, code: 'invalid_request' })
    expect(await grants(doors)).toEqual([])
  })

  test.each([
    [{}, 401, 'unauthorized'],
    [asAda, 403, 'forbidden'],
  ])('is not listed or revoked without the operator’s token: %j', async (headers: Headers, status, code) => {
    await using doors = await openGatedDoors()

    expect(await refusalOf(await doors.get('/grants', headers))).toEqual({ status, code })
    expect(await refusalOf(await doors.remove(`/grants/${nobody}`, headers))).toEqual({ status, code })
  })
})
