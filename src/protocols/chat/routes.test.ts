import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createSystemClock } from '../../domain/clock.ts'
import { ulidOf } from '../../domain/ids.ts'
import { scripted, testAgent } from '../../engine/testing/open-engine.ts'
import { until } from '../../http/testing/server-fixture.ts'
import type { ModelRequest } from '../../models/model.ts'
import { createStaticToolbox } from '../../tools/create-toolbox.ts'
import { serverTool } from '../../tools/testing/server-tool.ts'
import { askingWork, operator, riskyWork } from '../shared/answer/testing/asking-gate.ts'
import { nextPath, openChat, refusalOf } from '../shared/chat-route/testing/open-chat.ts'
import { createGatedModel, stop, text } from '../testing/gated-model.ts'
import { asAda } from '../testing/open-doors.ts'
import { sessionMessage } from './encode.ts'
import { ChatResponseSchema, SessionInfoSchema, SessionSchema } from './schema.ts'

type Doors = Awaited<ReturnType<typeof openChat>>

const unknown = '0192f3a1-7b2c-7def-8abc-0123456789ab'

async function say(doors: Doors, body: Record<string, unknown>, headers?: Record<string, string>) {
  const response = await doors.post('/chat', body, headers)
  expect(response.status).toBe(200)
  return ChatResponseSchema.parse(await response.json())
}

async function list(doors: Doors, query = '', headers?: Record<string, string>) {
  const response = await doors.get(`/sessions${query}`, headers)
  expect(response.status).toBe(200)
  return { sessions: z.array(SessionInfoSchema).parse(await response.json()), next: nextPath(response) }
}

const adder = serverTool({
  name: 'add',
  description: 'Adds.',
  parameters: { type: 'object' },
  effect: 'read',
  timeoutMs: 1_000,
  call: async () => ({ content: '3', isError: false }),
})

describe('POST /chat with a session', () => {
  test('waits for the answer and names the session, the agent, the model and the tools', async () => {
    await using doors = await openChat({
      tools: [adder],
      answers: [
        { parts: [{ text: 'Let me see.' }, { tool_call: { name: 'add', arguments: { a: 1, b: 2 } } }] },
        { parts: [{ text: 'It is 3.' }] },
      ],
    })

    const answer = await say(doors, { message: 'What is 1 + 2?' })

    expect(answer).toEqual({
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      message: 'Let me see.\n\nIt is 3.',
      agent_name: 'tester',
      metadata: {
        response_time_ms: expect.any(Number),
        model: 'script',
        tool_calls: [{ name: 'add', arguments: { a: 1, b: 2 } }],
      },
    })
  })

  test('names the agent that the conversation was handed to', async () => {
    const definition = { ...testAgent, name: 'tutor', default: false, internal: true }
    const { call: _call, ...rules } = adder
    await using doors = await openChat({
      tools: [{ ...rules, location: 'agent', name: 'to_tutor', agent: 'tutor', handoff: true }],
      others: [{ definition, model: scripted([{ parts: [{ text: 'Four.' }] }]), toolbox: createStaticToolbox([]) }],
      answers: [{ parts: [{ tool_call: { name: 'to_tutor', arguments: {} } }] }],
    })

    const first = await say(doors, { message: 'What is 2 + 2?' })
    const second = await say(doors, { message: 'And again?', session_id: first.session_id })

    expect(first).toMatchObject({ message: 'Four.', agent_name: 'tutor' })
    expect(second).toMatchObject({ message: 'Four.', agent_name: 'tutor', metadata: { tool_calls: [] } })
    const shown = SessionSchema.parse(await (await doors.get(`/sessions/${first.session_id}?include=tools`)).json())
    expect(shown.messages.map(({ role, agent_name }) => [role, agent_name])).toEqual([
      ['user', null],
      ['assistant', 'tester'],
      ['tool', null],
      ['assistant', 'tutor'],
      ['user', null],
      ['assistant', 'tutor'],
    ])
  })

  test('reports that a person must decide, refuses new messages meanwhile, and continues afterwards', async () => {
    await using doors = await openChat(riskyWork)

    const response = await doors.post('/chat', { message: 'Send it.' })

    const [approval] = await doors.approvals.list({ by: operator, limit: 1 })
    expect(response.status).toBe(202)
    expect(await response.json()).toEqual({
      status: 'waiting',
      run_id: approval?.runId,
      approval_ids: [approval?.id],
    })
    const session_id = approval?.sessionId ?? ''
    const busy = { status: 409, code: 'approval_pending', pointers: [] }
    expect(await refusalOf(await doors.post('/chat', { message: 'Well?', session_id }))).toEqual(busy)
    await doors.approvals.decide(operator, approval?.id ?? '', { decision: 'reject' })
    await until(() => doors.engine.stats().activeRuns === 0)
    expect(await say(doors, { message: 'Well?', session_id })).toMatchObject({ session_id, message: 'Well.' })
  })

  test('reports that a tool asks a question, and continues with the answer', async () => {
    await using doors = await openChat(askingWork)

    const response = await doors.post('/chat', { message: 'A shirt.' })

    const [asked] = await doors.approvals.list({ by: operator, limit: 1 })
    expect([asked?.kind, response.status]).toEqual(['question', 202])
    expect(await response.json()).toEqual({ status: 'waiting', run_id: asked?.runId, approval_ids: [asked?.id] })
    await doors.approvals.decide(operator, asked?.id ?? '', { decision: 'respond', result: 'L' })
    await until(() => doors.engine.stats().activeRuns === 0)
    const session_id = asked?.sessionId ?? ''
    expect(await say(doors, { message: 'Well?', session_id })).toMatchObject({ session_id, message: 'Well.' })
  })

  test('does not offer tools that would run at the client', async () => {
    const requests: ModelRequest[] = []
    const { call: _call, ...rules } = adder
    await using doors = await openChat({
      tools: [adder, { ...rules, location: 'client', name: 'pick' }],
      onRequest: (request) => requests.push(request),
    })

    await say(doors, { message: 'Hi' })

    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(['add'])
  })

  test('continues a session by either spelling of its id, and one that another protocol began', async () => {
    const model = createGatedModel()
    await using doors = await openChat({ model })
    model.say(text('One'), stop)
    const { session_id } = await say(doors, { message: 'First' })

    model.say(text('Two'), stop)
    await say(doors, { message: 'Second', session_id })
    model.say(text('Three'), stop)
    await say(doors, { message: 'Third', session_id: ulidOf(session_id) })
    model.say(text('Four'), stop)
    await (
      await doors.post('/', { threadId: 'mine', runId: 'r', messages: [{ id: 'm', role: 'user', content: 'Hi' }] })
    ).text()
    model.say(text('Five'), stop)

    expect((await say(doors, { message: 'And?', session_id: 'mine' })).session_id).toBe('mine')
    const asked = model.requests.map(({ messages }) => messages.map(({ content }) => content))
    expect(asked).toEqual([
      ['First'],
      ['First', 'One', 'Second'],
      ['First', 'One', 'Second', 'Two', 'Third'],
      ['Hi'],
      ['Hi', 'Four', 'And?'],
    ])
  })

  test.each([
    ['no message', { user_id: 'kim' }, ['/message']],
    ['a blank message', { message: ' \n\t', user_id: 'kim' }, ['/message']],
    ['a message that is no text', { message: 7 }, ['/message']],
    ['a message of 10,001 characters', { message: 'x'.repeat(10_001) }, ['/message']],
    ['a message of 10,001 emoji', { message: '😀'.repeat(10_001) }, ['/message']],
    ['a session_id that is no text', { message: 'Hi', session_id: 7 }, ['/session_id']],
    ['a user_id with a dash', { message: 'Hi', user_id: 'a-b' }, ['/user_id']],
    ['a user_id of 65 characters', { message: 'Hi', user_id: 'a'.repeat(65) }, ['/user_id']],
    ['an unknown key', { message: 'Hi', mood: 'good' }, ['/mood']],
    ['a list', [], ['']],
    ['null', null, ['']],
  ])('refuses %s as 422 and says where', async (_what, body, pointers) => {
    await using doors = await openChat()

    expect(await refusalOf(await doors.post('/chat', body))).toEqual({ status: 422, code: 'invalid_request', pointers })
    expect(doors.engine.stats().runsStarted).toBe(0)
  })

  test('takes 10,000 characters, counted as people count, and null for what is left out', async () => {
    await using doors = await openChat()

    await say(doors, { message: '😀'.repeat(10_000), session_id: null, user_id: null })
    await say(doors, { message: 'x'.repeat(10_000), user_id: 'a'.repeat(64) })
  })

  test('calls JSON that cannot be parsed 400', async () => {
    await using doors = await openChat()

    expect(await refusalOf(await doors.post('/chat', '{"message":'))).toMatchObject({
      status: 400,
      code: 'malformed_json',
    })
  })

  test("knows no session that is not there, and nobody else's", async () => {
    await using doors = await openChat()
    const { session_id } = await say(doors, { message: 'Hi' }, asAda)
    const refused = async (id: string) => refusalOf(await doors.post('/chat', { message: 'Hi', session_id: id }))

    expect(await refused(unknown)).toEqual({ status: 404, code: 'session_not_found', pointers: [] })
    expect(await refused(session_id)).toEqual({ status: 404, code: 'session_not_found', pointers: [] })
    expect(await refused('nobody knows')).toEqual({ status: 422, code: 'malformed_id', pointers: [] })
    expect(await refused('')).toEqual({ status: 422, code: 'malformed_id', pointers: [] })
    expect(doors.engine.stats().runsStarted).toBe(1)
  })

  test.each([
    ['model_unreachable', 503],
    ['model_rate_limited', 503],
    ['model_timeout', 503],
    ['model_failed', 503],
    ['model_auth_failed', 500],
    ['model_refused', 500],
    ['model_context_overflow', 500],
  ] as const)('answers %s with %i', async (code, status) => {
    await using doors = await openChat({
      answers: [{ parts: [{ text: 'Hm' }, { error: { code, message: 'No luck.' } }] }],
    })

    const response = await doors.post('/chat', { message: 'Hi' })

    expect(response.status).toBe(status)
    const problem = z.looseObject({ session_id: z.string(), run_id: z.string() }).parse(await response.json())
    expect(problem).toMatchObject({ status, code, detail: 'No luck.' })
    // What was said is kept: the client can go on with it.
    const session = SessionSchema.parse(await (await doors.get(`/sessions/${problem.session_id}`)).json())
    expect(session.messages[0]).toMatchObject({ role: 'user', content: 'Hi' })
  })

  test('says that the run was stopped', async () => {
    const model = createGatedModel()
    await using doors = await openChat({ model })
    const waiting = doors.post('/chat', { message: 'Hi' })
    await until(() => model.requests.length === 1)
    const [session] = await doors.engine.sessions.list({ owner: 'local_user', limit: 1 })
    const [run] = await doors.engine.runs.open(session?.id ?? '')
    if (run === undefined) throw new Error('no run')

    await doors.engine.runs.cancel(run, 'test')

    expect(await refusalOf(await waiting)).toMatchObject({ status: 409, code: 'cancelled' })
  })

  test('says that the server stops', async () => {
    const model = createGatedModel()
    await using doors = await openChat({ model })
    const waiting = doors.post('/chat', { message: 'Hi' })
    await until(() => model.requests.length === 1)

    await doors.engine.drain(0)

    expect(await refusalOf(await waiting)).toMatchObject({ status: 503, code: 'interrupted' })
  })
})

describe('user_id', () => {
  test('labels and filters the sessions of callers without a token', async () => {
    await using doors = await openChat()
    const mine = await say(doors, { message: 'Hi' })
    const kims = await say(doors, { message: 'Hi', user_id: 'kim' })
    const again = await say(doors, { message: 'Hi', user_id: 'local_user' })
    // Not an identity: whoever knows the id goes on with it, and it stays kim's.
    await say(doors, { message: 'Hi', session_id: kims.session_id, user_id: 'lee' })
    const ids = async (query: string) => (await list(doors, query)).sessions.map((one) => [one.session_id, one.user_id])

    expect(await ids('?user_id=kim')).toEqual([[kims.session_id, 'kim']])
    expect(await ids('?user_id=lee')).toEqual([])
    const locals = [
      [again.session_id, 'local_user'],
      [mine.session_id, 'local_user'],
    ]
    expect(await ids('')).toEqual(locals)
    expect(await ids('?user_id=local_user')).toEqual(locals)
  })

  test("must be the token's own user where there is a token", async () => {
    await using doors = await openChat()
    const { session_id } = await say(doors, { message: 'Hi', user_id: 'ada' }, asAda)

    expect((await list(doors, '', asAda)).sessions.map((one) => [one.session_id, one.user_id])).toEqual([
      [session_id, 'ada'],
    ])
    expect((await list(doors, '?user_id=ada', asAda)).sessions.length).toBe(1)
    // Without a token it is a label, and ada's sessions are not theirs.
    expect((await list(doors, '?user_id=ada')).sessions).toEqual([])
    const refused = [
      await doors.post('/chat', { message: 'Hi', user_id: 'kim' }, asAda),
      await doors.post('/chat', { message: 'Hi', user_id: 'local_user' }, asAda),
      await doors.get('/sessions?user_id=kim', asAda),
    ]
    for (const response of refused) {
      expect(await refusalOf(response)).toMatchObject({ status: 403, code: 'forbidden' })
    }
    expect(doors.engine.stats().runsStarted).toBe(1)
  })
})

describe('GET /sessions', () => {
  test('gives pages, newest activity first, by the last id or by the Link', async () => {
    await using doors = await openChat()
    const ids: string[] = []
    for (let i = 0; i < 12; i += 1) ids.unshift((await say(doors, { message: 'Hi' })).session_id)

    const first = await list(doors)
    expect(first.sessions.map((one) => one.session_id)).toEqual(ids.slice(0, 10))
    expect(first.sessions[0]).toMatchObject({ user_id: 'local_user', message_count: 2 })
    const byId = await list(doors, `?before=${ids[9]}`)
    expect(byId.sessions.map((one) => one.session_id)).toEqual(ids.slice(10))
    const byLink = await list(doors, (first.next ?? '').replace('/sessions', ''))
    expect([byLink.sessions, byLink.next]).toEqual([byId.sessions, null])
    const small = await list(doors, `?limit=5&before=${ulidOf(ids[1] ?? '')}`)
    expect(small.sessions.map((one) => one.session_id)).toEqual(ids.slice(2, 7))
    // The place of a page holds when its last session is deleted.
    await doors.remove(`/sessions/${ids[9]}`)
    expect((await list(doors, (first.next ?? '').replace('/sessions', ''))).sessions).toEqual(byId.sessions)
  })

  test('comes in other orders, counted, and with what each session cost', async () => {
    const model = scripted([10, 30, 20].map((n) => ({ parts: [{ text: 'Hi' }, { usage: { input: n, output: n } }] })))
    await using doors = await openChat({ model })
    const [a, b, c] = [
      (await say(doors, { message: 'A' })).session_id,
      (await say(doors, { message: 'B' })).session_id,
      (await say(doors, { message: 'C' })).session_id,
    ]
    const ids = async (query: string) => (await list(doors, query)).sessions.map((one) => one.session_id)

    expect(await ids('?sort=oldest')).toEqual([a, b, c])
    expect(await ids('?sort=tokens')).toEqual([b, c, a])
    const first = await list(doors, '?sort=tokens&limit=2')
    expect(await ids((first.next ?? '').replace('/sessions', ''))).toEqual([a])
    const counted = await doors.get('/sessions?sort=tokens&count=true&limit=1')
    expect(counted.headers.get('x-total-count')).toBe('3')
    expect(((await counted.json()) as unknown[])[0]).toMatchObject({ tokens: 60, cost: 0.00009 })
    expect((await doors.get('/sessions')).headers.get('x-total-count')).toBe(null)
    expect((await doors.get('/sessions?sort=price')).status).toBe(422)
    expect((await doors.get(`/sessions?sort=tokens&before=${a}`)).status).toBe(422)
  })

  test('says of a session whose last run failed that it did, until the next one', async () => {
    const error = { code: 'model_failed', message: 'The model\nhas gone.' } as const
    const model = scripted([{ parts: [{ error }] }, { parts: [{ text: 'Hi' }] }])
    await using doors = await openChat({ model })
    await doors.post('/chat', { message: 'Hi' })
    const failed = (await list(doors, '?state=failed')).sessions

    expect(failed).toMatchObject([{ status: 'failed', failure: 'The model has gone.' }])
    expect((await list(doors, '?status=open')).sessions).toEqual([])
    await say(doors, { message: 'Again', session_id: failed[0]?.session_id ?? '' })
    expect((await list(doors, '?status=failed')).sessions).toEqual([])
    expect((await list(doors)).sessions[0]).not.toHaveProperty('failure')
  })

  test('says what each session is about and does, and is narrowed by it', async () => {
    await using doors = await openChat()
    const { session_id } = await say(doors, { message: '  What is\n new?' })
    const [row] = (await list(doors)).sessions
    const count = async (query: string) => (await list(doors, `?${query}`)).sessions.length

    expect(row).toEqual({
      session_id,
      user_id: 'local_user',
      owner: 'local_user',
      agent: 'tester',
      title: 'What is new?',
      kind: 'chat',
      status: 'open',
      created_at: expect.any(String),
      last_activity: expect.any(String),
      updated_at: expect.any(String),
      message_count: 2,
      pending: 0,
      tokens: expect.any(Number),
    })
    expect(await count('status=open&kind=chat&agent=tester&since=2020-01-01&until=2999-01-01T00:00:00Z')).toBe(1)
    for (const query of ['status=running', 'status=waiting', 'kind=supervised', 'agent=x', 'since=2999-01-01']) {
      expect(await count(query)).toBe(0)
    }
  })

  test.each([
    'limit=0',
    'limit=101',
    'limit=',
    'limit=1.5',
    'limit=ten',
    'user_id=a-b',
    `before=${unknown}`,
    'before=x',
    'status=busy',
    'kind=agent',
    'since=today',
    'until=2026-13-01',
    'agent=',
  ])('refuses ?%s as 422', async (query) => {
    await using doors = await openChat()

    expect(await refusalOf(await doors.get(`/sessions?${query}`))).toEqual({
      status: 422,
      code: 'invalid_request',
      pointers: [query.split('=')[0]],
    })
  })
})

describe('GET /sessions/{id}', () => {
  test('shows what was said, by whom and when', async () => {
    await using doors = await openChat({
      tools: [adder],
      answers: [
        { parts: [{ reasoning: 'Hm.' }, { tool_call: { name: 'add', arguments: {} } }] },
        { parts: [{ text: 'It is 3.' }] },
      ],
    })
    const { session_id } = await say(doors, { message: 'What is 1 + 2?', user_id: 'kim' })

    const response = await doors.get(`/sessions/${ulidOf(session_id)}`)
    const session = SessionSchema.parse(await response.json())

    expect(session).toMatchObject({ session_id, user_id: 'kim', message_count: 4 })
    expect(session.messages.map(({ role, content, agent_name }) => [role, content, agent_name])).toEqual([
      ['user', 'What is 1 + 2?', null],
      ['assistant', 'It is 3.', 'tester'],
    ])
    expect(nextPath(response)).toBe(null)
  })

  test('shows tools on request', async () => {
    await using doors = await openChat({
      tools: [adder],
      answers: [{ parts: [{ tool_call: { name: 'add', arguments: {} } }] }, { parts: [{ text: 'It is 3.' }] }],
    })
    const { session_id } = await say(doors, { message: 'What is 1 + 2?' })

    const all: string[][] = []
    for (let path: string | null = `/sessions/${session_id}?include=tools&limit=3`; path !== null; ) {
      const response = await doors.get(path)
      const { messages } = SessionSchema.parse(await response.json())
      all.unshift(...messages.map(({ role, content }) => [role, content]))
      path = nextPath(response)
    }

    expect(all).toEqual([
      ['user', 'What is 1 + 2?'],
      ['assistant', ''],
      ['tool', '3'],
      ['assistant', 'It is 3.'],
    ])
    expect(await refusalOf(await doors.get(`/sessions/${session_id}?include=all`))).toEqual({
      status: 422,
      code: 'invalid_request',
      pointers: ['include'],
    })
  })

  test('names the files of a message that has no words', async () => {
    const source = { type: 'file', value: 'f', mimeType: 'image/png' } as const
    const metadata = { filename: 'sea.png' }
    expect(
      sessionMessage({
        id: 'm',
        role: 'user',
        runId: 'r',
        createdAt: 0,
        content: [{ type: 'image', source, metadata }],
      }).content,
    ).toBe('[sea.png]')
  })

  test('gives the newest messages first, and the older ones behind the Link', async () => {
    await using doors = await openChat({ answers: [{ parts: [{ reasoning: 'Hm.' }, { text: 'Hello.' }] }] })
    const { session_id } = await say(doors, { message: 'First' })
    await say(doors, { message: 'Second', session_id })

    const pages: string[][] = []
    for (let path: string | null = `/sessions/${session_id}?limit=3`; path !== null; ) {
      const response: Response = await doors.get(path)
      pages.push(SessionSchema.parse(await response.json()).messages.map(({ content }) => content))
      path = nextPath(response)
    }

    expect(pages).toEqual([['Hello.', 'Second', 'Hello.'], ['First']])
  })

  test('refuses what it does not know', async () => {
    await using doors = await openChat()
    const { session_id } = await say(doors, { message: 'Hi' })
    const refused = async (path: string, headers?: Record<string, string>) => refusalOf(await doors.get(path, headers))

    expect(await refused(`/sessions/${unknown}`)).toMatchObject({ status: 404, code: 'session_not_found' })
    expect(await refused(`/sessions/${session_id}`, asAda)).toMatchObject({ status: 404, code: 'session_not_found' })
    expect(await refused('/sessions/nobody')).toMatchObject({ status: 422, code: 'malformed_id' })
    expect(await refused(`/sessions/${session_id}?limit=1001`)).toMatchObject({ status: 422, pointers: ['limit'] })
    expect(await refused(`/sessions/${session_id}?before=x`)).toMatchObject({ status: 422, pointers: ['before'] })
  })
})

test('where idle sessions close, an expired one is 404 and stays it', async () => {
  const system = createSystemClock()
  let later = 0
  const clock = { ...system, now: () => system.now() + later }
  const sessions = { ...testAgent.sessions, onExpiry: 'close' as const, ttlSeconds: 3_600 }
  await using doors = await openChat({ clock, agent: { sessions } })
  const { session_id } = await say(doors, { message: 'Hi' })
  later = 3_000_000
  await say(doors, { message: 'Still there?', session_id })
  later += 3_601_000

  for (const _twice of [1, 2]) {
    expect(await refusalOf(await doors.post('/chat', { message: 'Hi', session_id }))).toMatchObject({
      status: 404,
      code: 'session_expired',
    })
    expect(await refusalOf(await doors.get(`/sessions/${session_id}`))).toMatchObject({
      status: 404,
      code: 'session_expired',
    })
  }
  expect(doors.engine.stats().runsStarted).toBe(2)
})

test('looking at a session keeps it from closing, and changes neither its last activity nor its place in the list', async () => {
  const system = createSystemClock()
  let later = 0
  const clock = { ...system, now: () => system.now() + later }
  const sessions = { ...testAgent.sessions, onExpiry: 'close' as const, ttlSeconds: 3_600 }
  await using doors = await openChat({ clock, agent: { sessions } })
  const { session_id: older } = await say(doors, { message: 'First' })
  later = 1_000
  const { session_id: newer } = await say(doors, { message: 'Second' })
  const listed = async () =>
    (await (await doors.get('/sessions')).json()) as { session_id: string; last_activity: string }[]
  const before = await listed()

  for (const minutes of [50, 100]) {
    later = minutes * 60_000
    expect((await doors.get(`/sessions/${older}`)).status).toBe(200)
    // Nobody waits for the write.
    await expect
      .poll(async () => Number((await doors.store.sessions.get(older))?.lastRead) > clock.now() - 60_000)
      .toBe(true)
  }

  expect(await listed()).toEqual(before)
  expect(before.map(({ session_id }) => session_id)).toEqual([newer, older])
  expect((await doors.get(`/sessions/${newer}`)).status).toBe(404)
})

test('a session that is busy beyond its time to live does not close', async () => {
  const system = createSystemClock()
  let later = 0
  const clock = { ...system, now: () => system.now() + later }
  const model = createGatedModel()
  const sessions = { ...testAgent.sessions, onExpiry: 'close' as const, ttlSeconds: 60 }
  await using doors = await openChat({ clock, model, agent: { sessions } })
  const waiting = doors.post('/chat', { message: 'Hi' })
  await until(() => model.requests.length === 1)
  const [session] = await doors.engine.sessions.list({ owner: 'local_user', limit: 1 })
  later = 61_000

  const busy = await doors.post('/chat', { message: 'And?', session_id: session?.id }, { 'X-On-Busy': 'reject' })

  expect(await refusalOf(busy)).toMatchObject({ status: 409, code: 'run_in_progress' })
  model.say(text('Hello.'), stop)
  expect((await waiting).status).toBe(200)
})
