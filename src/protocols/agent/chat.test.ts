import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { parseUuid, ulidOf } from '../../domain/ids.ts'
import { type TestEngineOptions, testAgent } from '../../engine/testing/open-engine.ts'
import { until } from '../../http/testing/server-fixture.ts'
import { serverTool } from '../../tools/testing/server-tool.ts'
import { openRoutes } from '../shared/answer/testing/open-routes.ts'
import { createGatedModel } from '../testing/gated-model.ts'
import { asAda, refusalOf } from '../testing/open-doors.ts'
import { createAgentRoutes } from './routes.ts'
import { ChatResponseSchema } from './schema.ts'

const open = (options?: TestEngineOptions) => openRoutes(createAgentRoutes, options)
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/
const chat = '/agent/tester/chat'

const weather = serverTool({
  name: 'weather',
  description: 'Knows one city.',
  parameters: { type: 'object' },
  effect: 'read',
  timeoutMs: 1_000,
  call: async ({ arguments: { city } }) =>
    city === 'Berlin' ? { content: 'sunny', isError: false } : { content: 'Unknown city.', isError: true },
})

async function answerOf(response: Response) {
  expect(response.status).toBe(200)
  return ChatResponseSchema.parse(await response.json())
}

describe('POST /agent/{name}/chat', () => {
  test('answers with all that the agent said and did', async () => {
    await using doors = await open({
      tools: [weather],
      answers: [
        {
          parts: [
            { text: 'Let me look.' },
            { tool_call: { name: 'weather', arguments: { city: 'Berlin' } } },
            { tool_call: { name: 'weather', arguments: { city: 'Oz' } } },
            { usage: { input: 10, output: 5 } },
          ],
        },
        { parts: [{ text: 'Sunny in Berlin.' }, { usage: { input: 20, output: 7 } }] },
      ],
    })

    const answer = await answerOf(await doors.post(chat, { message: 'Weather?' }))

    expect(answer).toEqual({
      message_id: expect.stringMatching(ULID),
      content: 'Let me look.\n\nSunny in Berlin.',
      session_id: expect.stringMatching(ULID),
      tool_calls: [
        { name: 'weather', arguments: { city: 'Berlin' }, status: 'success' },
        { name: 'weather', arguments: { city: 'Oz' }, status: 'error' },
      ],
      tokens_used: { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 },
      execution_time_ms: expect.any(Number),
    })
    expect(await doors.engine.runs.get('local_user', answer.message_id)).toMatchObject({
      status: 'completed',
      sessionId: parseUuid(answer.session_id),
    })
  })

  test('an empty answer is an answer', async () => {
    await using doors = await open({ answers: [{ parts: [] }] })

    expect(await answerOf(await doors.post(chat, { message: 'Hush.' }))).toMatchObject({
      content: '',
      message_id: expect.stringMatching(ULID),
      tool_calls: [],
      tokens_used: null,
    })
  })

  test('continues a session by either spelling of its id, or by the name from another protocol', async () => {
    await using doors = await open()
    const { session } = await doors.start('from elsewhere')
    const uuid = session.id

    const byUlid = await answerOf(await doors.post(chat, { message: 'a', session_id: ulidOf(uuid) }))
    const byUuid = await answerOf(await doors.post(chat, { message: 'b', session_id: uuid }))
    const byName = await answerOf(await doors.post(chat, { message: 'c', session_id: 'thread' }))

    expect([byUlid, byUuid, byName].map(({ session_id }) => session_id)).toEqual([ulidOf(uuid), ulidOf(uuid), 'thread'])
    const messages = await doors.engine.messages.page(uuid, 100)
    expect(messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual([
      'from elsewhere',
      'a',
      'b',
      'c',
    ])
  })

  test("begins a new session for an id that nobody knows, and for somebody else's", async () => {
    await using doors = await open()
    const ada = await answerOf(await doors.post(chat, { message: 'mine' }, asAda))

    for (const asked of ['01J9ZQ3V6K8R2T4Y7B5N0M1C3D', '0192f3a1-7b2c-7def-8abc-0123456789ab', ada.session_id]) {
      const { session_id } = await answerOf(await doors.post(chat, { message: 'hello', session_id: asked }))

      expect(session_id).toMatch(ULID)
      expect(parseUuid(session_id)).not.toBe(parseUuid(asked))
    }
  })

  test('begins a new session when the old one has expired and sessions close', async () => {
    let later = 0
    const clock = { ...createSystemClock(), now: () => Date.now() + later }
    const sessions = { ...testAgent.sessions, onExpiry: 'close' as const, ttlSeconds: 3_600 }
    await using doors = await open({ clock, agent: { sessions } })
    const first = await answerOf(await doors.post(chat, { message: 'a' }))
    const again = () => doors.post(chat, { message: 'b', session_id: first.session_id })

    later += 3_000_000
    expect(await answerOf(await again())).toMatchObject({ session_id: first.session_id })
    later += 3_601_000
    expect((await answerOf(await again())).session_id).not.toBe(first.session_id)
    expect((await answerOf(await again())).session_id).not.toBe(first.session_id)
  })

  test.each([
    ['no message', {}, '/message'],
    ['a blank message', { message: ' \n\t' }, '/message'],
    ['a message that is no text', { message: 7 }, '/message'],
    ['a message that is too long', { message: 'x'.repeat(10_001) }, '/message'],
    ['too many characters outside the BMP', { message: '😀'.repeat(10_001) }, '/message'],
    ['an unknown key', { message: 'a', user_id: 'b' }, '/user_id'],
    ['a session id that is no text', { message: 'a', session_id: 7 }, '/session_id'],
    ['files that are no list', { message: 'a', files: {} }, '/files'],
    ['a file without a type', { message: 'a', files: [{ content: '' }] }, '/files/0/mime_type'],
    ['no object', ['a'], ''],
  ])('refuses %s and starts nothing', async (_what, body, pointer) => {
    await using doors = await open()

    const response = await doors.post(chat, body)

    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'invalid_request', errors: [{ pointer }] })
    expect(doors.engine.stats().runsStarted).toBe(0)
  })

  test.each(['', 'no-such-name', 'a\nb', '01J9ZQ3V6K8R2T4Y7B5N0M1C3', 'x'.repeat(129)])(
    'refuses the session id %j',
    async (session_id) => {
      await using doors = await open()

      expect(await refusalOf(await doors.post(chat, { message: 'a', session_id }))).toEqual({
        status: 400,
        code: 'malformed_id',
      })
    },
  )

  test('takes exactly 10,000 characters, however many bytes they have', async () => {
    await using doors = await open()

    expect((await doors.post(chat, { message: 'x'.repeat(10_000) })).status).toBe(200)
    expect((await doors.post(chat, { message: '😀'.repeat(10_000), session_id: null, files: [] })).status).toBe(200)
  })

  test('knows no agent of another name', async () => {
    await using doors = await open()

    expect(await refusalOf(await doors.post('/agent/nobody/chat', { message: 'a' }))).toEqual({
      status: 404,
      code: 'agent_not_found',
    })
  })

  test.each(['model_failed', 'model_unreachable', 'model_rate_limited', 'model_auth_failed'] as const)(
    'is 502 when the model fails with %s, and says in which session',
    async (code) => {
      await using doors = await open({ answers: [{ parts: [{ error: { code, message: 'Why.' } }] }] })

      const response = await doors.post(chat, { message: 'a' })

      expect(response.status).toBe(502)
      expect(response.headers.get('content-type')).toBe('application/problem+json')
      expect(await response.json()).toMatchObject({
        code,
        status: 502,
        detail: 'Why.',
        instance: chat,
        session_id: expect.stringMatching(ULID),
      })
    },
  )

  test('says when the run was stopped', async () => {
    const model = createGatedModel()
    await using doors = await open({ model })
    const waiting = doors.post(chat, { message: 'a' })
    await until(() => model.requests.length === 1)

    const [session] = await doors.engine.sessions.list({ owner: 'local_user', limit: 1 })
    for (const run of await doors.engine.runs.open(session?.id ?? '')) await doors.engine.runs.cancel(run, 'test')

    expect(await refusalOf(await waiting)).toEqual({ status: 409, code: 'cancelled' })
  })

  test('says when the run took too long', async () => {
    const limits = { ...testAgent.limits, durationMs: 10 }
    await using doors = await open({ model: createGatedModel(), agent: { limits } })

    expect(await refusalOf(await doors.post(chat, { message: 'a' }))).toEqual({ status: 422, code: 'budget_exceeded' })
  })

  test('says that the server stops before the answer is complete', async () => {
    const model = createGatedModel()
    await using doors = await open({ model })
    const waiting = doors.post(chat, { message: 'a' })
    await until(() => model.requests.length === 1)

    await doors.engine.drain(0)

    expect(await refusalOf(await waiting)).toEqual({ status: 503, code: 'interrupted' })
  })
})
